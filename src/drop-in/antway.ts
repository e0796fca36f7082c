import type { ServerConfig } from '../config.ts';
import { asDataHeader } from '../gateway/http/script-request.ts';
import type { PinState } from '../library/pin-state.ts';
import type { StatsSnapshot } from '../stats/stats.ts';
import { version } from '../version.ts';
import { urlOf, withoutDots } from './content-uri.ts';
import { page } from './dom.ts';
import { reloadEarly } from './early.ts';
import { DropInError } from './error.ts';
import { type DropInOptions, type ResolvedOptions, resolveOptions } from './options.ts';
import { type Place, Rewriter } from './rewriter.ts';
import { untilParsed } from './until-parsed.ts';
import { control, type IsTrusted } from './worker.ts';

export type { ServerConfig as HostFile } from '../config.ts';
export type { PinState } from '../library/pin-state.ts';
export type { StatsSnapshot } from '../stats/stats.ts';
export type { DropInErrorCode } from './error.ts';
export type { DropInOptions } from './options.ts';
export { DropInError };

/** Antway in a page. */
export interface Antway {
  readonly version: string;
  /**
   * Resolves when content addresses work in this page, by the worker or by the gateway that stands in for it.
   * Rejects with a `DropInError` when neither does; the same error is the `detail` of the event `antway:error`.
   */
  readonly ready: Promise<void>;
  /**
   * The URL of some content in this page.
   * @param address 64 hex digits, a configured name, or an `ant://` link.
   * @param path in an archive, not encoded.
   * @throws DropInError `BAD_ADDRESS`, also for a path with the segments `.` or `..`: the URL stays below the address.
   */
  url(address: string, path?: string): string;
  /**
   * Makes content addresses work in a shadow root that is closed, or was attached to an element already in the page:
   * nothing tells of those. Open ones that elements bring with them are found without.
   */
  watch(root: ShadowRoot): void;
  /**
   * `fetch` of that URL, as soon as it works. Rejects as `ready` does, or as `fetch`. Pages too come as data: to put their
   * HTML into the document as it is would give the address all that the site may do.
   */
  fetch(address: string, path?: string, init?: RequestInit): Promise<Response>;
  /** The counters of the worker. @throws DropInError `WORKERS_UNAVAILABLE` when there is none. */
  stats(): Promise<StatsSnapshot>;
  /**
   * Fetches all of a file or an archive, and keeps it in this browser until `unpin`. Resolves when that has begun.
   * @param address 64 hex digits. @throws DropInError as `stats`; `FAILED` when the worker refuses.
   */
  pin(address: string): Promise<Pin>;
  /** What is no longer pinned may be evicted. Parameters and errors as of `pin`. */
  unpin(address: string): Promise<void>;
  /** What is pinned in this browser by pages of this origin, and how far it has come. */
  pins(): Promise<Pin[]>;
}

/** A promise to keep an address's chunks. */
export interface Pin extends PinState {
  address: string;
}

/**
 * Registers the worker and makes content addresses work in this page. To be called once.
 *
 * Never throws: what is wrong is what `ready` rejects with. It is also written to the console and sent as the event
 * `antway:error` of the document; `antway:ready` is sent when all is well.
 *
 * @param options themselves, or what reads them; its errors count as theirs.
 * @param base URL that relative URLs in the options are resolved against; the document's if not given.
 */
export function createAntway(
  options: DropInOptions | (() => DropInOptions) = {},
  base: string = page.baseURI,
): Antway {
  let resolved: ResolvedOptions | undefined;
  // Absolute, since a page's `<base>` may be on another origin.
  let contentBase = `${location.origin}/ant/`;
  let names: ServerConfig['names'];
  let isTrusted: IsTrusted;
  let hasWorker = false;
  let rewriter: Rewriter | undefined;
  /** To be watched as soon as it is known where content is. */
  let roots: (Document | ShadowRoot)[] = [document];
  const controller = () => navigator.serviceWorker?.controller?.scriptURL;
  const former = controller();

  const start = async (): Promise<void> => {
    resolved = resolveOptions(typeof options === 'function' ? options() : options, base);
    contentBase = resolved.prefix.href;
    isTrusted = await control(resolved);
    hasWorker = true;
  };

  const rewriteIn = (place: Place): void => {
    rewriter = new Rewriter(place);
    for (const root of roots) rewriter.watch(root);
    roots = [];
  };

  const worked = (): void => {
    rewriteIn({ prefix: contentBase, base: contentBase, isTrusted });
    // None, or one that did not know what this one knows.
    if (controller() !== former) reloadEarly(page, contentBase);
    announce('ready', { base: contentBase });
  };

  const failed = async (error: Error): Promise<void> => {
    await untilParsed();
    const gateway = resolved?.gateway;
    const prefix = contentBase;
    if (gateway) {
      // It knows only addresses.
      names = resolved?.config?.names;
      contentBase = gateway;
      rewriteIn({ prefix, base: gateway, names });
    } else {
      rewriteIn({ prefix, problem: error.message });
    }
    console[gateway ? 'warn' : 'error'](`Antway: ${error.message}`);
    announce('error', error);
    if (!gateway) throw error;
    announce('ready', { base: gateway });
  };

  const ready = start().then(worked, failed);
  // It was told above; a page that does not use `ready` has nothing to handle.
  ready.catch(() => {});

  const url = (address: string, path = ''): string =>
    urlOf(address, contentBase, null, names) +
    (path && withoutDots(`/${path.split('/').map(encodeURIComponent).join('/')}`));

  // biome-ignore lint/suspicious/noExplicitAny: each caller knows what its endpoint answers.
  const endpoint = async (name: string, init?: RequestInit): Promise<any> => {
    await ready;
    if (!hasWorker) throw new DropInError('WORKERS_UNAVAILABLE', 'This page has no worker.');
    const response = await fetch(`${contentBase}-/${name}`, init);
    // To DELETE the answer is empty.
    const answer = await response.json().catch(() => ({}));
    if (response.ok) return answer;
    throw new DropInError('FAILED', `${answer.code}: ${answer.message}`);
  };

  return {
    version,
    ready,
    url,
    watch(root) {
      if (rewriter) rewriter.watch(root);
      else roots.push(root);
    },
    async fetch(address, path, init) {
      await ready;
      const headers = new Headers(init?.headers);
      // A gateway elsewhere would be asked first whether this header may be sent.
      if (hasWorker) headers.set(asDataHeader, '1');
      return fetch(url(address, path), { ...init, headers });
    },
    stats: () => endpoint('stats'),
    pin: (address) => endpoint('pins', { method: 'POST', body: JSON.stringify({ address, action: 'pin' }) }),
    async unpin(address) {
      await endpoint(`pins?address=${encodeURIComponent(address)}`, { method: 'DELETE' });
    },
    pins: async () => (await endpoint('pins')).pins,
  };
}

function announce(name: 'ready' | 'error', detail: unknown): void {
  page.dispatchEvent(new CustomEvent(`antway:${name}`, { detail }));
}
