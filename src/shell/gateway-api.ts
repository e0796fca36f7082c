import type { StoreSummary } from '../chunks/store.ts';
import type { ConfigSources, Isolation, Settings, TransportChoice } from '../config.ts';
import { AntwayError } from '../errors.ts';
import { channelName } from '../gateway/api/broadcast.ts';
import type { SiteGrant } from '../gateway/api/site-exchange.ts';
import type { StoredManifest } from '../gateway/state/manifest-store.ts';
import type { SiteOrigin, SiteReport } from '../gateway/state/site-origins.ts';
import type { DecidedSite, Decision } from '../gateway/state/trust.ts';
import type { Language } from '../languages.ts';
import type { Site } from '../library/library.ts';
import type { PinState } from '../library/pin-state.ts';
import type { PeerState } from '../peers/peer.ts';
import type { Probe } from '../peers/probe.ts';
import type { StatsSnapshot } from '../stats/stats.ts';
import type { Theme } from '../themes.ts';
import { texts } from './texts/texts.ts';

/** The part of `GET /-/config` that the shell shows. */
export interface GatewayConfig {
  /** Origins, as configured. */
  peers: string[];
  usePeersOfPeers: boolean;
  transport: TransportChoice;
  /** Addresses, 64 hex characters. */
  denied: string[];
  cache: { maxBytes: number; memoryBytes: number };
  /** Who says what each is: the host, or the user. */
  sources: ConfigSources;
  /** Name → address, 64 hex characters. */
  names: Record<string, string>;
  /** Sites that the host lets run scripts, 64 hex characters, where the user did not decide otherwise. */
  trusted: string[];
  /** How sites are kept apart. */
  isolation: Isolation;
  /** What is wrong with the host's configuration, while an earlier one stays in force. */
  problem: string | null;
}

/** `GET /-/cache`: the chunk store, and what the browser says of this origin's storage. Sizes in bytes. */
export interface CacheState extends StoreSummary {
  /** What the browser gives this site in all, and what it uses of that. Null where it does not tell. */
  quota: number | null;
  usage: number | null;
  /** Whether the browser promised not to clear it on its own. */
  persisted: boolean;
}

/** One configured peer of `GET /-/peers`. */
export interface PeerStatus {
  url: string;
  state: PeerState;
}

/** One site of `GET /-/sites`. */
export interface ListedSite extends Site {
  /** Whether it opens on an origin of its own, where its chunks and its pin are. */
  hasOwnOrigin: boolean;
  /** Whether the user chose to open it without scripts. */
  isWithoutScripts: boolean;
  /** Whether the browser promised not to clear the site's own origin; null where there is none, and if it is not known. */
  persisted: boolean | null;
}

/** What can be done with a pin, beside taking it away. */
export type PinAction = 'pin' | 'pause' | 'resume' | 'verify';

/** One pin of `GET /-/pins`. */
export type ListedPin = PinState & { address: string };

/** What the worker sends to pages on the channel `antway`. */
export type WorkerMessage =
  | { type: 'stats'; stats: StatsSnapshot }
  | { type: 'pins'; pins: ListedPin[] }
  /** A site was opened, or that was forgotten. */
  | { type: 'visits' };

/** Listens to what the worker sends. @returns what ends it. */
export function onWorkerMessage(listener: (message: WorkerMessage) => void): () => void {
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = ({ data }: MessageEvent<WorkerMessage>) => listener(data);
  return () => channel.close();
}

/** An answer of the gateway that is not the one that was asked for. */
export class GatewayApiError extends Error {
  override readonly name = 'GatewayApiError';

  constructor(
    /** The gateway's own error code, or one of the shell's, such as `NO_WORKER` when none controls this page. */
    readonly code: string,
    message: string,
    /** As of `Problem`: who throws one of the shell's texts says so. */
    { lead, isTranslated = false }: { lead?: string; isTranslated?: boolean } = {},
  ) {
    super(message);
    this.lead = lead;
    this.isTranslated = isTranslated;
  }

  readonly lead: string | undefined;
  readonly isTranslated: boolean;
}

/** Any thrown value as a `GatewayApiError`: one of our own keeps its code, a failed fetch is `UNANSWERED`. */
export function asGatewayApiError(error: unknown): GatewayApiError {
  if (error instanceof GatewayApiError) return error;
  if (error instanceof AntwayError) return new GatewayApiError(error.code, error.message);
  return new GatewayApiError('UNANSWERED', error instanceof Error ? error.message : String(error));
}

