import type { StatsSnapshot } from '../../src/stats/stats.ts';
import type { PeerProcess } from './peer-process.ts';
import { type ShellPage, storeShell } from './shell-stored.ts';

/** A response to `fetch` in a page. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  size: number;
  sha256: string;
  /** The body, where it is short enough to be read by a user. */
  text: string;
}

/** The members of `RequestInit` that can be passed to a page. */
export type FetchOptions = Pick<RequestInit, 'cache' | 'mode' | 'method'> & {
  headers?: Record<string, string>;
  body?: string;
};

type FetchArguments = [path: string, options: FetchOptions];

/** A page of any browser, whatever drives it: runs a function that is complete in itself. */
export interface DrivenPage {
  evaluate(run: (request: FetchArguments) => Promise<Answer>, request: FetchArguments): Promise<Answer>;
}

/** `fetch` in a page, with the whole body read. Rejects as it does there. */
export function fetchIn(page: DrivenPage, path: string, options: FetchOptions = {}): Promise<Answer> {
  return page.evaluate(
    async ([url, options]) => {
      const response = await fetch(url, options);
      const body = await response.arrayBuffer();
      const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', body));
      return {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        size: body.byteLength,
        sha256: Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join(''),
        text: body.byteLength < 1_000_000 ? new TextDecoder().decode(body) : '',
      };
    },
    [path, options],
  );
}

/** The `code` of an error answer as JSON. */
export function errorCode({ text }: Answer): string {
  return (JSON.parse(text) as { code: string }).code;
}

/** A gateway, wherever it runs. */
export abstract class GatewayApi {
  /** Fetches a path of the gateway as its shell does. */
  abstract fetch(path: string, options?: FetchOptions): Promise<Answer>;

  stats(): Promise<StatsSnapshot> {
    return this.#internal('stats');
  }

  async peers(): Promise<{ url: string; state: string; corrupt?: number }[]> {
    return (await this.#internal<{ peers: { url: string; state: string }[] }>('peers')).peers;
  }

  cache(): Promise<{ count: number; bytes: number; waiting: number }> {
    return this.#internal('cache');
  }

  /** Resolves when the gateway has nothing left to store, send or write, so that its counters stand still. */
  async settled(): Promise<void> {
    let before = '';
    for (;;) {
      const { requests, ...counters } = await this.stats();
      const { waiting } = await this.cache();
      const now = JSON.stringify(counters);
      if (now === before && requests.active === 0 && waiting === 0) return;
      before = now;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async #internal<T>(name: string): Promise<T> {
    const { status, text } = await this.fetch(`/-/${name}`);
    if (status !== 200) throw new Error(`/-/${name} answered ${status}: ${text}`);
    return JSON.parse(text) as T;
  }
}

/** A gateway as its shell reaches it, in any browser. */
export class GatewayClient<Page extends DrivenPage & ShellPage> extends GatewayApi {
  /** @param shell a page with the gateway's shell, or with an empty document in its place, whose worker runs. */
  constructor(
    readonly host: PeerProcess,
    readonly shell: Page,
  ) {
    super();
  }

  get url(): string {
    return this.host.url;
  }

  fetch(path: string, options?: FetchOptions): Promise<Answer> {
    return fetchIn(this.shell, path, options);
  }

  override async settled(): Promise<void> {
    await this.storeFiles();
    await super.settled();
  }

  /** Has the worker store the files of all screens now. The app has it do so some seconds after its start. */
  protected async storeFiles(): Promise<void> {
    await storeShell(this.shell);
  }
}
