import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { Address } from '../../src/address.ts';
import { expect, Gateway, sceneOfFile, test } from '../support/chromium.ts';
import { copyBuild } from '../support/deployment.ts';
import { openFreshShell } from '../support/fresh-shell.ts';
import { setSettings } from '../support/names-screen.ts';
import { distFolder } from '../support/paths.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tar.ts';
import { untilViewed, viewed } from '../support/viewer.ts';

const addressBox = (page: Page) => page.getByRole('combobox', { name: 'Search or open an address' });
const region = (page: Page, name: string) => page.getByRole('region', { name });
/** Goes to a screen by its link. */
const goTo = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name }).click();
const statusLine = (page: Page) => page.getByRole('banner').getByRole('button');

/** The paths of the links in a region, in their order. */
const pathsIn = (region: Locator) =>
  region
    .getByRole('link')
    .evaluateAll((links) => links.map((link) => new URL((link as HTMLAnchorElement).href).pathname));

/** A figure of a section, by its label. */
function figure(page: Page, label: string): Locator {
  return page.locator('dl > div').filter({ hasText: label }).getByRole('definition');
}

const scene = sceneOfFile(async ({ startPeer, openWorker, folder }) => {
  const peer = await startPeer();
  const files = { 'index.txt': 'the front', 'über uns/a.txt': 'about' };
  const site = await publish(makeTarchive(folder, files), peer);
  const letter = await publish(Buffer.from('a letter'), peer);
  const gateway = await openWorker({ peers: [peer.url], names: { library: site }, trusted: [site] });
  return { peer, site, letter, gateway };
});

