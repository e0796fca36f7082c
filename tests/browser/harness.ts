import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, test as base, expect, type Page } from '@playwright/test';
import type { StatsSnapshot } from '../../src/stats/stats.ts';
import { distFolder } from './paths.ts';
import { type PeerOptions, PeerProcess } from './peer.ts';

export { expect };

/** The contents of `antway.json`. */
export interface HostConfig {
  peers: readonly string[];
  isolation?: 'path' | 'subdomain';
  names?: Record<string, string>;
  trusted?: readonly string[];
  denied?: readonly string[];
  cache?: { maxBytes?: number; memoryBytes?: number };
  transport?: 'auto' | 'webtransport' | 'http';
  usePeersOfPeers?: boolean;
}

/** What a page got from `fetch`. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  size: number;
  sha256: string;
  /** The body, where it is short enough to be read by a person. */
  text: string;
}

/** What of `RequestInit` can be handed to a page. */
export type FetchOptions = Pick<RequestInit, 'cache' | 'mode' | 'method'> & {
  headers?: Record<string, string>;
  body?: string;
};

interface Fixtures {
  /** A new empty folder, gone after the test. */
  folder: string;
  /** Starts a peer process, which ends with the test. */
  startPeer(options?: PeerOptions): Promise<PeerProcess>;
  /** Starts a host: a peer process without chunks that serves the built gateway and this configuration. */
  startHost(config: HostConfig): Promise<PeerProcess>;
  /** Starts a host and opens its shell in the test's page, or in one of another context. */
  openGateway(config: HostConfig, context?: BrowserContext): Promise<Gateway>;
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs
  folder: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'antway-test-'));
    await use(folder);
    rmSync(folder, { recursive: true, force: true });
  },

  // biome-ignore lint/correctness/noEmptyPattern: as above
  startPeer: async ({}, use) => {
    const started: PeerProcess[] = [];
    await use(async (options) => {
      const peer = await PeerProcess.start(options);
      started.push(peer);
      return peer;
    });
    await Promise.all(started.map((peer) => peer.stop()));
  },

  startHost: async ({ startPeer, folder }, use) => {
    let hosts = 0;
    await use(async (config) => {
      const file = join(folder, `antway-${++hosts}.json`);
      writeFileSync(file, JSON.stringify(config));
      return startPeer({ flags: ['--web', distFolder, '--web-config', file], webTransport: 'none' });
    });
  },

  openGateway: async ({ startHost, page }, use) => {
    await use(async (config, context) => {
      const host = await startHost(config);
      return Gateway.open(host, context ? await context.newPage() : page);
    });
  },
});

/** The shell of a gateway in a page whose worker runs. */
export class Gateway {
  private constructor(
    readonly host: PeerProcess,
    readonly shell: Page,
  ) {}

  static async open(host: PeerProcess, page: Page): Promise<Gateway> {
    await page.goto(host.url);
    await page.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
    return new Gateway(host, page);
  }

  get url(): string {
    return this.host.url;
  }

  /** A new page of the same browser profile, at a path of the gateway. */
  async openPage(path: string): Promise<Page> {
    const page = await this.shell.context().newPage();
    await page.goto(this.url + path);
    await openWithoutScripts(page);
    return page;
  }

  /** What the shell gets when it fetches a path of the gateway. */
  fetch(path: string, options?: FetchOptions): Promise<Answer> {
    return fetchIn(this.shell, path, options);
  }

  stats(): Promise<StatsSnapshot> {
    return this.#internal('stats');
  }

  async peers(): Promise<{ url: string; state: string; corrupt?: number }[]> {
    return (await this.#internal<{ peers: { url: string; state: string }[] }>('peers')).peers;
  }

  cache(): Promise<{ count: number; bytes: number; waiting: number }> {
    return this.#internal('cache');
  }

  /** Resolves when the worker has nothing left to send or to write, so that its counters stand still. */
  async settled(): Promise<void> {
    let before = '';
    await expect
      .poll(async () => {
        const { requests, ...counters } = await this.stats();
        const { waiting } = await this.cache();
        const now = JSON.stringify(counters);
        const standStill = now === before;
        before = now;
        return standStill && requests.active === 0 && waiting === 0;
      })
      .toBe(true);
  }

  async #internal<T>(name: string): Promise<T> {
    const { status, text } = await this.fetch(`/-/${name}`);
    expect(status, text).toBe(200);
    return JSON.parse(text) as T;
  }
}

/** `fetch` in a page, with the whole body read. Rejects as it does there. */
export function fetchIn(page: Page, path: string, options: FetchOptions = {}): Promise<Answer> {
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
    [path, options] as const,
  );
}

/** The `code` of an error answer as JSON. */
export function errorCode({ text }: Answer): string {
  return (JSON.parse(text) as { code: string }).code;
}

/** Answers the question that the gateway asks at the first visit to a site that is not trusted, if it asks. */
export async function openWithoutScripts(page: Page): Promise<void> {
  const button = page.getByRole('button', { name: 'Open without scripts' });
  if (await button.isVisible())
    await Promise.all([page.waitForURL((url) => !url.pathname.startsWith('/-/')), button.click()]);
}

/** Stops the origin's service workers at once, as a browser does when it wants the memory. */
export async function stopWorkers(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.stopAllWorkers');
  await session.detach();
}

/** What Shift-reload does: the request goes past the worker, and the page that comes has none. */
export async function hardReload(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const loaded = page.waitForEvent('load');
  await session.send('Page.reload', { ignoreCache: true });
  await loaded;
  await session.detach();
}
