import { build, filesList } from '../src/build.ts';
import type { Deployment } from '../src/gateway/deployment.ts';
import { delay } from '../src/util/delay.ts';
import { isForSites, servedHeaders } from './shell-headers.ts';
import type { ExpectedFile, VerifiedFiles } from './verified-files.ts';

export const shellDocument = '/index.html';

/** The page that a site's own origin shows before its first content. */
export const sitePage = '/-/site.html';

/** The style of pages on both kinds of origins. A first installation does not store it. */
const pageStyle = '/-/page.css';

/** How long opened content may load before the worker stores the rest of the shell, in milliseconds. */
const contentFirstMs = 5_000;
/** How long after a failure the worker does not store the rest by itself, in milliseconds. */
const completeAgainMs = 60_000;
/** Content shares the user's link. While some is loading, storing pauses: for at most this time in all, in milliseconds. */
const pauseMs = 20_000;
const pauseStepMs = 100;

const firstHashes = new Map(Object.entries(build?.first ?? {}));
const first = [...firstHashes.keys()];
const installed = [...first, ...(build?.installed ?? [])];
const known = new Set([...installed, ...(build?.optional ?? [])]);

/** The verified files of this build. None in development: the development server serves all of them. */
export class ShellFiles {
  readonly #files: VerifiedFiles;
  readonly #host: string;
  /** Only files that pages load repeatedly. WebAssembly and images are too large to hold in memory. */
  readonly #memory = new Map<string, Uint8Array<ArrayBuffer>>();

  readonly #first: readonly string[];
  readonly #installed: readonly string[];
  readonly #decoder: ExpectedFile;
  /** The hashes of `filesList`. Undefined until a file of it is needed. */
  #listed: Promise<Map<string, string>> | undefined;
  #completing: Promise<boolean> | undefined;
  /** When `completeLater` works again, in milliseconds since 1970. */
  #dueAt = 0;
  readonly #ending = new AbortController();
  readonly #hasShell: boolean;
  readonly #isLoadingContent: () => boolean;

  /**
   * @param decoder the WebAssembly that a site's own origin also stores.
   * @param isLoadingContent whether the worker is answering requests for content.
   */
  constructor(
    files: VerifiedFiles,
    { origin, hasShell }: Deployment,
    decoder: ExpectedFile,
    isLoadingContent: () => boolean,
  ) {
    this.#files = files;
    this.#host = new URL(origin).host;
    this.#isLoadingContent = isLoadingContent;
    this.#hasShell = hasShell;
    this.#decoder = decoder;
    this.#installed = installed.filter((path) => this.#isHere(path));
    this.#first = first.filter((path) => this.#isHere(path) && path !== pageStyle && path !== filesList);
  }

  pathOf(pathname: string): string | undefined {
    // URLs of pages below `/-/` do not contain the file extension.
    const page = /^\/-\/[\w-]+$/.test(pathname) ? `${pathname}.html` : pathname;
    const path = page === '/' ? shellDocument : page;
    return known.has(path) && this.#isHere(path) ? path : undefined;
  }

