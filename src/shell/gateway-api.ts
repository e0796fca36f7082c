import type { StoreSummary } from '../chunks/store.ts';
import { AntwayError } from '../errors.ts';
import type { KeptManifest } from '../gateway/manifest-store.ts';
import type { RecentSite } from '../gateway/recent.ts';
import type { DecidedSite, Decision } from '../gateway/trust.ts';
import type { PeerState } from '../peers/peer.ts';
import type { StatsSnapshot } from '../stats/stats.ts';
import { texts } from './texts/texts.ts';

/** The part of `GET /-/config` that the shell shows. */
export interface GatewayConfig {
  /** Origins, as configured. */
  peers: string[];
  /** Name → address, 64 hex characters. */
  names: Record<string, string>;
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

/** What the worker sends to pages on the channel `antway`. */
export interface StatsMessage {
  type: 'stats';
  stats: StatsSnapshot;
}

/** An answer of the gateway that is not the one that was asked for. */
export class GatewayApiError extends Error {
  override readonly name = 'GatewayApiError';

  constructor(
    /** The gateway's own error code, or one of the shell's, such as `NO_WORKER` when none controls this page. */
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** Any thrown value as a `GatewayApiError`: one of our own keeps its code, a failed fetch is `UNANSWERED`. */
export function asGatewayApiError(error: unknown): GatewayApiError {
  if (error instanceof GatewayApiError) return error;
  if (error instanceof AntwayError) return new GatewayApiError(error.code, error.message);
  return new GatewayApiError('UNANSWERED', error instanceof Error ? error.message : String(error));
}

export const gateway = {
  recent: async (signal: AbortSignal) => (await ask('/-/recent', { signal })) as RecentSite[],
  removeRecent: async (path: string) => {
    await ask(`/-/recent?path=${encodeURIComponent(path)}`, { method: 'DELETE' });
  },
  trust: async (signal: AbortSignal) => (await ask('/-/trust', { signal })) as DecidedSite[],
  decide: async (address: string, decision: Decision) => {
    await ask('/-/trust', { method: 'POST', body: JSON.stringify({ address, decision }) });
  },
  revokeDecision: async (address: string) => {
    await ask(`/-/trust?address=${address}`, { method: 'DELETE' });
  },
  addManifest: async (body: ArrayBuffer) =>
    (await ask('/-/manifests', { method: 'POST', body })) as KeptManifest,
  config: async (signal: AbortSignal) => (await ask('/-/config', { signal })) as GatewayConfig,
  cache: async (signal: AbortSignal) => (await ask('/-/cache', { signal })) as CacheState,
  peers: async (signal: AbortSignal) =>
    ((await ask('/-/peers', { signal })) as { peers: PeerStatus[] }).peers,
  /** The counters now. For the next 10 s the worker also sends their changes on the channel. */
  watchStats: async (signal: AbortSignal) => (await ask('/-/stats?watch', { signal })) as StatsSnapshot,
};

/** @throws GatewayApiError when the worker does not answer, or answers with an error. */
async function ask(path: string, init: RequestInit): Promise<unknown> {
  if (!navigator.serviceWorker?.controller) {
    throw new GatewayApiError('NO_WORKER', texts.status.noWorker);
  }
  const response = await fetch(path, { ...init, cache: 'no-store' });
  if (response.status === 204) return null;
  if (!response.headers.get('content-type')?.startsWith('application/json')) {
    throw new GatewayApiError('INTERNAL', `The gateway gave no JSON for ${path}: status ${response.status}.`);
  }
  const body = await response.json();
  if (!response.ok) throw new GatewayApiError(body.code, body.message);
  return body;
}
