/// <reference lib="webworker" />
import { AntwayError } from '../src/errors.ts';
import { fetchFromHost } from '../src/gateway/state/fetch-from-host.ts';
import { limits } from '../src/limits.ts';

declare const self: ServiceWorkerGlobalScope;

type Bytes = Uint8Array<ArrayBuffer>;

/** How long the other origin may take to begin its answer, in milliseconds. */
const sharedMs = 3_000;

/** The SHA-256 is in base64. */
export interface ExpectedFile {
  url: string;
  sha256: string;
  /** Where another origin has the file, which the browser probably has in its HTTP cache. */
  sharedUrl?: string | undefined;
}

export interface FileCounters {
  fileDamaged(): void;
  fileRefused(): void;
}

/**
 * Files of the host whose hashes the worker knows: from its own script, or from the list of hashes that the script
 * verifies. Every page of the origin that runs scripts can change the cache. Therefore this class uses only the bytes of
 * a cached response, after it has checked their hash.
 */
export class VerifiedFiles {
  readonly #cacheName: string;
  readonly #counters: FileCounters;
  /** Reads in progress, by cache key. */
  readonly #reads = new Map<string, Promise<Bytes>>();

  constructor(cacheName: string, counters: FileCounters) {
    this.#cacheName = cacheName;
    this.#counters = counters;
  }

  /**
   * Returns the file's bytes from the cache. If the cache does not have the file, fetches it once from the host.
   * @param mustStore whether to throw if the file cannot be stored.
   * @param priority of the request to the host.
   * @throws AntwayError `HOST_UNREACHABLE` if neither the cache nor the host has the file, `BUILD_MISMATCH` if the host
   *   has a different file.
   */
  read(file: ExpectedFile, mustStore = false, priority: RequestPriority = 'auto'): Promise<Bytes> {
    const key = keyOf(file);
    let reading = this.#reads.get(key);
    if (!reading) {
      reading = this.#read(file, key, mustStore, priority).finally(() => this.#reads.delete(key));
      this.#reads.set(key, reading);
    }
    return reading;
  }

  /** Returns WebAssembly as a response that the browser can compile. Parameters and errors as for `read`. */
  async readWasm(file: ExpectedFile): Promise<Response> {
    return new Response(await this.read(file), { headers: { 'Content-Type': 'application/wasm' } });
  }

  /** The files that the cache lacks. Reads no file. Undefined if the browser blocks the storage. */
  async missing(files: readonly ExpectedFile[]): Promise<ExpectedFile[] | undefined> {
    const cache = await caches.open(this.#cacheName).catch(() => undefined);
    if (!cache) return undefined;
    const stored = new Set((await cache.keys()).map(({ url }) => url));
    return files.filter((file) => !stored.has(keyOf(file)));
  }

  /**
   * Deletes all other files of the cache.
   * @param further called only if there are others: the files that also stay.
   */
  async forgetOthers(
    files: readonly ExpectedFile[],
    further?: () => Promise<readonly ExpectedFile[]>,
  ): Promise<void> {
    if (!(await caches.has(this.#cacheName))) return;
    const cache = await caches.open(this.#cacheName);
    let others = await cache.keys();
    const leave = (files: readonly ExpectedFile[]) => {
      const keys = files.map(keyOf);
      others = others.filter(({ url }) => !keys.includes(url));
    };
    leave(files);
    if (others.length > 0 && further) leave(await further());
    await Promise.all(others.map((request) => cache.delete(request, { ignoreVary: true })));
  }

  async #read(
    file: ExpectedFile,
    key: string,
    mustStore: boolean,
    priority: RequestPriority,
  ): Promise<Bytes> {
    // If storage is blocked, the file comes from the host each time.
    const cache = await caches.open(this.#cacheName).catch(() => undefined);
    const cached = await cache?.match(key, { ignoreVary: true }).catch(() => undefined);
    if (cached) {
      const bytes = await verifiedBytes(cached, file);
      if (bytes) return bytes;
      this.#counters.fileDamaged();
      console.error(`antway: the cached ${file.url} is damaged; it is fetched again`);
    }
    const bytes = (await sharedBytes(file, priority)) ?? (await this.#fetch(file, priority));
    try {
      // `put` does not replace entries with other `Vary` headers, and `match` would find those entries first.
      if (cached) await cache?.delete(key, { ignoreVary: true });
      await cache?.put(key, new Response(bytes));
    } catch (error) {
      if (mustStore) throw error;
      console.warn(`antway: ${file.url} could not be stored`, error);
    }
    return bytes;
  }

  async #fetch(file: ExpectedFile, priority: RequestPriority): Promise<Bytes> {
    // A page has often just loaded the file. If the browser's HTTP cache has a wrong one, its entry may be valid for a year.
    for (const cache of ['default', 'no-cache'] as const) {
      let response: Response | undefined;
      try {
        response = await fetchFromHost(file.url, { cache, priority });
        if (!response?.ok)
          throw new Error(`it answered ${response?.status ?? 'with a redirect to another origin'}`);
      } catch (cause) {
        this.#counters.fileRefused();
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new AntwayError(
          'HOST_UNREACHABLE',
          `The host did not give ${file.url}: ${why}.`,
          {},
          { cause },
        );
      }
      const bytes = await verifiedBytes(response, file);
      if (bytes) return bytes;
    }
    this.#counters.fileRefused();
    console.error(`antway: the host has another ${file.url} than this version was built with`);
    throw new AntwayError(
      'BUILD_MISMATCH',
      `The host has another ${file.url} than this version was built with.`,
    );
  }
}

/** Each version of a file has its own key: the active version uses its files until the new version replaces it. */
function keyOf({ url, sha256 }: ExpectedFile): string {
  const key = new URL(url, self.location.href);
  key.search = `?sha256=${encodeURIComponent(sha256)}`;
  return key.href;
}

/** @returns undefined if there is no other origin, or it does not have the file. */
async function sharedBytes(file: ExpectedFile, priority: RequestPriority): Promise<Bytes | undefined> {
  if (!file.sharedUrl) return undefined;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), sharedMs);
  const { signal } = late;
  // If the browser's HTTP cache has a wrong file, the file comes from this origin's own host.
  const init: RequestInit = { credentials: 'omit', redirect: 'error', priority, signal };
  try {
    const response = await fetch(file.sharedUrl, init).finally(() => clearTimeout(timer));
    return response.ok ? await verifiedBytes(response, file) : undefined;
  } catch {
    return undefined;
  }
}

/** @returns undefined if the hash of the bytes differs. */
async function verifiedBytes({ body }: Response, { sha256 }: ExpectedFile): Promise<Bytes | undefined> {
  const pieces: Bytes[] = [];
  let size = 0;
  try {
    // Redirects and opaque responses have no body.
    const reader = body?.getReader();
    for (let next = await reader?.read(); next && !next.done; next = await reader!.read()) {
      pieces.push(next.value);
      size += next.value.length;
      // A page can replace a cached file with an endless stream.
      if (size <= limits.shellFileBytes) continue;
      void reader!.cancel();
      return undefined;
    }
  } catch {
    return undefined;
  }
  const bytes = new Uint8Array(size);
  let end = 0;
  for (const piece of pieces) {
    bytes.set(piece, end);
    end += piece.length;
  }
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return btoa(String.fromCharCode(...hash)) === sha256 ? bytes : undefined;
}