  /**
   * Stores what the first screen needs. `complete` stores the rest. On a site's own origin this stores nothing: the first
   * screen is the site's. @throws AntwayError as `VerifiedFiles.read`.
   */
  async installFirst(): Promise<void> {
    if (!this.#hasShell) return;
    const files = await this.#expectedFiles(this.#first);
    await Promise.all(files.map((file) => this.#files.read(file)));
  }

  /**
   * Stores the files that are missing, one after the other, and pauses while content is loading. Each file stays stored if
   * the worker stops before the end. A file that cannot be had or stored does not stop the others.
   * @returns false if the browser cannot store a file, or after `handOver`.
   * @throws AntwayError of the first file that could not be read, as `VerifiedFiles.read`.
   */
  complete(): Promise<boolean> {
    this.#completing ??= this.#complete().finally(() => {
      this.#completing = undefined;
    });
    return this.#completing;
  }

  /**
   * As `complete`, after content had time to load. The first visit may be by a link to content, and then no page of the shell
   * calls `complete`. Undefined after the first call since the worker started, and soon after a failure.
   */
  completeLater(): Promise<boolean> | undefined {
    if (Date.now() < this.#dueAt) return undefined;
    this.#dueAt = Number.POSITIVE_INFINITY;
    const completing = delay(contentFirstMs, this.#ending.signal).then(
      () => this.complete(),
      () => false,
    );
    return completing.catch((error) => {
      this.#dueAt = Date.now() + completeAgainMs;
      throw error;
    });
  }

  /** Ends `complete` for good. A newer version could otherwise wait for minutes until a slow host has answered. */
  handOver(): void {
    this.#ending.abort();
  }

  async #complete(): Promise<boolean> {
    const { signal } = this.#ending;
    const ended = new Promise((resolve) => signal.addEventListener('abort', resolve));
    // Content needs WebAssembly: a site that was pinned soon after the first visit has to open offline.
    const files = await Promise.race([this.#expectedFiles(this.#installed), ended.then(() => undefined)]);
    if (!files) return false;
    const wasmFirst = files.toSorted((a, b) => rank(a) - rank(b));
    const problems: unknown[] = [];
    const pauseUntil = Date.now() + pauseMs;
    for (const file of (await this.#files.missing(wasmFirst)) ?? []) {
      while (this.#isLoadingContent() && Date.now() < pauseUntil && !signal.aborted) await delay(pauseStepMs);
      if (signal.aborted) return false;
      const reading = this.#files.read(file, false, 'low').catch((error) => problems.push(error));
      await Promise.race([reading, ended]);
      if (signal.aborted) return false;
    }
    if (problems.length > 0) throw problems[0];
    return (await this.#files.missing(files))?.length === 0;
  }

  /**
   * Stores all files that the shell needs offline.
   * @param mustStore whether to throw if the browser cannot store a file.
   * @throws AntwayError as `VerifiedFiles.read`.
   */
  async install(mustStore: boolean): Promise<void> {
    const files = await this.#expectedFiles(this.#installed);
    await Promise.all(files.map((file) => this.#files.read(file, mustStore)));
  }

  /** Deletes the files that earlier builds stored. Without any, it loads no list. */
  async forgetOthers(): Promise<void> {
    const all = () => this.#expectedFiles(this.#installed);
    await this.#files.forgetOthers(await this.#expectedFiles(this.#first), all);
  }

  /** @param path path of a file, from `pathOf`. @throws AntwayError as `VerifiedFiles.read`. */
  async response(path: string): Promise<Response> {
    let bytes = this.#memory.get(path);
    if (!bytes) {
      bytes = await this.#files.read(await this.#expected(path));
      if (/\.(html|js|css|svg)$/.test(path)) this.#memory.set(path, bytes);
    }
    return new Response(bytes, { headers: servedHeaders(path, this.#host) });
  }

  /** @param paths of this origin. Adds the decoder on a site's own origin. @throws AntwayError as `VerifiedFiles.read`. */
  async #expectedFiles(paths: readonly string[]): Promise<ExpectedFile[]> {
    const files = await Promise.all(paths.map((path) => this.#expected(path)));
    return this.#hasShell ? files : [...files, this.#decoder];
  }

  async #expected(url: string): Promise<ExpectedFile> {
    const sha256 = firstHashes.get(url);
    return { url, sha256: sha256 ?? (await this.#readList()).get(url)! };
  }

  #isHere(path: string): boolean {
    return path === pageStyle || isForSites(path) !== this.#hasShell;
  }

  #readList(): Promise<Map<string, string>> {
    this.#listed ??= this.#files
      .read({ url: filesList, sha256: firstHashes.get(filesList)! })
      .then((bytes) => new Map<string, string>(Object.entries(JSON.parse(new TextDecoder().decode(bytes)))))
      .catch((error) => {
        this.#listed = undefined;
        throw error;
      });
    return this.#listed;
  }
}

function rank({ url }: ExpectedFile): number {
  return url.endsWith('.wasm') ? 0 : 1;
}
