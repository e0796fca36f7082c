import { readFile } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { lookup } from 'mrmime';
import { LoopbackServer } from './loopback-server.ts';

/** A file in place of the folder's: its bytes, or what the folder's are made into. */
type Override = string | Buffer | ((original: Buffer) => string | Buffer);

export interface StaticHostOptions {
  /** Folders whose files are served; the first that has a file wins. */
  folders: readonly string[];
  /** By path on the host, with a slash in front. */
  files?: Record<string, Override>;
  /** Texts to put in place of others in the folders' HTML, CSS and JavaScript. */
  replace?: Record<string, string>;
  /** Where the folders are mounted, with a slash at both ends; `/` if not given. */
  base?: string;
  /** Sent with every answer, or with that of a path. */
  headers?: Record<string, string> | ((path: string) => Record<string, string>);
}

/** A static host for a site: files, an index per folder, 404, the headers it was told to send. Nothing else. */
export class StaticHost {
  /** Paths that were asked for, in order. */
  readonly requests: string[] = [];

  #server!: LoopbackServer;

  private constructor(private readonly options: StaticHostOptions) {}

  static async start(options: StaticHostOptions): Promise<StaticHost> {
    const host = new StaticHost(options);
    const { headers } = options;
    host.#server = await LoopbackServer.start(async (request, response) => {
      const { pathname } = new URL(request.url!, 'http://host');
      host.requests.push(pathname);
      const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname;
      const body = await host.#read(path);
      const type = lookup(path) ?? 'application/octet-stream';
      response.writeHead(body ? 200 : 404, {
        'Content-Type': body ? `${type}${type.startsWith('text/') ? '; charset=utf-8' : ''}` : 'text/plain',
        'Cache-Control': 'no-cache',
        ...(typeof headers === 'function' ? headers(path) : headers),
      });
      response.end(request.method === 'HEAD' ? undefined : (body ?? 'There is no such file.'));
    });
    return host;
  }

  /** Origin, without a slash at its end. */
  get url(): string {
    return this.#server.url;
  }

  async #read(path: string): Promise<string | Buffer | undefined> {
    const { folders, files = {}, base = '/' } = this.options;
    const override = files[path];
    if (override !== undefined && typeof override !== 'function') return override;
    if (!path.startsWith(base)) return undefined;
    for (const folder of folders) {
      const file = join(folder, normalize(`/${decodeURIComponent(path.slice(base.length))}`));
      const bytes = await readFile(file).catch(() => undefined);
      if (bytes) return override ? override(bytes) : this.#replaced(path, bytes);
    }
    return undefined;
  }

  #replaced(path: string, bytes: Buffer): string | Buffer {
    const { replace } = this.options;
    if (!replace || !/\.(html|css|m?js)$/.test(path)) return bytes;
    return Object.entries(replace).reduce((text, [from, to]) => text.replaceAll(from, to), bytes.toString());
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
