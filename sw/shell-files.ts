import { build } from '../src/build.ts';
import { siteOfHost } from '../src/gateway/origins/site-host.ts';
import { isForSites, shellHeaders } from './shell-headers.ts';
import type { ExpectedFile, VerifiedFiles } from './verified-files.ts';

export const shellDocument = '/index.html';

/** The page that a site's own origin shows before its first content. */
export const sitePage = '/-/site.html';

const installed = new Map(Object.entries(build?.installed ?? {}));
const hashes = new Map([...installed, ...Object.entries(build?.optional ?? {})]);

/** The verified files of this build. None in development: the development server serves all of them. */
export class ShellFiles {
  readonly #files: VerifiedFiles;
  readonly #host: string;
  /** Only files that pages load repeatedly. WebAssembly and images are too large to hold in memory. */
  readonly #memory = new Map<string, Uint8Array<ArrayBuffer>>();

  readonly #installed: readonly ExpectedFile[];
  readonly #isSite: boolean;

  /** @param host name and port of this origin. @param decoder the WebAssembly that a site's own origin also stores. */
  constructor(files: VerifiedFiles, host: string, decoder: ExpectedFile) {
    this.#files = files;
    this.#host = host;
    this.#isSite = siteOfHost(host) !== undefined;
    const own = Array.from(installed.keys()).filter((path) => isForSites(path) === this.#isSite);
    this.#installed = this.#isSite ? [...own.map(expected), decoder] : own.map(expected);
  }

  pathOf(pathname: string): string | undefined {
    // URLs of pages below `/-/` do not contain the file extension.
    const page = /^\/-\/\w+$/.test(pathname) ? `${pathname}.html` : pathname;
    const path = page === '/' ? shellDocument : page;
    return hashes.has(path) && isForSites(path) === this.#isSite ? path : undefined;
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
    return new Response(bytes, { headers: shellHeaders(path, this.#host) });
  }
}

function expected(url: string): ExpectedFile {
  return { url, sha256: hashes.get(url)! };
}
