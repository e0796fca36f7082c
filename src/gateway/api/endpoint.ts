import type { Address } from '../../address.ts';
import type { ChunkStore } from '../../chunks/store.ts';
import type { Resolver } from '../../content/resolver.ts';
import type { Library } from '../../library/library.ts';
import type { Stats } from '../../stats/stats.ts';
import type { GatewayPeers } from '../create-gateway.ts';
import type { Deployment } from '../deployment.ts';
import type { OwnOrigins } from '../origins/own-origins.ts';
import type { RecordHandover } from '../origins/record-handover.ts';
import type { ActivityStore } from '../state/activity-store.ts';
import type { ChosenAppearance } from '../state/appearance.ts';
import type { Configuration, EffectiveConfig } from '../state/configuration.ts';
import type { FrameJournal } from '../state/frame-journal.ts';
import type { ManifestStore } from '../state/manifest-store.ts';
import type { PointerStore } from '../state/pointer-store.ts';
import type { RecentFiles } from '../state/recent-files.ts';
import type { SiteOrigins } from '../state/site-origins.ts';
import type { Trust } from '../state/trust.ts';
import type { TrustTokens } from '../state/trust-tokens.ts';
import type { StatsBroadcast } from './broadcast.ts';

export interface ApiContext {
  deployment: Deployment;
  appearance: ChosenAppearance;
  tokens: TrustTokens;
  effective: EffectiveConfig;
  configuration: Configuration;
  store: ChunkStore;
  peers: GatewayPeers;
  resolver: Resolver;
  /** Sends no requests to peers. */
  local: Resolver;
  stats: Stats;
  activity: ActivityStore;
  broadcast: StatsBroadcast;
  library: Library;
  trust: Trust;
  manifests: ManifestStore;
  pointers: PointerStore;
  frames: FrameJournal;
  recentFiles: RecentFiles;
  /** Used on the gateway's own origin. */
  origins: SiteOrigins;
  /** Undefined if no site has an own origin here. */
  ownOrigins: OwnOrigins | undefined;
  recordHandover: RecordHandover;
  /** Limits this origin's chunk store to the user's limit minus the bytes that the origins of sites store. */
  limitStore(): Promise<void>;
  /** Revokes the rights of open pages that rely on the trust in an address, or in all addresses. Does not wait. */
  endTrust(address?: Address): void;
  /** Asks the browser to wake the worker when there is a network. Has no effect in browsers without this feature. */
  requestSync(): void;
  /** Whether a page still exists. @param clientId from `RequestContext.clientIds`. */
  isOpen(clientId: string): Promise<boolean>;
  /** Keeps the worker alive until the promise settles. */
  waitUntil(work: Promise<unknown>): void;
}

/** The methods of one endpoint. The gateway sends a `Response` as it is, and any other result as JSON. */
export type Endpoint = Partial<Record<string, (url: URL, request: Request, context: ApiContext) => unknown>>;
