import type { Address } from '../../address.ts';
import type { ChunkStore } from '../../chunks/store.ts';
import type { Resolver } from '../../content/resolver.ts';
import type { Library } from '../../library/library.ts';
import type { Stats } from '../../stats/stats.ts';
import type { GatewayPeers } from '../create-gateway.ts';
import type { Deployment } from '../deployment.ts';
import type { ChosenAppearance } from '../state/appearance.ts';
import type { Configuration, EffectiveConfig } from '../state/configuration.ts';
import type { ManifestStore } from '../state/manifest-store.ts';
import type { PointerStore } from '../state/pointer-store.ts';
import type { SiteOrigins } from '../state/site-origins.ts';
import type { Trust } from '../state/trust.ts';
import type { TrustTokens } from '../state/trust-tokens.ts';
import type { StatsBroadcast } from './broadcast.ts';

/** What the endpoints work on. */
export interface ApiContext {
  deployment: Deployment;
  /** What the user chose for the looks of pages. */
  appearance: ChosenAppearance;
  /** Of the open questions whether a site may run scripts. */
  tokens: TrustTokens;
  effective: EffectiveConfig;
  configuration: Configuration;
  store: ChunkStore;
  peers: GatewayPeers;
  resolver: Resolver;
  stats: Stats;
  broadcast: StatsBroadcast;
  library: Library;
  trust: Trust;
  manifests: ManifestStore;
  pointers: PointerStore;
  /** On the gateway's own origin: the origins of sites. */
  origins: SiteOrigins;
  /** Gives this origin's chunk store what the origins of sites leave of the user's limit. */
  limitStore(): Promise<void>;
  /** Ends what open pages do with the trust that an address had, or with that of all addresses. Does not wait for it. */
  endTrust(address?: Address): void;
  /** Asks the browser to wake the worker when there is a network, where it does that. */
  wakeLater(): void;
  /** Keeps the worker alive until the promise is done. */
  waitUntil(work: Promise<unknown>): void;
}

/** The methods of one endpoint. The gateway sends their result as JSON, or as it is if it is a `Response`. */
export type Endpoint = Partial<Record<string, (url: URL, request: Request, context: ApiContext) => unknown>>;
