import { connect } from '../drop-in/antway.ts';
import { DropInError } from '../drop-in/error.ts';
import type { DropInOptions } from '../drop-in/options.ts';
import { withoutPage } from '../drop-in/without-page.ts';
import type { ListedPin } from '../library/pin-state.ts';
import { version } from '../version.ts';
import { namedContent } from './content-text.ts';
import { type EventReaders, watchEvents } from './events.ts';
import { pageManifests } from './manifests.ts';
import { pagePeers } from './peers.ts';
import { type PinWorker, watchedPin } from './pin.ts';
import { pageSiteFiles } from './site-files.ts';
import type { AntReference, AntwayPage } from './types.ts';
import { workerError, workerRequests } from './worker-requests.ts';

/**
 * Registers the worker and makes content addresses work in this page. Call it once, or again after `close`.
 *
 * It never throws: `ready` rejects with the error. The document gets the event `antway:ready` or `antway:error`. Without a page,
 * such as in a server that renders pages, it has no effect: `ready` rejects with `NO_PAGE`, and `url` returns a path.
 */
export function createAntway(options: DropInOptions = {}): AntwayPage {
  if (typeof document !== 'undefined') return inPage(options);
  const { ready, ...rest } = withoutPage(options, textOf);
  const fail = () => ready;
  return Object.freeze<AntwayPage>({
    ...{ ...rest, ready },
    ...{ addManifest: fail, manifests: fail, readManifest: fail, removeManifest: fail },
    ...{ export: fail, import: fail, peers: fail, addPeer: fail, removePeer: fail, resetPeers: fail },
    on: () => () => undefined,
    close: () => undefined,
  });
}

function inPage(options: DropInOptions): AntwayPage {
  const closing = new AbortController();
  const closed = closing.signal;
  const { antway, place } = connect(options, document.baseURI, closed);
  const whenClosed = new Promise<never>((_, reject) => {
    closed.addEventListener('abort', () => reject(closed.reason));
  });
  const ready = Promise.race([antway.ready, whenClosed]);
  for (const promise of [ready, whenClosed]) promise.catch(() => undefined); // its users get the error

  const requests = workerRequests(ready, place, closed);
  const { request, json } = requests;
  const post = (address: string, action: string): Promise<ListedPin> =>
    json('pins', { method: 'POST', body: JSON.stringify({ address, action }) });

  const worker: PinWorker = {
    closed,
    list: async () => (await json<{ pins: ListedPin[] }>('pins')).pins,
    act: post,
    async remove(address) {
      await request(`pins?address=${encodeURIComponent(address)}`, { method: 'DELETE' });
    },
    failure: workerError,
  };
  const manifests = pageManifests(requests);
  const peers = pagePeers(requests);
  const siteFiles = pageSiteFiles(requests);
  const readers: EventReaders = {
    pins: worker.list,
    peers: peers.list,
    manifests: manifests.list,
    stats: () => json('stats'),
  };

  async function addressOf(content: AntReference): Promise<string> {
    const { id } = namedContent(content);
    await ready;
    const known = place()[1] ?? {};
    return (Object.hasOwn(known, id) ? known[id]! : id).toLowerCase();
  }

  return Object.freeze<AntwayPage>({
    version,
    ready,
    url: (content, path) => antway.url(textOf(content), path),
    async fetch(content: AntReference, pathOrInit?: string | RequestInit, more?: RequestInit) {
      const [path, init] = typeof pathOrInit === 'object' ? [undefined, pathOrInit] : [pathOrInit, more];
      await ready;
      closed.throwIfAborted();
      return antway.fetch(textOf(content), path, init);
    },
    watch: antway.watch,
    async pin(content, init = {}) {
      const address = await addressOf(content);
      return watchedPin(worker, { ...(await post(address, 'pin')), address }, init);
    },
    unpin: async (content) => worker.remove(await addressOf(content)),
    pins: async () => (await worker.list()).map((pin) => watchedPin(worker, pin, {})),
    stats: readers.stats,
    addManifest: manifests.add,
    manifests: manifests.list,
    readManifest: async (content) => manifests.read(await addressOf(content)),
    removeManifest: async (content) => manifests.remove(await addressOf(content)),
    export: async (content, init = {}) => siteFiles.export(await addressOf(content), init),
    async import(file, { content, signal } = {}) {
      return siteFiles.import(file, content === undefined ? undefined : await addressOf(content), signal);
    },
    peers: peers.list,
    addPeer: peers.add,
    removePeer: peers.remove,
    resetPeers: peers.reset,
    on(type, listener, { signal } = {}) {
      if (!Object.hasOwn(readers, type)) {
        throw new TypeError(`on: the event is one of ${Object.keys(readers).join(', ')}.`);
      }
      const ending = new AbortController();
      const until = AbortSignal.any([ending.signal, closed, ...(signal ? [signal] : [])]);
      // Errors of the page stay: there is no worker.
      const isFinal = (error: unknown) => error instanceof DropInError;
      void watchEvents<typeof type>(readers[type], listener, until, isFinal);
      return () => ending.abort();
    },
    close: () => closing.abort(new DOMException('Antway is closed in this page.', 'AbortError')),
  });
}

function textOf(content: AntReference): string {
  const { id, rest } = namedContent(content);
  return `ant://${id}${rest}`;
}
