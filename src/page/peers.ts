import { AntError } from '../fetch/ant-error.ts';
import type { AntPeer } from './types.ts';
import type { WorkerRequests } from './worker-requests.ts';

/** The peers of the worker, and the user's own list, which replaces that of the site. @throws as `WorkerRequests.request`. */
export function pagePeers({ json }: WorkerRequests) {
  const configured = async (): Promise<string[]> => (await json<{ peers: string[] }>('config')).peers;
  const write = async (change: (settings: object) => object): Promise<void> => {
    const settings = change(await json<object>('settings'));
    await json('settings', { method: 'PUT', body: JSON.stringify(settings) });
  };
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
      const peers = (await configured()).filter((other) => withoutHash(other) !== withoutHash(url));
      await write((settings) => ({ ...settings, peers: [...peers, url] }));
    },
    /** @throws also AntError `NOT_FOUND`, `BAD_CONFIG` for the last peer. */
    async remove(url: string): Promise<void> {
      const all = await configured();
      const peers = all.filter((other) => withoutHash(other) !== withoutHash(url));
      if (peers.length === all.length) throw new AntError('NOT_FOUND', 'There is no such peer.');
      if (peers.length === 0) throw new AntError('BAD_CONFIG', 'The last peer cannot be removed.');
      await write((settings) => ({ ...settings, peers }));
    },
    async reset(): Promise<void> {
      await write(({ peers: _, ...settings }: { peers?: unknown }) => settings);
    },
  };
}

/** The hashes of certificates change while the peer stays the same. */
function withoutHash(url: string): string {
  return url.replace(/\/?(#.*)?$/, '').toLowerCase();
}
