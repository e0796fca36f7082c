import { build } from '../src/build.ts';
import { siteOfHost } from '../src/gateway/origins/site-host.ts';
import { delay } from '../src/util/delay.ts';
import { isForSites, servedHeaders } from './shell-headers.ts';
import type { ExpectedFile, VerifiedFiles } from './verified-files.ts';

export const shellDocument = '/index.html';

/** The page that a site's own origin shows before its first content. */
export const sitePage = '/-/site.html';

/** How long opened content may load before the worker stores the rest of the shell, in milliseconds. */
const contentFirstMs = 5_000;

const first = Object.keys(build?.first ?? {});
const installed = [...first, ...Object.keys(build?.installed ?? {})];
const hashes = new Map(Object.entries({ ...build?.first, ...build?.installed, ...build?.optional }));

/** The verified files of this build. None in development: the development server serves all of them. */
export class ShellFiles {
  readonly #files: VerifiedFiles;
  readonly #host: string;
  /** Only files that pages load repeatedly. WebAssembly and images are too large to hold in memory. */
  readonly #memory = new Map<string, Uint8Array<ArrayBuffer>>();

  readonly #first: readonly ExpectedFile[];
  readonly #installed: readonly ExpectedFile[];
  #completing: Promise<boolean> | undefined;
  #isDue = false;
  readonly #ending = new AbortController();
  readonly #isSite: boolean;

  /** @param host name and port of this origin. @param decoder the WebAssembly that a site's own origin also stores. */
  constructor(files: VerifiedFiles, host: string, decoder: ExpectedFile) {
    this.#files = files;
    this.#host = host;
    this.#isSite = siteOfHost(host) !== undefined;
    const own = (paths: readonly string[]) =>
      paths.filter((path) => isForSites(path) === this.#isSite).map(expected);
    this.#installed = this.#isSite ? [...own(installed), decoder] : own(installed);
    this.#first = this.#isSite ? this.#installed : own(first);
  }

  pathOf(pathname: string): string | undefined {
    // URLs of pages below `/-/` do not contain the file extension.
    const page = /^\/-\/[\w-]+$/.test(pathname) ? `${pathname}.html` : pathname;
    const path = page === '/' ? shellDocument : page;
    return hashes.has(path) && isForSites(path) === this.#isSite ? path : undefined;
  }

  /** Stores what the first screen needs. `complete` stores the rest. @throws AntwayError as `VerifiedFiles.read`. */
  async installFirst(): Promise<void> {
    await Promise.all(this.#first.map((file) => this.#files.read(file)));
  }

  /**
   * Stores the files that are missing, one after the other. Each stays stored if the worker stops before the end. A file that
   * cannot be had or stored does not stop the others.
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
   * As `complete`, after content had time to load. Undefined if this is not the first call since the worker started. The first
   * visit may be by a link to content, and then no page of the shell calls `complete`.
   */
  completeLater(): Promise<boolean> | undefined {
    if (this.#isDue) return undefined;
    this.#isDue = true;
    return delay(contentFirstMs, this.#ending.signal).then(
      () => this.complete(),
      () => false,
    );
  }

  /** Ends `complete` for good. A newer version could otherwise wait for minutes until a slow host has answered. */
  handOver(): void {
    this.#ending.abort();
  }

  async #complete(): Promise<boolean> {
    const { signal } = this.#ending;
    const ended = new Promise((resolve) => signal.addEventListener('abort', resolve));
    // Content needs WebAssembly: what was pinned soon after the first visit has to open offline.
    const wasmFirst = this.#installed.toSorted((a, b) => rank(a) - rank(b));
    const problems: unknown[] = [];
    for (const file of (await this.#files.missing(wasmFirst)) ?? []) {
      const reading = this.#files.read(file, false, 'low').catch((error) => problems.push(error));
      await Promise.race([reading, ended]);
      if (signal.aborted) return false;
    }
    if (problems.length > 0) throw problems[0];
    return (await this.#files.missing(this.#installed))?.length === 0;
  }

  /**
   * Stores all files that the shell needs offline.
   * @param mustStore whether to throw if the browser cannot store a file.
   * @throws AntwayError as `VerifiedFiles.read`.
   */
  async install(mustStore: boolean): Promise<void> {
    await Promise.all(this.#installed.map((file) => this.#files.read(file, mustStore)));
  }

  /** Deletes the files that earlier builds stored. */
  forgetOthers(): Promise<void> {
    return this.#files.forgetOthers(this.#installed);
  }

  /** @param path path of a file, from `pathOf`. @throws AntwayError as `VerifiedFiles.read`. */
  async response(path: string): Promise<Response> {
    let bytes = this.#memory.get(path);
    if (!bytes) {
      bytes = await this.#files.read(expected(path));
      if (/\.(html|js|css|svg)$/.test(path)) this.#memory.set(path, bytes);
    }
    return new Response(bytes, { headers: servedHeaders(path, this.#host) });
  }
}

function rank({ url }: ExpectedFile): number {
  return url.endsWith('.wasm') ? 0 : 1;
}

function expected(url: string): ExpectedFile {
  return { url, sha256: hashes.get(url)! };
}
