import { join } from 'node:path';
import type { Browser, Page } from '@playwright/test';
import type { Browser as Firefox } from 'puppeteer-core';
import { Address } from '../../src/address.ts';
import { siteOrigin } from '../../src/gateway/origins/site-host.ts';
import { launchFirefox } from '../support/firefox.ts';
import { GatewayClient } from '../support/gateway-client.ts';
import { readAll, readSite, refusesWithoutConsent, startHostWithoutPeers, type Timed } from './app.ts';
import type { Item } from './content.ts';
import type { Devnet, Prepared } from './devnet.ts';
import { readFromNodes } from './direct.ts';
import { type Row, seconds } from './rows.ts';

/** The longest time until the app has connected to nodes, and until it shows a site, in milliseconds. */
const mostMs = 60_000;

/**
 * The app in Debian's Firefox reads from the nodes, without a peer: every file of each item, a range, the pointer, an absent
 * address, and a site on an origin of its own, in the viewer.
 */
export async function readInAppOfFirefox(
  folder: string,
  network: Devnet,
  items: readonly Item[],
  pointer: Prepared['pointer'],
): Promise<Row[]> {
  const host = await startHostWithoutPeers(folder, network);
  const firefox = await launchFirefox(join(folder, 'firefox-app'));
  try {
    const root = `http://antway.localhost:${new URL(host.url).port}`;
    const shell = await firefox.newPage();
    await shell.goto(root);
    await shell.waitForFunction(() => navigator.serviceWorker.controller?.state === 'activated');
    const gateway = new GatewayClient(host, shell);
    await refusesWithoutConsent(gateway, items[0]!);
    await shell.goto(`${root}/#settings`);
    const name = 'Connect to nodes of the network without a peer';
    await (await shell.waitForSelector(`::-p-aria([name="${name}"])`))!.click();
    const isDirect = () => document.querySelector('.status')?.textContent?.includes('Direct');
    await shell.waitForFunction(isDirect, { timeout: mostMs });
    const rows = await readAll(gateway, items, pointer);
    rows.push(await openOnOwnOrigin(firefox, root, items[3]!));
    return rows.map((row) => ({ step: 'nodes → app in Firefox, without a peer', ...row }));
  } finally {
    await firefox.close();
    await host.stop();
  }
}

/** A second page of the app shows the site, while the first one has the connections. */
async function openOnOwnOrigin(firefox: Firefox, root: string, site: Item): Promise<Timed> {
  const startedMs = performance.now();
  const page = await firefox.newPage();
  await page.goto(`${root}/#view=${site.address}/`);
  const origin = siteOrigin(Address.fromHex(site.address), root)!;
  const frame = await page.waitForFrame(
    (each) => each.url().startsWith(`${origin}/`) && !each.url().includes('/-/'),
    { timeout: mostMs },
  );
  await frame.waitForSelector('::-p-aria([name="Pictures"][role="heading"])', { timeout: mostMs });
  await readSite(frame, site);
  return { item: 'the site on an origin of its own', seconds: seconds(startedMs) };
}

/** As `readFromNodes`, in Debian's Firefox. */
export async function readInFirefox(
  folder: string,
  network: Devnet,
  items: readonly Item[],
  pointer: Prepared['pointer'],
  film: Item,
): Promise<Row[]> {
  const firefox = await launchFirefox(join(folder, 'firefox'));
  // `readFromNodes` uses this part of Playwright's browser. Puppeteer passes the argument of a condition in another place.
  const browser = {
    newContext: async () => {
      const context = await firefox.createBrowserContext();
      const newPage = async () => {
        const page = await context.newPage();
        return {
          goto: (url: string) => page.goto(url),
          evaluate: page.evaluate.bind(page),
          waitForFunction: (condition: () => unknown, argument: unknown) =>
            page.waitForFunction(condition, { timeout: 0 }, argument),
        } as unknown as Page;
      };
      return { newPage, close: () => context.close() };
    },
  } as unknown as Browser;
  try {
    return await readFromNodes(browser, folder, network, items, pointer, film, 'nodes → Firefox');
  } finally {
    await firefox.close();
  }
}