test.describe('with a peer', () => {
  let peer: PeerProcess;
  let gateway: Gateway;
  let shell: Page;
  let site: string;
  let letter: string;

  test.beforeEach(async () => {
    ({ peer, site, letter } = scene());
    gateway = await openFreshShell(scene().gateway);
    shell = gateway.shell;
  });

  test('the address box opens every notation of an address', { tag: '@full' }, async () => {
    const base32 = Address.fromHex(letter).base32;
    const cases = [
      [letter, `/${letter}`, 'a letter'],
      [`  ${letter.toUpperCase()}\t`, `/${letter}`, 'a letter'],
      [`${site}/über uns/a.txt`, `/${site}/%C3%BCber%20uns/a.txt`, 'about'],
      [`ant://${letter}/letter.txt`, `/${letter}/letter.txt`, 'a letter'],
      [`http://127.0.0.1:18888/${site}/index.txt`, `/${site}/index.txt`, 'the front'],
      [`https://${base32}.gateway.example/letter.txt`, `/${letter}/letter.txt`, 'a letter'],
      ['library/index.txt', '/library/index.txt', 'the front'],
      [`${gateway.url}/library/index.txt`, '/library/index.txt', 'the front'],
      [site, `/${site}/`, 'index.txt'],
    ] as const;
    for (const [text, path, content] of cases) {
      await test.step(text, async () => {
        // The shell knows its names.
        await expect(region(shell, 'Names')).toBeVisible();
        await addressBox(shell).fill(text);
        await addressBox(shell).press('Enter');
        const frame = await untilViewed(shell, path);
        await expect(frame.getByText(content)).toBeVisible();
        // The viewer has the title of what its frame shows, and the URL is still that of the address.
        await expect(shell.getByRole('button', { name: 'Verified' })).toBeVisible();
        await untilViewed(shell, path);
        await shell.goto(gateway.url);
      });
    }
  });

  test('the address box shows an error only after the user submits', async () => {
    const note = shell.locator('#address-note');
    await addressBox(shell).fill(letter.slice(1));
    await expect(note).not.toContainText('63');
    await shell.getByRole('button', { name: 'Open', exact: true }).click();
    await expect(note).toHaveText('An address has 64 hex digits. This one has 63.');
    await expect(addressBox(shell)).toBeFocused();
    await expect(addressBox(shell)).toHaveAttribute('aria-invalid', 'true');
    await addressBox(shell).fill(letter);
    await expect(addressBox(shell)).toHaveAttribute('aria-invalid', 'false');
  });

  test('a name of the host opens its site', async () => {
    await region(shell, 'Names').getByRole('link', { name: 'library' }).click();
    const content = await untilViewed(shell, '/library/');
    await expect(content.getByRole('link', { name: 'index.txt' })).toBeVisible();
  });

  test('opened sites are listed, newest first; a user opens them again and removes them', {
    tag: '@full',
  }, async () => {
    const recent = region(shell, 'Last opened');
    await expect(recent).toContainText('Nothing yet');
    await shell.goto(`${gateway.url}/library/`);
    await shell.goto(`${gateway.url}/${letter}`);
    await shell.goto(gateway.url);

    await expect.poll(() => pathsIn(recent)).toEqual([`/${letter}`, '/library/']);
    await recent.getByRole('link', { name: 'library' }).click();
    await expect(viewed(shell).getByRole('link', { name: 'index.txt' })).toBeVisible();
    await shell.goBack();
    await expect.poll(() => pathsIn(recent)).toEqual(['/library/', `/${letter}`]);

    await recent.getByRole('button', { name: 'Remove library from this list' }).press('Enter');
    await expect.poll(() => pathsIn(recent)).toEqual([`/${letter}`]);
    await expect(recent.getByRole('heading')).toBeFocused();
    await expect(recent.getByRole('status')).toHaveText('library was removed.');
    await shell.reload();
    await expect.poll(() => pathsIn(recent)).toEqual([`/${letter}`]);
  });

  test('the start page shows sites that another tab opens, and drops sites that the library deletes', {
    tag: '@full',
  }, async () => {
    const recent = region(shell, 'Last opened');
    await expect(recent).toContainText('Nothing yet');
    await gateway.openPage('/library/');
    await expect(recent.getByRole('link')).toHaveText([/library/]);
    await gateway.openPage(`/${letter}`);
    await expect.poll(() => pathsIn(recent)).toEqual([`/${letter}`, '/library/']);

    const libraryTab = await shell.context().newPage();
    await libraryTab.goto(`${gateway.url}/#library`);
    const row = libraryTab.locator('.site-row').filter({ hasText: 'library' });
    await row.getByRole('button', { name: /^More for/ }).click();
    await row.getByRole('button', { name: /^Delete:/ }).click();
    await row.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect(row).toHaveCount(0);
    await shell.bringToFront();
    await expect.poll(() => pathsIn(recent)).toEqual([`/${letter}`]);
  });

  test('the counters move while content is served', { tag: '@full' }, async () => {
    await goTo(shell, 'Live');
    await expect(figure(shell, 'Requests')).toHaveText('0');
    await gateway.fetch(`/${letter}`);
    await expect(figure(shell, 'Requests')).toHaveText('1');
    await expect(figure(shell, 'Served')).toHaveText('8 B');
    const peers = region(shell, 'Peers');
    await expect(peers.getByRole('row').filter({ hasText: peer.url.slice(7) })).toContainText(
      /connected by (WebTransport|HTTP)/,
    );
    const sources = region(shell, 'Chunks on their way');
    await expect(sources.getByRole('listitem').filter({ hasText: peer.url.slice(7) })).toContainText(
      '4 chunks',
    );
    await gateway.fetch(`/${'ab'.repeat(32)}`);
    await expect(figure(shell, 'Failed')).toHaveText('1');
    await expect(region(shell, 'Activity').getByRole('listitem')).toHaveText('NOT_FOUND 1');
    await expect(region(shell, 'Stored in this browser')).toContainText('4 chunks, encrypted');
  });

  test('the status line tells whether there is a network, and whether a peer answers', {
    tag: '@full',
  }, async ({ startPeer }) => {
    const own = await startPeer();
    await setSettings(shell, { peers: [own.url] });
    await shell.reload();
    await expect(statusLine(shell)).toHaveText('Local only');
    await shell.context().setOffline(true);
    await expect(statusLine(shell)).toContainText('Offline');
    await shell.reload();
    await expect(statusLine(shell)).toContainText('Offline');
    await shell.context().setOffline(false);
    await expect(statusLine(shell)).toHaveText('Local only');

    await own.kill();
    await gateway.fetch(`/${letter}`);
    await expect(statusLine(shell)).toHaveText('No peer answers');
  });

  test('the shell notices a network loss while the page starts', { tag: '@full' }, async () => {
    // Between the first picture of the page and its first listener: too short to be hit from outside.
    await shell.addInitScript(() => {
      const goOffline = (_: unknown, observer: MutationObserver) => {
        if (!document.getElementById('app')?.hasChildNodes()) return;
        observer.disconnect();
        Object.defineProperty(navigator, 'onLine', { value: false });
        window.dispatchEvent(new Event('offline'));
      };
      new MutationObserver(goOffline).observe(document, { childList: true, subtree: true });
    });
    await shell.reload();
    await expect(statusLine(shell)).toContainText('Offline');
  });
});

