import type { ChunkStore } from '../chunks/store.ts';
import type { Config } from '../config.ts';
import { AntwayError } from '../errors.ts';
import type { PeerPool } from '../peers/pool.ts';
import type { Stats } from '../stats/stats.ts';
import type { RecentSites } from './recent.ts';
import { internalHeaders } from './security.ts';
import type { StatsBroadcast } from './stats-broadcast.ts';

export interface InternalContext {
  config: Config;
  store: ChunkStore;
  peers: PeerPool;
  stats: Stats;
  broadcast: StatsBroadcast;
  recent: RecentSites;
  configProblem: string | null;
}

/**
 * Answers `/-/…`, the endpoints by which the shell learns what the worker does.
 * @throws AntwayError `NOT_FOUND` for an unknown endpoint, `METHOD`.
 */
export async function answerInternal(
  name: string,
  request: Request,
  context: InternalContext,
): Promise<Response> {
  const url = new URL(request.url);
  if (name === 'recent' && request.method === 'DELETE') {
    await context.recent.remove(url.searchParams.get('path') ?? '');
    return new Response(null, { status: 204, headers: internalHeaders() });
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new AntwayError('METHOD', `/-/${name} does not take ${request.method}.`);
  }
  const body = JSON.stringify(await read(name, url, context));
  return new Response(request.method === 'HEAD' ? null : body, {
    headers: { ...internalHeaders(), 'Content-Type': 'application/json' },
  });
}

async function read(name: string, url: URL, context: InternalContext): Promise<unknown> {
  const { config, store, peers, stats, broadcast, recent } = context;
  switch (name) {
    case 'stats':
      if (url.searchParams.has('watch')) broadcast.watch();
      return stats.snapshot();
    case 'cache':
      return { ...(await store.summary()), ...(await browserStorage()) };
    case 'peers':
      return { peers: peers.describe() };
    case 'recent':
      return recent.list();
    case 'config':
      return {
        peers: config.peers.map(({ url }) => url),
        isolation: config.isolation,
        names: Object.fromEntries(Array.from(config.names, ([name, address]) => [name, address.hex])),
        trusted: [...config.trusted],
        denied: [...config.denied],
        cache: config.cache,
        problem: context.configProblem,
      };
    case 'health':
      return { status: 'ok', gateway: 'antway' };
    default:
      throw new AntwayError('NOT_FOUND', `There is no endpoint /-/${name}.`);
  }
}

/** What the browser says of this origin's storage; null where it does not tell. */
async function browserStorage(): Promise<{ quota: number | null; usage: number | null; persisted: boolean }> {
  const storage: Partial<StorageManager> | undefined = navigator.storage;
  const { quota = null, usage = null } = (await storage?.estimate?.()) ?? {};
  return { quota, usage, persisted: (await storage?.persisted?.()) ?? false };
}
