import type { Page } from '@playwright/test';
import { expect, fetchIn, openShellIn, sceneOfFile, test } from '../support/chromium.ts';

/** A node that does not exist, on this computer. Nothing connects to it before a record is read. */
const node = `/ip4/127.0.0.1/udp/9/webrtc-direct/certhash/uEiAkAsFZc-iV5UToJHyETA8GLBIVdzB10Qv6VuNlwqTwkQ/p2p/${'5a'.repeat(32)}`;

const scene = sceneOfFile(async ({ startHost, context }) => {
  const { url } = await startHost({ peers: [], nodes: [node] });
  return { url, context };
});

/** A new page of the app. Connections are as an earlier test left them. */
const openApp = () => openShellIn(scene().context, scene().url);

const status = (shell: Page) => shell.locator('.status');
const setting = (shell: Page) =>
  shell.getByRole('region', { name: 'Direct connections' }).getByRole('checkbox');

async function allow(shell: Page): Promise<void> {
  await shell.goto(`${scene().url}/#settings`);
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

/** Waits until a page has the connections again. */
const expectTakeOver = (shell: Page) => expect.poll(() => isConnectable(shell)).toBe(true);

test('connections to nodes are off at first, and their code is not loaded', async () => {
  const loaded: string[] = [];
  const shell = await openApp();
  shell.on('request', (request) => loaded.push(request.url()));
  await shell.goto(`${scene().url}/#settings`);
  await shell.reload();
  await expect(setting(shell)).not.toBeChecked();
  await expect(setting(shell)).toHaveAccessibleDescription(/The nodes learn your IP address/);
  expect(await pages(shell)).toEqual([0, 0]);
  expect(loaded.filter((url) => url.includes('offer-nodes'))).toEqual([]);
  expect(await isConnectable(shell)).toBe(false);
  await allow(shell);
  expect(loaded.filter((url) => url.includes('offer-nodes'))).toHaveLength(1);
  expect(await pages(shell)).toEqual([1, 0]);
});

test('all pages end their part when the user turns the connections off, also hidden ones', {
  tag: '@full',
}, async () => {
  const shell = await openApp();
  await allow(shell);
  const other = await openApp();
  await expect.poll(() => pages(other)).toEqual([1, 1]);
  await other.goto(`${scene().url}/#settings`);
  await setting(other).uncheck();
  await expect.poll(() => pages(other)).toEqual([0, 0]);
  expect(await isConnectable(other)).toBe(false);
  await expect(status(other)).toHaveText('Local only');
});

test('a user who deletes everything ends the connections of all pages', { tag: '@full' }, async () => {
  const shell = await openApp();
  await allow(shell);
  const other = await openApp();
  await expect.poll(() => pages(other)).toEqual([1, 1]);
  await other.goto(`${scene().url}/#settings`);
  await other.getByRole('button', { name: 'Delete everything…' }).click();
  await other.getByRole('button', { name: 'Delete everything', exact: true }).click();
  await expect(other.getByText('Everything was deleted.')).toBeAttached();
  await expect.poll(() => pages(other)).toEqual([0, 0]);
  expect(await isConnectable(other)).toBe(false);
});

test('another page takes over when the page with the connections is closed', { tag: '@full' }, async () => {
  const shell = await openApp();
  await allow(shell);
  const other = await openApp();
  await expect.poll(() => pages(other)).toEqual([1, 1]);
  await shell.close();
  await expectTakeOver(other);
  expect(await pages(other)).toEqual([1, 0]);
});

test('another page takes over when the browser freezes the page with the connections', {
  tag: '@full',
}, async () => {
  const shell = await openApp();
  await allow(shell);
  const other = await openApp();
  await expect.poll(() => pages(other)).toEqual([1, 1]);
  const session = await scene().context.newCDPSession(shell);
  await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  await expectTakeOver(other);
  await session.send('Page.setWebLifecycleState', { state: 'active' });
  await expect.poll(() => pages(other)).toEqual([1, 1]);
  await other.close();
  await expectTakeOver(shell);
});

test('a page on a metered connection takes no part, and takes part once the connection is not metered', {
  tag: '@full',
}, async () => {
  const shell = await openApp();
  await allow(shell);
  const metered = await scene().context.newPage();
  await metered.addInitScript(() => {
    const connection = Object.assign(new EventTarget(), { saveData: false, type: 'cellular' });
    Object.defineProperty(Navigator.prototype, 'connection', { get: () => connection });
  });
  await metered.goto(scene().url);
  await expect(status(metered)).toContainText('Direct');
  await shell.close();
  await expect.poll(() => pages(metered)).toEqual([0, 0]);
  await metered.evaluate(() => {
    const { connection } = navigator as Navigator & { connection: EventTarget & { type: string } };
    connection.type = 'wifi';
    connection.dispatchEvent(new Event('change'));
  });
  await expect.poll(() => pages(metered)).toEqual([1, 0]);
});

test('a link opens in the viewer if no page of the app is open', { tag: '@full' }, async () => {
  const shell = await openApp();
  await allow(shell);
  const page = await scene().context.newPage();
  await shell.close();
  const address = 'ab'.repeat(32);
  await page.goto(`${scene().url}/${address}/`).catch(() => undefined);
  await page.waitForURL(`${scene().url}/#view=${address}/`);
  await expect.poll(() => pages(page)).toEqual([1, 0]);
});
