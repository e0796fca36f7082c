import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer, { type Browser, type HTTPResponse, type Page } from 'puppeteer-core';
import { test as base } from 'vitest';
import { distFolder } from '../browser/paths.ts';
import { type PeerOptions, PeerProcess } from '../browser/peer.ts';

export type { Page };

/** What a page got from `fetch`. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  size: number;
  sha256: string;
  /** The body, where it is short enough to be read by a person. */
  text: string;
}

/** Starts the Firefox that `ANTWAY_FIREFOX` names (`npm test` sets it), or Debian's. */
export function launchFirefox(profile: string): Promise<Browser> {
  return puppeteer.launch({
    browser: 'firefox',
    executablePath: process.env.ANTWAY_FIREFOX ?? '/usr/bin/firefox-esr',
    headless: true,
    userDataDir: profile,
    timeout: 60_000,
    // Media play without a click, as muted ones do for people.
    extraPrefsFirefox: { 'media.autoplay.default': 0 },
  });
}

/** The shell of a gateway in a page whose worker runs. */
export class Gateway {
  private constructor(
    readonly host: PeerProcess,
    readonly shell: Page,
  ) {}

  static async open(host: PeerProcess, browser: Browser): Promise<Gateway> {
    const shell = await browser.newPage();
    await shell.goto(host.url);
    await shell.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
    return new Gateway(host, shell);
  }

  /** Opens a path of the gateway in a new page. */
  async openPage(path: string): Promise<{ page: Page; response: HTTPResponse }> {
    const page = await this.shell.browser().newPage();
    const response = await page.goto(this.host.url + path);
    return { page, response: response! };
  }

  /** What the shell gets when it fetches a path of the gateway. */
  fetch(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.shell.evaluate(
      async (path, headers) => {
        const response = await fetch(path, { headers });
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
      path,
      headers,
    );
  }

  /** An endpoint's answer. */
  async internal<T>(name: string): Promise<T> {
    return JSON.parse((await this.fetch(`/-/${name}`)).text) as T;
  }

  /** Resolves when all that was fetched is on disk. */
  async stored(): Promise<void> {
    for (;;) {
      const { count, waiting } = await this.internal<{ count: number; waiting: number }>('cache');
      const { requests } = await this.internal<{ requests: { active: number } }>('stats');
      if (count > 0 && waiting === 0 && requests.active === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

interface Fixtures {
  /** A new empty folder, gone after the test. */
  folder: string;
  /** Starts a peer process, which ends with the test. */
  startPeer(options?: PeerOptions): Promise<PeerProcess>;
  /** Starts a process that serves the built gateway with these peers. */
  startHost(...peers: PeerProcess[]): Promise<PeerProcess>;
  /** Starts a host and opens its shell. */
  openGateway(...peers: PeerProcess[]): Promise<Gateway>;
}

/** With one browser for all tests of a file: each has an origin of its own. */
export const test = base.extend<Fixtures & { browser: Browser }>({
  browser: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs
    async ({}, use) => {
      const profile = mkdtempSync(join(tmpdir(), 'antway-firefox-'));
      const browser = await launchFirefox(profile);
      await use(browser);
      await browser.close();
      rmSync(profile, { recursive: true, force: true });
    },
    { scope: 'file' },
  ],

  // biome-ignore lint/correctness/noEmptyPattern: as above
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
    await use((...peers) => {
      const file = join(folder, 'antway.json');
      writeFileSync(file, JSON.stringify({ peers: peers.map(({ url }) => url) }));
      return startPeer({ flags: ['--web', distFolder, '--web-config', file], webTransport: 'none' });
    });
  },

  openGateway: async ({ startHost, browser }, use) => {
    const opened: Gateway[] = [];
    await use(async (...peers) => {
      const gateway = await Gateway.open(await startHost(...peers), browser);
      opened.push(gateway);
      return gateway;
    });
    for (const page of await browser.pages()) {
      if (opened.some(({ host }) => page.url().startsWith(host.url))) await page.close();
    }
  },
});
