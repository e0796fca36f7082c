import { buildHash } from '../../build.ts';
import { version } from '../../version.ts';
import type { Endpoint } from './endpoint.ts';
import { browserStorage } from './storage.ts';

/** `/-/stats`: what the worker has counted since it started; `?watch` has it report to the pages for a while. */
export const stats: Endpoint = {
  GET(url, _, { stats, broadcast }) {
    if (url.searchParams.has('watch')) broadcast.watch();
    return stats.snapshot();
  },
};

/** `/-/cache`: what the chunk store holds, and what the browser says of the origin's storage. */
export const cache: Endpoint = {
  GET: async (_url, _request, { store }) => ({ ...(await store.summary()), ...(await browserStorage()) }),
};

/** `/-/peers`: the peers and how they do. */
export const peers: Endpoint = { GET: (_url, _request, { peers }) => ({ peers: peers.describe() }) };

/** `/-/health`: which gateway this is. */
export const health: Endpoint = {
  GET: () => ({ status: 'ok', gateway: 'antway', version, build: buildHash }),
};
