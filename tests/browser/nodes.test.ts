import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from '@playwright/test';
import { build } from 'vite';
import { expect, test } from '../support/chromium.ts';
import { fromRoot } from '../support/paths.ts';
import { StaticHost } from '../support/static-host.ts';
import type { NodePage } from './node-page/node-page.ts';
import type { Kind } from './node-page/page-node.ts';

// The page is built once, and all tests open it.
test.describe.configure({ mode: 'default' });

declare const nodePage: NodePage;

let web: string;
let host: StaticHost;
let browser: Browser;
let page: Page;

const absent = `${'00'.repeat(31)}77`;
const honest = (count: number): Kind[] => Array.from({ length: count }, () => 'honest');

test.beforeAll(async ({ playwright, launchOptions }) => {
  web = mkdtempSync(join(tmpdir(), 'antway-node-page-'));
  await build({
    configFile: false,
    root: fromRoot('tests/browser/node-page'),
    logLevel: 'error',
    build: { outDir: web, target: 'es2022', assetsInlineLimit: 0, modulePreload: false, minify: false },
  });
  host = await StaticHost.start({ folders: [web] });
  browser = await playwright.chromium.launch({
    ...launchOptions,
    // The nodes are in the page too. They tell the client the addresses of this computer.
    args: [...(launchOptions.args ?? []), '--disable-features=WebRtcHideLocalIpsWithMdns'],
  });
});

test.afterAll(async () => {
  await browser?.close();
  await host?.stop();
  rmSync(web, { recursive: true, force: true });
});

test.beforeEach(async () => {
  page = await (await browser.newContext()).newPage();
  await page.goto(host.url);
  await page.waitForFunction(() => 'nodePage' in globalThis);
});

test.afterEach(() => page.context().close());

const start = (kinds: Kind[], sizes: number[]) =>
  page.evaluate(([kinds, sizes]) => nodePage.start(kinds, sizes), [kinds, sizes] as const);
const open = (seeds: number, dead = 0) =>
  page.evaluate(([seeds, dead]) => nodePage.open(seeds, dead), [seeds, dead] as const);
const read = (address: string) => page.evaluate((address) => nodePage.read(address), address);

test('a window reads small and large chunks from nodes, and reports an absent address', async () => {
  const sizes = [322, 100_000, 4 * 1024 * 1024];
  const addresses = await start(honest(5), sizes);
  await open(2);
  for (const [i, address] of addresses.entries()) {
    const result = await read(address);
    console.log(`${result.bytes} bytes: ${Math.round(result.milliseconds)} ms`);
    expect(result).toMatchObject({ code: 'ok', bytes: sizes[i] });
    expect(result.firstByteMs).toBeLessThanOrEqual(result.milliseconds);
  }
  expect((await read(absent)).code).toBe('NOT_FOUND');
  expect(await page.evaluate(() => nodePage.status())).toEqual({ connected: 5, known: 5, lookups: 0 });
});

test('a node with another certificate than its address names is never connected', async () => {
  const [address] = await start(['other-certificate', ...honest(4)], [1_000]);
  await open(5);
  expect(await read(address!)).toMatchObject({ code: 'ok', bytes: 1_000 });
  expect((await read(absent)).code).toBe('NOT_FOUND');
  expect((await page.evaluate(() => nodePage.connects()))[0]).toBe(0);
});

test('wrong bytes and a node that leaves in the middle of its answer do not fail a read', {
  tag: '@full',
}, async () => {
  const addresses = await start(['forger', 'leaver', 'forger', 'honest', 'honest'], [1_000, 50_000, 300_000]);
  await open(5);
  for (const address of addresses) expect((await read(address)).code).toBe('ok');
});

test('a read succeeds although some seeds do not answer', { tag: '@full' }, async () => {
  const [address] = await start(honest(5), [1_000]);
  await open(2, 5);
  expect((await read(address!)).code).toBe('ok');
});

test('the next start reads from remembered nodes, without a seed', { tag: '@full' }, async () => {
  const [address, other] = await start(honest(5), [1_000, 2_000]);
  await open(3);
  expect((await read(address!)).code).toBe('ok');
  const stored = () =>
    page.evaluate(
      () =>
        new Promise<unknown>((resolve) => {
          const opening = indexedDB.open('antway-nodes');
          opening.onsuccess = () => {
            const request = opening.result.transaction('nodes').objectStore('nodes').get('nodes');
            request.onsuccess = () => resolve(request.result);
          };
        }),
    );
  await expect.poll(stored).toBeInstanceOf(Array);
  await page.evaluate(() => nodePage.close());
  await open(0);
  expect((await read(other!)).code).toBe('ok');
});

test('nodes that are all gone are reported as unreachable', { tag: '@full' }, async () => {
  await start([], []);
  await open(0, 2);
  expect((await read(absent)).code).toBe('PEERS_UNREACHABLE');
});
