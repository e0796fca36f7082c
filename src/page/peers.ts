import { AntError } from '../fetch/ant-error.ts';
import type { AntPeer } from './types.ts';
import type { WorkerRequests } from './worker-requests.ts';

/** The peers of the worker, and the user's own list, which replaces that of the site. @throws as `WorkerRequests.request`. */
export function pagePeers({ json }: WorkerRequests) {
  /** Other pages wait, also those of the gateway: each would otherwise undo the change of the other. */
  const change = <T extends object>(settingsWith: (settings: T, peers: string[]) => object): Promise<void> =>
    navigator.locks.request('antway-settings', async () => {
      const { peers } = await json<{ peers: string[] }>('config');
      const settings = settingsWith(await json<T>('settings'), peers);
      await json('settings', { method: 'PUT', body: JSON.stringify(settings) });
    });
  return {
    async list({ check = false, signal }: { check?: boolean; signal?: AbortSignal | null } = {}) {
      const { peers } = await json<{ peers: AntPeer[] }>(
        `peers${check ? '?check=now' : ''}`,
        signal ? { signal } : {},
      );
      return peers.map(
        ({ url, kind, state, answers, namedBy }): AntPeer => ({ url, kind, state, answers, namedBy }),
      );
    },
    /** @throws also AntError `BAD_CONFIG`, `UNSUPPORTED` (no peer), `PEERS_UNREACHABLE`. */
    async add(url: string): Promise<void> {
      await json('test-peer', { method: 'POST', body: JSON.stringify({ url }) });
      await change((settings, peers) => ({ ...settings, peers: [...without(peers, url), url] }));
    },
    /** @throws also AntError `NOT_FOUND`, `BAD_CONFIG` for the last peer. */
    async remove(url: string): Promise<void> {
      await change((settings, all) => {
        const peers = without(all, url);
        if (peers.length === all.length) throw new AntError('NOT_FOUND', 'There is no such peer.');
        if (peers.length === 0) throw new AntError('BAD_CONFIG', 'The last peer cannot be removed.');
        return { ...settings, peers };
      });
    },
    async reset(): Promise<void> {
      await change<{ peers?: unknown }>(({ peers: _, ...settings }) => settings);
    },
  };
}

function without(peers: readonly string[], url: string): string[] {
  return peers.filter((other) => withoutHash(other) !== withoutHash(url));
}

/** The hashes of certificates change while the peer stays the same. */
function withoutHash(url: string): string {
  return url.replace(/\/?(#.*)?$/, '').toLowerCase();
}
