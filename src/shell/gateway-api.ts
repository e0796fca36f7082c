import type { StoreSummary } from '../chunks/store.ts';
import type { ConfigSources } from '../config.ts';
import { AntwayError } from '../errors.ts';
import type { ActivityReport } from '../gateway/api/activity.ts';
import { channelName } from '../gateway/api/broadcast.ts';
import type { ListedOrigin, OriginAnswer } from '../gateway/api/origins.ts';
import type { HandedRecords } from '../gateway/origins/record-handover.ts';
import type { StoredManifest } from '../gateway/state/manifest-store.ts';
import type { SiteReport } from '../gateway/state/site-origins.ts';
import type { DecidedSite, Decision } from '../gateway/state/trust.ts';
import type { Language } from '../languages.ts';
import type { Site } from '../library/library.ts';
import type { ListedPin } from '../library/pin-state.ts';
import type { Imported } from '../library/site-file.ts';
import type { Visit } from '../library/visits.ts';
import type { NodesStatus } from '../nodes/nodes.ts';
import type { PeerKind } from '../peer-url.ts';
import type { PeerState } from '../peers/peer.ts';
import type { Probe } from '../peers/probe.ts';
import type { PeerNetwork } from '../peers/transports/protocol.ts';
import type { CatalogueEntry, Isolation, NodeNetwork, Settings, TransportChoice } from '../server-config.ts';
import type { StatsSnapshot } from '../stats/stats.ts';
import type { Theme } from '../themes.ts';
import { sanitizeLine } from './sanitize-line.ts';
import { texts } from './texts/texts.ts';

/** The part of `GET /-/config` that the shell shows. */
export interface GatewayConfig {
  /** Origins, as configured. */
  peers: string[];
  usePeersOfPeers: boolean;
  transport: TransportChoice;
  useNodes: boolean;
  nodes: NodeNetwork;
  /** Addresses, 64 hex characters. */
  denied: string[];
  cache: { maxBytes: number; memoryBytes: number };
  sources: ConfigSources;
  /** The host's names: name → address, 64 hex characters. */
  names: Record<string, string>;
  /** Addresses of sites that may run scripts by the server config, and have no other decision of the user. */
  trusted: string[];
  isolation: Isolation;
  /** A URL with `{address}`, where users report a site to the host. */
  reportUrl: string | null;
  sample: CatalogueEntry | null;
  catalogue: CatalogueEntry[];
  /** Title → address of a list of sites, 64 hex characters. */
  lists: Record<string, string>;
  /** Label → address of a list of names, 64 hex characters. */
  nameLists: Record<string, string>;
  /** Origins of gateways that everyone can reach. */
  publicGateways: string[];
  /** The error in a new server config. The gateway still uses the previous config. */
  problem: string | null;
}

/** `GET /-/cache`: the chunk store, and the browser's storage figures for this origin. Sizes in bytes. */
export interface CacheState extends StoreSummary {
  /** The storage quota of this origin, and its use. Null if the browser does not report them. */
  quota: number | null;
  usage: number | null;
  /** Whether the browser has promised not to clear the storage by itself. */
  persisted: boolean;
}

/** A peer of `GET /-/peers`. */
export interface PeerStatus {
  url: string;
  kind: PeerKind;
  state: PeerState;
  /** Null if that is not known yet. */
  answers: boolean | null;
  network: PeerNetwork | null;
}

/** `GET /-/peers` */
export interface SourcesStatus {
  peers: PeerStatus[];
  /** The connections to the network's nodes. Null without the user's permission, or if no page can connect. */
  nodes: NodesStatus | null;
}

export interface ListedSite extends Site {
  /** Whether the site opens on its own origin. That origin then stores the site's chunks and its pin. */
  hasOwnOrigin: boolean;
  isWithoutScripts: boolean;
  /** Whether the browser has promised not to clear the site's own origin. Null without one, or if not known. */
  persisted: boolean | null;
}

/** An action on a pin. `unpin` is a separate request. */
export type PinAction = 'pin' | 'pause' | 'resume' | 'verify';

/** The files of a site that was opened. */
export interface FilesOfSite {
  /** 64 hex characters. */
  address: string;
  /** The path of the site, with a slash at its end. */
  path: string;
  /** Paths within the site, not encoded. */
  files: string[];
}

/** A message of the worker to the pages, on the channel `antway`. */
type WorkerMessage =
  | { type: 'stats'; stats: StatsSnapshot }
  | { type: 'pins'; pins: ListedPin[] }
  /** The user settings have changed. */
  | { type: 'settings' }
  /** A site was opened, a visit was deleted, or the report of a site's origin has changed. */
  | { type: 'visits' };

/** @returns a function that ends the listening. */
export function onWorkerMessage(listener: (message: WorkerMessage) => void): () => void {
  const channel = new BroadcastChannel(channelName);
  channel.onmessage = ({ data }: MessageEvent<WorkerMessage>) => listener(data);
  return () => channel.close();
}

