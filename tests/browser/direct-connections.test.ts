import type { BrowserContext, Page } from '@playwright/test';
import { expect, fetchIn, type Gateway, openShellIn, test } from '../support/chromium.ts';

/** A node that does not exist, on this computer. Nothing connects to it before a record is read. */
const node = `/ip4/127.0.0.1/udp/9/webrtc-direct/certhash/uEiAkAsFZc-iV5UToJHyETA8GLBIVdzB10Qv6VuNlwqTwkQ/p2p/${'5a'.repeat(32)}`;
/** The longest time until another page has the connections, in milliseconds. */
const takeOverMs = 2_000;

let gateway: Gateway;
let context: BrowserContext;

test.beforeEach(async ({ openGateway }) => {
  gateway = await openGateway({ peers: [], nodes: [node] });
  context = gateway.shell.context();
});

const status = (shell: Page) => shell.locator('.status');
const setting = (shell: Page) =>
  shell.getByRole('region', { name: 'Direct connections' }).getByRole('checkbox');

async function allow(shell: Page): Promise<void> {
  await shell.goto(`${gateway.url}/#settings`);
  await setting(shell).check();
  await expect(status(shell)).toHaveText('Direct, no node connected yet');
}

/** Whether some page has the connections for the worker. */
async function isConnectable(shell: Page): Promise<boolean> {
  return JSON.parse((await fetchIn(shell, '/-/peers')).text).nodes !== null;
}

/** How many pages have the connections, and how many wait for them. */
const pages = (shell: Page) =>
  shell.evaluate(async () => {
    const { held = [], pending = [] } = await navigator.locks.query();
    return [held, pending].map((locks) => locks.filter(({ name }) => name === 'antway-nodes').length);
  });

/** Waits until a page has the connections again. @returns the time that it took, in milliseconds. */
async function timeToTakeOver(shell: Page): Promise<number> {
  const startedMs = performance.now();
  while (!(await isConnectable(shell))) expect(performance.now() - startedMs).toBeLessThan(10_000);
  return performance.now() - startedMs;
}

test('connections to nodes are off at first, and their code is not loaded', async () => {
  const loaded: string[] = [];
  gateway.shell.on('request', (request) => loaded.push(request.url()));
  await gateway.shell.goto(`${gateway.url}/#settings`);
  await gateway.shell.reload();
  await expect(setting(gateway.shell)).not.toBeChecked();
  await expect(setting(gateway.shell)).toHaveAccessibleDescription(/The nodes learn your IP address/);
  expect(await pages(gateway.shell)).toEqual([0, 0]);
  expect(loaded.filter((url) => url.includes('offer-nodes'))).toEqual([]);
  expect(await isConnectable(gateway.shell)).toBe(false);
  await allow(gateway.shell);
  expect(loaded.filter((url) => url.includes('offer-nodes'))).toHaveLength(1);
  expect(await pages(gateway.shell)).toEqual([1, 0]);
});

test('all pages end their part when the user turns the connections off, also hidden ones', async () => {
  await allow(gateway.shell);
  const other = await openShellIn(context, gateway.url);
  await expect.poll(() => pages(other)).toEqual([1, 1]);
  await other.goto(`${gateway.url}/#settings`);
  await setting(other).uncheck();
  await expect.poll(() => pages(other)).toEqual([0, 0]);
  expect(await isConnectable(other)).toBe(false);
  await expect(status(other)).toHaveText('Local only');
});

test('a user who deletes everything ends the connections of all pages', async () => {
  await allow(gateway.shell);
  const other = await openShellIn(context, gateway.url);
  await expect.poll(() => pages(other)).toEqual([1, 1]);
  await other.goto(`${gateway.url}/#settings`);
  await other.getByRole('button', { name: 'Delete everything…' }).click();
  await other.getByRole('button', { name: 'Delete everything', exact: true }).click();
  await expect(other.getByText('Everything was deleted.')).toBeAttached();
  await expect.poll(() => pages(other)).toEqual([0, 0]);
  expect(await isConnectable(other)).toBe(false);
});

test('another page takes over when the page with the connections is closed', async () => {
  await allow(gateway.shell);
  const other = await openShellIn(context, gateway.url);
  await expect.poll(() => pages(other)).toEqual([1, 1]);
  await gateway.shell.close();
  expect(await timeToTakeOver(other)).toBeLessThan(takeOverMs);
  expect(await pages(other)).toEqual([1, 0]);
});

test('another page takes over when the browser freezes the page with the connections', async () => {
  await allow(gateway.shell);
  const other = await openShellIn(context, gateway.url);
  await expect.poll(() => pages(other)).toEqual([1, 1]);
  const session = await context.newCDPSession(gateway.shell);
  await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  expect(await timeToTakeOver(other)).toBeLessThan(takeOverMs);
  await session.send('Page.setWebLifecycleState', { state: 'active' });
  await expect.poll(() => pages(other)).toEqual([1, 1]);
  await other.close();
  expect(await timeToTakeOver(gateway.shell)).toBeLessThan(takeOverMs);
});

test('a page on a metered connection takes no part, and takes part once the connection is not metered', async () => {
  await allow(gateway.shell);
  const metered = await context.newPage();
  await metered.addInitScript(() => {
    const connection = Object.assign(new EventTarget(), { saveData: false, type: 'cellular' });
    Object.defineProperty(Navigator.prototype, 'connection', { get: () => connection });
  });
  await metered.goto(gateway.url);
  await expect(status(metered)).toContainText('Direct');
  await gateway.shell.close();
  await expect.poll(() => pages(metered)).toEqual([0, 0]);
  await metered.evaluate(() => {
    const { connection } = navigator as Navigator & { connection: EventTarget & { type: string } };
    connection.type = 'wifi';
    connection.dispatchEvent(new Event('change'));
  });
  await expect.poll(() => pages(metered)).toEqual([1, 0]);
});

test('a link opens in the viewer if no page of the app is open', async () => {
  await allow(gateway.shell);
  const page = await context.newPage();
  await gateway.shell.close();
  const address = 'ab'.repeat(32);
  await page.goto(`${gateway.url}/${address}/`).catch(() => undefined);
  await page.waitForURL(`${gateway.url}/#view=${address}/`);
  await expect.poll(() => pages(page)).toEqual([1, 0]);
});
