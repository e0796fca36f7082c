import { asDataHeader } from '../gateway/http/script-request.ts';
import type { ListedPin } from '../library/pin-state.ts';
import type { ServerConfig } from '../server-config.ts';
import type { StatsSnapshot } from '../stats/stats.ts';
import { version } from '../version.ts';
import { urlOf, withoutDots } from './content-uri.ts';
import { page } from './dom.ts';
import { reloadEarly } from './early.ts';
import { DropInError } from './error.ts';
import { type DropInOptions, type ResolvedOptions, resolveOptions } from './options.ts';
import { showPlaceholders } from './placeholder.ts';
import { type Place, Rewriter } from './rewriter.ts';
import { untilParsed } from './until-parsed.ts';
import { control, type WorkerConfig } from './worker.ts';

export type { PinState } from '../library/pin-state.ts';
export type { ServerConfig } from '../server-config.ts';
export type { StatsSnapshot } from '../stats/stats.ts';
export type { DropInErrorCode } from './error.ts';
export type { DropInOptions } from './options.ts';
export { DropInError };

/** The API of Antway in a page. */
export interface Antway {
  readonly version: string;
  /**
   * Resolves when content addresses work in this page, through the worker or through the configured gateway. Rejects
   * with a `DropInError` when neither works. The event `antway:error` carries the same error as its `detail`.
   */
  readonly ready: Promise<void>;
  /**
   * Returns the URL of content in this page.
   * @param address 64 hex digits, a configured name, or an `ant://` link.
   * @param path the path in an archive, not encoded.
   * @throws DropInError `BAD_ADDRESS`, also for a path with the segments `.` or `..`: the URL stays below the address.
   */
  url(address: string, path?: string): string;
  /**
   * Makes content addresses work in a shadow root. Call this for a closed root, and for a root that was attached to an
   * element already in the page: no event reports these roots. Antway finds open roots of added elements by itself.
   */
  watch(root: ShadowRoot): void;
  /**
   * Waits for `ready`, then fetches the URL of the content. Rejects with the errors of `ready` and of `fetch`. Pages
   * are returned as data, too. Do not insert their HTML into the document unchanged: it would give the content all
   * permissions of the site.
   */
  fetch(address: string, path?: string, init?: RequestInit): Promise<Response>;
  /**
   * Returns the counters of the worker.
   * @throws DropInError `WORKERS_UNAVAILABLE` when there is no worker.
   */
  stats(): Promise<StatsSnapshot>;
  /**
   * Fetches all chunks of a file or an archive, and stores them in this browser until `unpin`. Resolves when the
   * download has started.
   * @param address 64 hex digits.
   * @throws DropInError as `stats`; `FAILED` when the worker refuses.
   */
  pin(address: string): Promise<Pin>;
  /** Removes a pin. The worker may then evict the chunks. Parameters and errors as of `pin`. */
  unpin(address: string): Promise<void>;
  /** Returns the pins of this origin in this browser, with their progress. */
  pins(): Promise<Pin[]>;
}

/** A pin: the worker stores all chunks of the address and does not evict them. */
export type Pin = ListedPin;

/**
 * Registers the worker and makes content addresses work in this page. Call it once.
 *
 * It never throws: `ready` rejects with the error. The error is also written to the console, and sent as the event
 * `antway:error` of the document. The event `antway:ready` is sent on success.
 * @param options the options, or a function that returns them. `ready` also rejects with the errors of this function.
 * @param script the URL beside which the worker's script is by default. Default: the base URL of the document.
 */
export function createAntway(
  options: DropInOptions | (() => DropInOptions) = {},
  script: string = page.baseURI,
): Antway {
  return connect(options, script).antway;
}

/** The API, and what a larger API needs. */
interface Connection {
  antway: Antway;
  /** The absolute URL of the content, and all names of the worker: undefined if none answers. */
  place(): [base: string, names: Readonly<Record<string, string>> | undefined];
}

/** As `createAntway`. @param signal ends the watching of the page. */
export function connect(
  options: DropInOptions | (() => DropInOptions),
  script: string,
  signal?: AbortSignal,
): Connection {
  let resolved: ResolvedOptions | undefined;
  // An absolute URL, since a page's `<base>` may be on another origin.
  let contentBase = `${location.origin}/ant/`;
  let names: ServerConfig['names'];
  let worker: WorkerConfig | undefined;
  let endPlaceholders = () => {};
  let rewriter: Rewriter | undefined;
  /** Roots to watch once the URL of the content is known. */
  let roots: (Document | ShadowRoot)[] = [document];
  const controller = () => navigator.serviceWorker?.controller?.scriptURL;
  const former = controller();

  const start = async (): Promise<void> => {
    resolved = resolveOptions(typeof options === 'function' ? options() : options, script);
    contentBase = resolved.prefix.href;
    endPlaceholders = showPlaceholders(resolved);
    worker = await control(resolved);
  };

  const rewriteIn = (place: Place): void => {
    rewriter = new Rewriter(place, signal);
    for (const root of roots) rewriter.watch(root);
    roots = [];
    endPlaceholders();
  };

  const worked = (): void => {
    rewriteIn({ prefix: contentBase, base: contentBase, worker: worker! });
    // Before the start, the page had no worker, or a worker with other options. Early requests may have failed.
    if (controller() !== former) reloadEarly(page, contentBase);
    announce('ready', { base: contentBase });
  };

  const failed = async (error: Error): Promise<void> => {
    await untilParsed();
    const gateway = resolved?.gateway;
    const prefix = contentBase;
    if (gateway) {
      // Another gateway does not know the site's names. It knows only addresses.
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
  // `failed` has already reported the error. A page that does not use `ready` must not get an unhandled rejection.
  ready.catch(() => {});

  const url = (address: string, path = ''): string =>
    urlOf(address, contentBase, null, names, worker?.names) +
    (path && withoutDots(`/${path.split('/').map(encodeURIComponent).join('/')}`));

  /** The JSON of an answer, whose type the caller knows. */
  const endpoint = async <T>(name: string, init?: RequestInit): Promise<T> => {
    await ready;
    if (!worker) throw new DropInError('WORKERS_UNAVAILABLE', 'This page has no worker.');
    const response = await fetch(`${contentBase}-/${name}`, init);
    // The answer to DELETE has no body.
    const answer = await response.json().catch(() => ({}));
    if (response.ok) return answer;
    throw new DropInError('FAILED', `${answer.code}: ${answer.message}`, undefined, { cause: answer });
  };

  const antway: Antway = {
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
      // For another gateway, this header would cause a CORS preflight request.
      if (worker) headers.set(asDataHeader, '1');
      return fetch(url(address, path), { ...init, headers });
    },
    stats: () => endpoint('stats'),
    pin: (address) => endpoint('pins', { method: 'POST', body: JSON.stringify({ address, action: 'pin' }) }),
    async unpin(address) {
      await endpoint(`pins?address=${encodeURIComponent(address)}`, { method: 'DELETE' });
    },
    pins: async () => (await endpoint<{ pins: Pin[] }>('pins')).pins,
  };
  return { antway, place: () => [contentBase, worker?.names] };
}

function announce(name: 'ready' | 'error', detail: unknown): void {
  page.dispatchEvent(new CustomEvent(`antway:${name}`, { detail }));
}
