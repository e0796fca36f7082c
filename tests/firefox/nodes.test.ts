import type { Browser, Page } from 'puppeteer-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { NodePage } from '../browser/node-page/node-page.ts';
import { createProfile, removeProfile } from '../support/browser-profile.ts';
import { launchFirefox } from '../support/firefox.ts';
import { acceptElsewhere, NodeBrowser } from '../support/node-browser.ts';

declare const nodePage: NodePage;

const sizes = [322, 100_000, 4 * 1024 * 1024];
const absent = `${'00'.repeat(31)}77`;

let nodes: NodeBrowser;
let profile: string;
let browser: Browser;

beforeAll(async () => {
  nodes = await NodeBrowser.start(['honest', 'forger', 'honest', 'honest', 'honest'], sizes);
  profile = createProfile();
  browser = await launchFirefox(profile);
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await nodes?.stop();
  await removeProfile(profile);
});

async function openClient(): Promise<Page> {
  const page = await browser.newPage();
  await page.exposeFunction(acceptElsewhere, nodes.accept);
  await page.goto(nodes.url);
  await page.waitForFunction(() => 'nodePage' in globalThis);
  await page.evaluate((addresses) => nodePage.openElsewhere(addresses), nodes.addresses.slice(0, 2));
  return page;
}

it('a window of Firefox reads small and large chunks from nodes, also past one that lies', async () => {
  const page = await openClient();
  for (const [i, address] of nodes.chunks.entries()) {
    const result = await page.evaluate((address) => nodePage.read(address), address);
    expect(result).toMatchObject({ code: 'ok', bytes: sizes[i] });
  }
  expect((await page.evaluate((address) => nodePage.read(address), absent)).code).toBe('NOT_FOUND');
  await page.close();
}, 300_000);