test('the shell also opens by the name of its file', { tag: '@smoke' }, async () => {
  const { shell } = await openFreshShell(scene().gateway, 'index.html');
  await expect(shell.getByRole('combobox', { name: 'Search or open an address' })).toBeVisible();
  await shell.getByRole('link', { name: 'Library', exact: true }).click();
  await expect(shell.getByText('Nothing yet.')).toBeVisible();
});

test('the shell offers a newer version, and installs it when the user accepts', { tag: '@smoke' }, async ({
  page,
  startPeer,
  folder,
}) => {
  const web = join(folder, 'web');
  copyBuild(distFolder, web);
  const flags = ['--web', web, '--web-config', join(folder, 'antway.json')];
  writeFileSync(join(folder, 'antway.json'), '{"peers": []}');
  const gateway = await Gateway.open(await startPeer({ flags, webTransport: 'none' }), page);
  const notice = page.getByText('Update ready: reload');
  await expect(statusLine(page)).toHaveText('Local only');
  await expect(notice).toHaveCount(0);

  writeFileSync(join(web, 'sw.js'), '\n// newer', { flag: 'a' });
  await page.reload();
  await expect(notice).toBeVisible();
  await Promise.all([
    page.waitForEvent('load'),
    page.getByRole('banner').locator('~ *').getByRole('button', { name: 'Reload' }).click(),
  ]);
  await expect(statusLine(page)).toHaveText('Local only');
  await expect(notice).toHaveCount(0);
  const states = () =>
    page.evaluate(async () => {
      const { active, waiting } = (await navigator.serviceWorker.getRegistration())!;
      return [active?.state, waiting, navigator.serviceWorker.controller === active];
    });
  expect(await states()).toEqual(['activated', null, true]);
  expect(page.url()).toBe(`${gateway.url}/`);
});

test.describe('without a worker', () => {
  test('a page over an insecure connection says so, and what to do', async ({ page, startHost }) => {
    const host = await startHost({ peers: [] });
    const url = host.url.replace('127.0.0.1', 'insecure.test');
    for (const path of ['/', `/${'ab'.repeat(32)}/`]) {
      await page.goto(url + path);
      const alert = page.getByRole('alert');
      await expect(alert.getByRole('heading')).toHaveText('The gateway cannot start');
      await expect(alert).toContainText('unprotected connection');
      await expect(alert).toContainText('Open the page at its https:// address.');
      await expect(alert).toContainText('INSECURE_CONTEXT');
    }
    await page.getByRole('link', { name: 'Start page' }).click();
    await page.waitForURL(`${url}/`);
  });

  test('a host without the worker’s script is named as the reason', async ({ page, startPeer, folder }) => {
    const host = await startPeer({ flags: ['--web', webWithoutWorker(folder)], webTransport: 'none' });
    await page.goto(host.url);
    await expect(page.getByRole('alert')).toContainText('it answered 404 for /sw.js');
    await expect(page.getByRole('alert')).toContainText('WORKER_NOT_FOUND');
    await expect(page.getByRole('banner').getByRole('status')).toHaveText('The gateway is not running');
  });

  test('on a site’s own origin the way out leads to the root host', async ({ page, startPeer, folder }) => {
    const host = await startPeer({ flags: ['--web', webWithoutWorker(folder)], webTransport: 'none' });
    const root = `antway.localhost:${new URL(host.url).port}`;
    await page.goto(`http://${Address.fromHex('ab'.repeat(32)).base32}.${root}/`);
    await expect(page.getByRole('heading')).toHaveText('This site could not be opened');
    await expect(page.getByRole('link', { name: 'Open the gateway' })).toHaveAttribute(
      'href',
      `http://${root}/`,
    );
  });
});

function webWithoutWorker(folder: string): string {
  const web = join(folder, 'web');
  copyBuild(distFolder, web);
  rmSync(join(web, 'sw.js'));
  return web;
}
