import type { BrowserContext, Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { expectAccessible } from '../support/accessibility.ts';
import { expect, fetchIn, openShellIn, openTitled, test } from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { noise, publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';

let peer: PeerProcess;
let host: PeerProcess;
let context: BrowserContext;
let root: string;

const originOf = (address: string) => root.replace('//', `//${Address.fromHex(address).base32}.`);
const figure = (shell: Page, name: string) =>
  shell.getByRole('region', { name: 'Activity' }).locator('div', { hasText: name }).locator('dd');

test.beforeEach(async ({ startPeer, startHost, browser }) => {
  peer = await startPeer();
  host = await startHost({ peers: [peer.url] });
  root = `http://antway.localhost:${new URL(host.url).port}`;
  context = await browser.newContext();
});

test.afterEach(() => context.close());

const publishSite = async (title: string) =>
  publish(
    await makeTarchive({
      'index.html': `<!doctype html><title>${title}</title><script></script>`,
      'film.bin': noise(title.length, 2_000_000),
    }),
    peer,
  );

const openShell = (fragment: string) => openShellIn(context, `${root}/${fragment}`);

const visit = (url: string, title: string) => openTitled(context, url, title);

/** Has the browser promise to keep an origin whose page asks for it. */
async function grantPersistence(page: Page, origin: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { browserContextId = '' } = (await session.send('Target.getTargetInfo')).targetInfo;
  await session.send('Browser.grantPermissions', {
    permissions: ['durableStorage'],
    origin,
    browserContextId,
  });
}

test('the live screen shows the requests of a site on its own origin, alone and in the total', {
  tag: '@full',
}, async () => {
  test.slow();
  const address = await publishSite('Cinema');
  const shell = await openShell('#live');
  await expect(figure(shell, 'Requests')).toHaveText('0');
  // With no site on an origin of its own there is nothing to choose.
  await expect(shell.getByLabel('Show figures for')).toHaveCount(0);
  const page = await visit(`${root}/${address}/`, 'Cinema');

  await shell.bringToFront();
  const view = shell.getByRole('combobox', { name: 'Show figures for' });
  await expect(view).toHaveValue('all');
  await expect(shell.getByText('missing here')).toHaveCount(0);
  for (let i = 0; i < 3; i++) {
    await page.evaluate(async () => (await (await fetch('/film.bin')).arrayBuffer()).byteLength);
  }
  await expect(figure(shell, 'Served')).toHaveText(/^[67](\.\d+)? MB$/);
  await expect(shell.getByRole('region', { name: 'Throughput' }).getByRole('img')).toHaveAttribute(
    'aria-label',
    /peak was .*MB per second/,
  );
  await expect(shell.getByRole('region', { name: 'Stored in this browser' })).toContainText(
    /MB of it is on the origin of one site/,
  );
  await expect(shell.getByRole('region', { name: 'Chunks on their way' })).toContainText(
    peer.url.slice('http://'.length),
  );
  await expectAccessible(shell);

  await view.selectOption({ label: 'The gateway’s own origin' });
  await expect(figure(shell, 'Served')).toHaveText(/B$/);
  await expect(figure(shell, 'Served')).not.toHaveText(/MB$/);
  await view.selectOption({ label: 'Cinema' });
  await expect(figure(shell, 'Served')).toHaveText(/^[67](\.\d+)? MB$/);
  await expect(shell.getByRole('region', { name: 'Stored in this browser' })).toContainText('Not pinned');

  // The frame, which has the site's worker started for each question, goes soon after the screen.
  const bridges = () => shell.frames().filter((frame) => frame.url().endsWith('/-/bridge')).length;
  expect(bridges()).toBe(1);
  await shell.goto(`${root}/#settings`);
  await expect.poll(bridges, { timeout: 40_000 }).toBe(0);
});

test('the live screen names a site with partitioned storage, and still shows the others', {
  tag: '@full',
}, async () => {
  const address = await publishSite('Apart');
  // Below bare “localhost” each name is a site of its own for the browser.
  root = `http://localhost:${new URL(host.url).port}`;
  const shell = await openShell('#live');
  await expect(figure(shell, 'Requests')).toHaveText('0');
  const share = { stored: 5, total: 5 };
  const report = {
    chunks: share,
    bytes: share,
    offline: true,
    pin: null,
    storedBytes: 5,
    persisted: null,
    seenAt: Date.now(),
  };
  const noted = await fetchIn(shell, '/-/origins', {
    method: 'PUT',
    body: JSON.stringify({ address, report }),
  });
  expect(noted.status).toBe(204);
  await expect(shell.getByText('is missing here')).toContainText('SITE_PARTITIONED');
  await fetchIn(shell, `/${address}/film.bin`);
  await expect(figure(shell, 'Served')).toHaveText(/MB$/);
});

test('a pinned site that the browser may evict says so, and has a button that requests persistent storage', {
  tag: '@full',
}, async () => {
  test.slow();
  const address = await publishSite('Keeper');
  await openShell('');
  await visit(`${root}/${address}/`, 'Keeper');
  const library = await openShell('#library');
  const row = library.locator('.site-row');
  await expect(row).toBeVisible();
  await expect(row).not.toContainText('may delete');
  await row.getByRole('button', { name: 'Pin: Keeper' }).click();
  await expect(row).toContainText('The browser may delete this pinned site');
  const live = await openShell('#live');
  await expect(live.getByText('The browser may delete 1 pinned site when the disk is full.')).toBeVisible();
  await live.close();
  await library.bringToFront();
  await expect(library.locator('.library-head')).toContainText('of the gateway’s own origin');
  await expectAccessible(library);

  const ask = row.getByRole('button', { name: 'Ask for persistent storage: Keeper' });
  await ask.click();
  await expect(row.getByRole('status')).toContainText('The browser declined.');
  // Chromium refuses it to every frame, also where the user grants it: a page of the site asks.
  const opened = context.waitForEvent('page');
  await row.getByRole('link', { name: 'Ask on the page of the site' }).click();
  const there = await opened;
  await expect(there).toHaveURL(`${originOf(address)}/-/site`);
  const askThere = there.getByRole('button', { name: 'Ask for persistent storage' });
  await askThere.click();
  await expect(there.getByRole('alert')).toContainText('The browser declined.');
  await grantPersistence(library, originOf(address));
  await askThere.click();
  await expect(askThere).toHaveCount(0);
  await there.close();
  await library.reload();
  await expect(row).not.toContainText('may delete');
});

test('the origin of a site requests persistent storage when it is first opened, if the browser does not ask the user', {
  tag: '@full',
}, async () => {
  const address = await publishSite('First');
  const shell = await openShell('');
  await grantPersistence(shell, originOf(address));
  const page = await visit(`${originOf(address)}/`, 'First');
  await expect.poll(() => page.evaluate(() => navigator.storage.persisted())).toBe(true);
});