export class GatewayApiError extends Error {
  override readonly name = 'GatewayApiError';

  constructor(
    /** The gateway's error code, or a code of the shell, such as `NO_WORKER` when no worker controls this page. */
    readonly code: string,
    message: string,
    /** As of `Problem`. Set `isTranslated` for a text of the shell. */
    { lead, isTranslated = false }: { lead?: string; isTranslated?: boolean } = {},
  ) {
    super(message);
    this.lead = lead;
    this.isTranslated = isTranslated;
  }

  readonly lead: string | undefined;
  readonly isTranslated: boolean;
}

/** Converts any thrown value. An `AntwayError` keeps its code, a failed fetch becomes `UNANSWERED`. */
export function asGatewayApiError(error: unknown): GatewayApiError {
  if (error instanceof GatewayApiError) return error;
  if (error instanceof AntwayError) return new GatewayApiError(error.code, error.message);
  return new GatewayApiError('UNANSWERED', error instanceof Error ? error.message : String(error));
}

export const gateway = {
  /** The hash of the worker's build; null in development. */
  health: async (signal: AbortSignal) => (await ask('/-/health', { signal })) as { build: string | null },
  /** All sites. The title is decoded and has at most 200 characters. */
  sites: async (signal: AbortSignal) =>
    (await gateway.storedSites(signal)).map((site) => ({
      ...site,
      title: site.title && decodeTitle(site.title),
    })),
  /** All sites. The title is as the document contains it. */
  storedSites: async (signal: AbortSignal) =>
    ((await ask('/-/sites', { signal })) as { sites: ListedSite[] }).sites,
  /** The files of the sites that were opened last, as far as they are stored. Asks no peer. */
  recentFiles: async (signal: AbortSignal) =>
    ((await ask('/-/recent-files', { signal })) as { sites: FilesOfSite[] }).sites,
  /** The bytes of a configured list of sites or names, which are not checked yet. */
  list: async (address: string, signal: AbortSignal) => {
    const { text } = (await ask(`/-/lists?address=${address}`, { signal })) as { text: string };
    return new TextEncoder().encode(text);
  },
  /** Deletes a site, and those of its chunks that no pinned site needs. */
  deleteSite: async (address: string) => {
    await ask(`/-/sites?address=${address}`, { method: 'DELETE' });
  },
  /** Deletes the record of a visit. The site's chunks stay. */
  forgetVisit: async (address: string) => {
    await ask(`/-/visits?address=${address}`, { method: 'DELETE' });
  },
  /** The current pins. For the next 10 s, the worker also sends changes on the channel. */
  watchPins: async (signal: AbortSignal) =>
    ((await ask('/-/pins?watch', { signal })) as { pins: ListedPin[] }).pins,
  pins: async (signal: AbortSignal) => ((await ask('/-/pins', { signal })) as { pins: ListedPin[] }).pins,
  pin: async (address: string, action: PinAction) => {
    await ask('/-/pins', { method: 'POST', body: JSON.stringify({ address, action }) });
  },
  unpin: async (address: string) => {
    await ask(`/-/pins?address=${address}`, { method: 'DELETE' });
  },
  /** @param fields of the form, which describe the site to the receiver of the file: `title`, `icon`. */
  exportSite: (address: string, fields: readonly [string, string | Blob][] = []) => {
    const body = new FormData();
    for (const [name, value] of fields) body.append(name, value);
    return askForFile(`/-/export?address=${address}`, { method: 'POST', body });
  },
  importSite: async (file: Blob) => (await ask('/-/import', { method: 'POST', body: file })) as Imported,
  /** Adds a site to the library that was not opened yet. A listed site stays as it is. */
  addSite: async (visit: Visit) => {
    await ask('/-/visits', { method: 'POST', body: JSON.stringify(visit) });
  },
  /** The paths of the files of a completely stored site. One empty path for a single file. */
  files: async (address: string) =>
    ((await ask(`/-/files?address=${address}`, {})) as { files: string[] }).files,
  /** The start of a file of a completely stored site, at most 512 KiB. */
  file: (address: string, path: string) =>
    askForFile(`/-/files?address=${address}&path=${encodeURIComponent(path)}`),
  origins: async (signal?: AbortSignal) =>
    ((await ask('/-/origins', signal ? { signal } : {})) as { origins: ListedOrigin[] }).origins,
  siteGrant: async (address: string) => (await ask(`/-/origins?address=${address}`, {})) as OriginAnswer,
  reportOrigin: async (address: string, change: { report?: SiteReport; settingsId?: string }) => {
    await ask('/-/origins', { method: 'PUT', body: JSON.stringify({ address, ...change }) });
  },
  /** The records of a site that this origin has read already, once after each view of the site. */
  handedRecords: async (address: string, signal: AbortSignal): Promise<HandedRecords<Blob>> => {
    const init = { method: 'POST', body: JSON.stringify({ address }), signal };
    const form = await (await request('/-/handed-records', init)).formData();
    return {
      records: form.getAll('record').filter((record) => record instanceof Blob),
      peers: form.has('peers') ? JSON.parse(String(form.get('peers'))) : null,
    };
  },
  removeOrigin: async (address: string) => {
    await ask(`/-/origins?address=${address}`, { method: 'DELETE' });
  },
  settings: async (signal: AbortSignal) => (await ask('/-/settings', { signal })) as Settings,
  setSettings: async (settings: Settings) => {
    await ask('/-/settings', { method: 'PUT', body: JSON.stringify(settings) });
  },
  /** Null means the system's theme or the browser's language. */
  setAppearance: async (appearance: { language: Language | null; theme: Theme | null }) => {
    await ask('/-/appearance', { method: 'PUT', body: JSON.stringify(appearance) });
  },
  testPeer: async (url: string) =>
    (await ask('/-/test-peer', { method: 'POST', body: JSON.stringify({ url }) })) as Probe & { url: string },
  /** Deletes everything that the gateway stores, including chunks and pins. */
  reset: async () => {
    await ask('/-/reset', { method: 'POST', body: JSON.stringify({ chunks: true }) });
  },
  trust: async (signal: AbortSignal) => (await ask('/-/trust', { signal })) as DecidedSite[],
  decide: async (address: string, decision: Decision) => {
    await ask('/-/trust', { method: 'POST', body: JSON.stringify({ address, decision }) });
  },
  /** @param content the trust is bound to it. Null for every version of a pointer. */
  trustContent: async (address: string, content: string | null) => {
    const bound = content === null ? { allVersions: true } : { content };
    await ask('/-/trust', {
      method: 'POST',
      body: JSON.stringify({ address, decision: 'trusted', ...bound }),
    });
  },
  revokeDecision: async (address: string) => {
    await ask(`/-/trust?address=${address}`, { method: 'DELETE' });
  },
  addManifest: async (body: ArrayBuffer | Uint8Array<ArrayBuffer>) =>
    (await ask('/-/manifests', { method: 'POST', body })) as StoredManifest,
  /** A manifest that this device stores. It may contain the only keys of private files. */
  manifest: (id: string) => askForFile(`/-/manifests?id=${id}`),
  /** Describes the content of a manifest, and whether this device stores it. Stores nothing. */
  checkManifest: async (body: Uint8Array<ArrayBuffer>) =>
    (await ask('/-/manifests?check', { method: 'POST', body })) as StoredManifest,
  config: async (signal: AbortSignal) => (await ask('/-/config', { signal })) as GatewayConfig,
  cache: async (signal: AbortSignal) => (await ask('/-/cache', { signal })) as CacheState,
  /** Asks peers that were not asked recently whether they answer. */
  sources: async (signal: AbortSignal) => (await ask('/-/peers?check', { signal })) as SourcesStatus,
  /** Asks all peers again. */
  checkPeers: async () => {
    await ask('/-/peers?check=now', {});
  },
  /** The bytes of the last minutes, totals, and the transfers. They outlive the worker. */
  activity: async (signal: AbortSignal) => (await ask('/-/activity', { signal })) as ActivityReport,
  resetStats: async () => {
    await ask('/-/activity', { method: 'DELETE' });
  },
  /** The current counters. For the next 10 s, the worker also sends changes on the channel. */
  watchStats: async (signal: AbortSignal) => (await ask('/-/stats?watch', { signal })) as StatsSnapshot,
};

