import { connect } from '../drop-in/antway.ts';
import { DropInError } from '../drop-in/error.ts';
import type { DropInOptions } from '../drop-in/options.ts';
import { withoutPage } from '../drop-in/without-page.ts';
import { type ErrorCode, errorStatus } from '../errors.ts';
import { AntError } from '../fetch/ant-error.ts';
import type { ListedPin } from '../library/pin-state.ts';
import { version } from '../version.ts';
import { namedContent } from './content-text.ts';
import { type PinWorker, watchedPin } from './pin.ts';
import type { AntContent, AntwayPage } from './types.ts';

/**
 * Registers the worker and makes content addresses work in this page. Call it once, or again after `close`.
 *
 * It never throws: `ready` rejects with the error. The document gets the event `antway:ready` or `antway:error`. Without a page,
 * such as in a server that renders pages, it has no effect: `ready` rejects with `NO_PAGE`, and `url` returns a path.
 */
export function createAntway(options: DropInOptions = {}): AntwayPage {
  if (typeof document !== 'undefined') return inPage(options);
  return Object.freeze<AntwayPage>({ ...withoutPage(options, textOf), close: () => undefined });
}

function inPage(options: DropInOptions): AntwayPage {
  const closing = new AbortController();
  const closed = closing.signal;
  const { antway, endpoint, names } = connect(options, document.baseURI, closed);
  const whenClosed = new Promise<never>((_, reject) => {
    closed.addEventListener('abort', () => reject(closed.reason));
  });
  const ready = Promise.race([antway.ready, whenClosed]);
  for (const promise of [ready, whenClosed]) promise.catch(() => undefined); // its users get the error

  const ask = async (name: string, init?: RequestInit) => {
    await ready;
    closed.throwIfAborted();
    try {
      return await endpoint(name, { ...init, signal: closed });
    } catch (error) {
      throw codedError(error);
    }
  };
  const post = (address: string, action: string): Promise<ListedPin> =>
    ask('pins', { method: 'POST', body: JSON.stringify({ address, action }) });

  const worker: PinWorker = {
    closed,
    list: async () => (await ask('pins')).pins,
    act: post,
    async remove(address) {
      await ask(`pins?address=${encodeURIComponent(address)}`, { method: 'DELETE' });
    },
    failure: (code, message) => new AntError(asCode(code), message),
  };

  async function addressOf(content: AntContent): Promise<string> {
    const { id } = namedContent(content);
    await ready;
    const known = names() ?? {};
    return (Object.hasOwn(known, id) ? known[id]! : id).toLowerCase();
  }

  return Object.freeze<AntwayPage>({
    version,
    ready,
    url: (content, path) => antway.url(textOf(content), path),
    async fetch(content: AntContent, pathOrInit?: string | RequestInit, more?: RequestInit) {
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
    stats: () => ask('stats'),
    close: () => closing.abort(new DOMException('Antway is closed in this page.', 'AbortError')),
  });
}

function textOf(content: AntContent): string {
  const { id, rest } = namedContent(content);
  return `ant://${id}${rest}`;
}

/** The worker's own code, in place of `FAILED`. */
function codedError(error: unknown): unknown {
  const { code, message } = Object(error instanceof DropInError && error.cause);
  if (typeof code !== 'string' || typeof message !== 'string') return error;
  return new AntError(asCode(code), message, [], { cause: error });
}

/** Another version of the worker may have codes that this one does not know. */
function asCode(code: string): ErrorCode {
  return Object.hasOwn(errorStatus, code) ? (code as ErrorCode) : 'INTERNAL';
}
