import { buildHash } from '../../build.ts';
import { version } from '../../version.ts';
import type { Endpoint } from './endpoint.ts';
import { browserStorage } from './storage.ts';

/** `/-/stats`: the worker's counters since its start. With `?watch` the worker also sends reports for a while. */
export const stats: Endpoint = {
  GET(url, _, { stats, broadcast }) {
    if (url.searchParams.has('watch')) broadcast.watch();
    return stats.snapshot();
  },
};

/** `/-/cache`: the size of the chunk store, and the browser's information on the origin's storage. */
export const cache: Endpoint = {
  GET: async (_url, _request, { store }) => ({ ...(await store.summary()), ...(await browserStorage()) }),
};

/** `/-/peers`: the peers, and the connections to nodes or null. With `?check` it first checks whether they answer, with `?check=now` also the recently checked. */
export const peers: Endpoint = {
  async GET({ searchParams }, _, { peers }) {
    const check = searchParams.get('check');
    if (check !== null) await peers.check(check === 'now');
    return { peers: peers.describe(), nodes: (await peers.nodesStatus?.()) ?? null };
  },
};

export const health: Endpoint = {
  GET: () => ({ status: 'ok', gateway: 'antway', version, build: buildHash }),
};