async function askForFile(path: string, init: RequestInit = {}): Promise<Blob> {
  const response = await request(path, init);
  if (!response.ok) await answerOf(path, response);
  return response.blob();
}

/** Decodes a title from a document's HTML. It is text with character references, like the content of a `textarea`. */
export function decodeTitle(html: string): string {
  const field = document.createElement('textarea');
  field.innerHTML = html;
  return Array.from(sanitizeLine(field.value)).slice(0, 200).join('');
}

/** @throws GatewayApiError when the worker does not answer, or answers with an error. */
export async function ask(path: string, init: RequestInit): Promise<unknown> {
  return answerOf(path, await request(path, init));
}

/** Requests that change nothing begin when this has settled. */
let held: Promise<unknown> = Promise.resolve();

/**
 * Lets this page's questions wait while another version of the worker takes over. If a request arrives while Chromium stops
 * the former worker, that worker starts again, and the new one waits until there was no request for half a minute.
 */
export function holdRequests(until: Promise<unknown>): void {
  held = until;
}

/** Asks the worker. @throws GatewayApiError `NO_WORKER` if the host itself would answer, whose bytes nothing verifies. */
export async function request(path: string, init: RequestInit): Promise<Response> {
  // The page may be reloaded meanwhile, and a change must not get lost.
  if (!init.method || init.method === 'GET') await held;
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