export const gateway = {
  /** The hash of the worker's build; null in development. */
  health: async (signal: AbortSignal) => (await ask('/-/health', { signal })) as { build: string | null },
  /** Every site with its title as it is read, at most 200 characters. */
  sites: async (signal: AbortSignal) =>
    (await gateway.storedSites(signal)).map((site) => ({
      ...site,
      title: site.title && decodeTitle(site.title),
    })),
  /** Every site with its title as its document writes it. */
  storedSites: async (signal: AbortSignal) =>
    ((await ask('/-/sites', { signal })) as { sites: ListedSite[] }).sites,
  /** Forgets a site, and frees what no pinned site needs of it. */
  deleteSite: async (address: string) => {
    await ask(`/-/sites?address=${address}`, { method: 'DELETE' });
  },
  /** Forgets that a site was opened, and deletes nothing. */
  forgetVisit: async (address: string) => {
    await ask(`/-/visits?address=${address}`, { method: 'DELETE' });
  },
  /** The pins now. For the next 10 s the worker also sends their changes on the channel. */
  watchPins: async (signal: AbortSignal) =>
    ((await ask('/-/pins?watch', { signal })) as { pins: ListedPin[] }).pins,
  pins: async (signal: AbortSignal) => ((await ask('/-/pins', { signal })) as { pins: ListedPin[] }).pins,
  pin: async (address: string, action: PinAction) => {
    await ask('/-/pins', { method: 'POST', body: JSON.stringify({ address, action }) });
  },
  unpin: async (address: string) => {
    await ask(`/-/pins?address=${address}`, { method: 'DELETE' });
  },
  /** A site as a file that `importSite` takes. */
  exportSite: (address: string) => askForFile(`/-/export?address=${address}`),
  importSite: async (file: Blob) =>
    (await ask('/-/import', { method: 'POST', body: file })) as {
      address: string;
      chunks: number;
      bytes: number;
    },
  /** The origins of sites that were used in this browser. */
  origins: async (signal?: AbortSignal) =>
    ((await ask('/-/origins', signal ? { signal } : {})) as { origins: SiteOrigin[] }).origins,
  /** What the origin of a site is to be told. */
  siteGrant: async (address: string) => (await ask(`/-/origins?address=${address}`, {})) as SiteGrant,
  reportOrigin: async (address: string, change: { report?: SiteReport; settingsId?: string }) => {
    await ask('/-/origins', { method: 'PUT', body: JSON.stringify({ address, ...change }) });
  },
  removeOrigin: async (address: string) => {
    await ask(`/-/origins?address=${address}`, { method: 'DELETE' });
  },
  settings: async (signal: AbortSignal) => (await ask('/-/settings', { signal })) as Settings,
  /** Takes the whole in place of what was set before. */
  setSettings: async (settings: Settings) => {
    await ask('/-/settings', { method: 'PUT', body: JSON.stringify(settings) });
  },
  /** How the gateway's own pages look, and in which language they are; null for the system's and the browser's. */
  setAppearance: async (appearance: { language: Language | null; theme: Theme | null }) => {
    await ask('/-/appearance', { method: 'PUT', body: JSON.stringify(appearance) });
  },
  testPeer: async (url: string) =>
    (await ask('/-/test-peer', { method: 'POST', body: JSON.stringify({ url }) })) as Probe & { url: string },
  /** Deletes all that the gateway keeps, chunks and pins too. */
  reset: async () => {
    await ask('/-/reset', { method: 'POST', body: JSON.stringify({ chunks: true }) });
  },
  trust: async (signal: AbortSignal) => (await ask('/-/trust', { signal })) as DecidedSite[],
  decide: async (address: string, decision: Decision) => {
    await ask('/-/trust', { method: 'POST', body: JSON.stringify({ address, decision }) });
  },
  revokeDecision: async (address: string) => {
    await ask(`/-/trust?address=${address}`, { method: 'DELETE' });
  },
  /** Keeps a manifest on this device. */
  addManifest: async (body: ArrayBuffer | Uint8Array<ArrayBuffer>) =>
    (await ask('/-/manifests', { method: 'POST', body })) as StoredManifest,
  /** A manifest that this device stores. It may hold the only keys to private files. */
  manifest: (id: string) => askForFile(`/-/manifests?id=${id}`),
  /** What is in a manifest, and whether this device stores it. Stores nothing. */
  checkManifest: async (body: Uint8Array<ArrayBuffer>) =>
    (await ask('/-/manifests?check', { method: 'POST', body })) as StoredManifest,
  config: async (signal: AbortSignal) => (await ask('/-/config', { signal })) as GatewayConfig,
  cache: async (signal: AbortSignal) => (await ask('/-/cache', { signal })) as CacheState,
  peers: async (signal: AbortSignal) =>
    ((await ask('/-/peers', { signal })) as { peers: PeerStatus[] }).peers,
  /** The counters now. For the next 10 s the worker also sends their changes on the channel. */
  watchStats: async (signal: AbortSignal) => (await ask('/-/stats?watch', { signal })) as StatsSnapshot,
};

/** @throws GatewayApiError as `ask`. */
async function askForFile(path: string): Promise<Blob> {
  const response = await request(path, {});
  if (!response.ok) await answerOf(path, response);
  return response.blob();
}

/** A title as it stands in a document is text in which references stand for characters, like a text field's. */
function decodeTitle(html: string): string {
  const field = document.createElement('textarea');
  field.innerHTML = html;
  return Array.from(field.value).slice(0, 200).join('');
}

/** @throws GatewayApiError when the worker does not answer, or answers with an error. */
async function ask(path: string, init: RequestInit): Promise<unknown> {
  return answerOf(path, await request(path, init));
}

function request(path: string, init: RequestInit): Promise<Response> {
  if (!navigator.serviceWorker?.controller) {
    throw new GatewayApiError('NO_WORKER', texts.status.noWorker, { isTranslated: true });
  }
  return fetch(path, { ...init, cache: 'no-store' });
}

async function answerOf(path: string, response: Response): Promise<unknown> {
  if (response.status === 204) return null;
  if (!response.headers.get('content-type')?.startsWith('application/json')) {
    throw new GatewayApiError('INTERNAL', `The gateway gave no JSON for ${path}: status ${response.status}.`);
  }
  const body = await response.json();
  if (!response.ok) throw new GatewayApiError(body.code, body.message);
  return body;
}
