import type { Browser, HTTPResponse, Page } from 'puppeteer-core';
import { test as base } from 'vitest';
import { createProfile, removeProfile } from '../support/browser-profile.ts';
import { evaluateInFirefox, launchFirefox } from '../support/firefox.ts';
import { GatewayClient } from '../support/gateway-client.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { type ProcessFixtures, processes } from '../support/processes.ts';

export type { Page };

/**
 * Does what “Work Offline” in Firefox's menu does, which its workers notice, too; puppeteer's own way only tells one page
 * that it is offline. Loopback can still be reached.
 */
export async function setOffline(browser: Browser, isOffline: boolean): Promise<void> {
  await evaluateInFirefox(browser, `Services.io.offline = ${isOffline}`);
}

/** The shell of a gateway in a page whose worker runs. */
export class Gateway extends GatewayClient<Page> {
  static async open(host: PeerProcess, browser: Browser): Promise<Gateway> {
    const shell = await browser.newPage();
    await shell.goto(host.url);
    await shell.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
    return new Gateway(host, shell);
  }

  /** Opens a path of the gateway in a new page. */
  async openPage(path: string): Promise<{ page: Page; response: HTTPResponse }> {
    const page = await this.shell.browser().newPage();
    const response = await page.goto(this.url + path);
    return { page, response: response! };
  }
}

/** Answers the question of a first visit. */
export async function decide(
  page: Page,
  answer: 'Open without scripts' | 'Trust this site' | 'Yes, run its scripts',
): Promise<void> {
  const button = await page.waitForSelector(`::-p-aria([name="${answer}"][role="button"])`);
  await page.waitForFunction(() => document.querySelector('[aria-disabled=false]'));
  await Promise.all([page.waitForNavigation(), button!.click()]);
}

interface Fixtures extends ProcessFixtures {
  /** Starts a host with these peers and opens its shell. */
  openGateway(...peers: PeerProcess[]): Promise<Gateway>;
}

/** With one browser for all tests of a file: each has an origin of its own. */
export const test = base.extend<Fixtures & { browser: Browser }>({
  ...processes,

  browser: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern what a fixture needs
    async ({}, use) => {
      const profile = createProfile();
      const browser = await launchFirefox(profile);
      await use(browser);
      await browser.close();
      await removeProfile(profile);
    },
    { scope: 'file' },
  ],

  openGateway: async ({ startHost, browser }, use) => {
    const opened: Gateway[] = [];
    await use(async (...peers) => {
      const host = await startHost({ peers: peers.map(({ url }) => url) });
      const gateway = await Gateway.open(host, browser);
      opened.push(gateway);
      return gateway;
    });
    for (const page of await browser.pages()) {
      if (opened.some(({ host }) => page.url().startsWith(host.url))) await page.close();
    }
  },
});
