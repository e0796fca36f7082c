import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { unpackTar } from 'modern-tar';
import { expectAccessible } from '../../support/accessibility.ts';
import {
  expect,
  type Gateway,
  openShellIn,
  openTitled,
  openWithoutScripts,
  sceneOfFile,
  stopWorkers,
  test,
} from '../../support/chromium.ts';
import { openFreshShell } from '../../support/fresh-shell.ts';
import { makePrivateManifest } from '../../support/manifests.ts';
import { setSettings } from '../../support/names-screen.ts';
import { fromRoot } from '../../support/paths.ts';
import type { PeerProcess } from '../../support/peer-process.ts';
import { publish } from '../../support/publish.ts';
import { openAdvancedOptions } from '../../support/settings.ts';
import { startSiteOnOwnOrigin } from '../../support/site-on-own-origin.ts';
import { makeTarchive } from '../../support/tar.ts';
import { untilViewed } from '../../support/viewer.ts';
import { visitCounts } from '../../support/visits.ts';

const site = {
  'index.html': '<!doctype html><title>Low Tide</title><h1>Low Tide</h1><p>Crabs at the caf&eacute;</p>',
  'deep/periwinkles.html':
    '<title>Snails</title><p>Periwinkles &lt;b&gt; graze<script>var hiddenword</script>',
  'notes.txt': 'Bladderwrack everywhere',
};

const rows = (page: Page) => page.locator('.site-row');
const titles = (page: Page) => rows(page).getByRole('link');
const results = (page: Page) => page.getByRole('region', { name: 'In the text of pinned sites' });

const scene = sceneOfFile(async ({ startPeer, openWorker, folder }) => {
  const peer = await startPeer();
  return {
    peer,
    address: await publish(makeTarchive(folder, site), peer),
    picture: await publish(readFileSync(fromRoot('public/icon-192.png')), peer),
    letter: await publish(Buffer.from('Dear reader'), peer),
    gateway: await openWorker({ peers: [peer.url] }),
  };
});

test.describe('the library', () => {
  test.describe.configure({ timeout: 120_000 });
  let peer: PeerProcess;
  let gateway: Gateway;
  let shell: Page;
  let address: string;
  let picture: string;

  test.beforeEach(async () => {
    const { letter } = scene();
    ({ peer, address, picture } = scene());
    gateway = await openFreshShell(scene().gateway, `${letter}/a%20letter.txt`);
    shell = gateway.shell;
    await openWithoutScripts(shell);
    await visitCounts(shell);
    for (const path of [`/${address}/`, `/${picture}/sea%20%26%20sky.png`]) {
      await shell.goto(gateway.url + path);
      await openWithoutScripts(shell);
      await visitCounts(shell);
    }
    await shell.goto(`${gateway.url}/#library`);
    await expect(rows(shell)).toHaveCount(3);
  });

  async function filter(name: string): Promise<void> {
    await shell.getByRole('radio', { name, exact: true }).check({ force: true });
  }

  test('files have names, types and thumbnails, and showing them asks no peer', async () => {
    const row = rows(shell).filter({ hasText: 'sea & sky.png' });
    await expect(row).toContainText('Picture');
    await expect(rows(shell).filter({ hasText: 'a letter.txt' })).toContainText('Text');
    await expect(row.getByText('Ready offline')).toBeVisible();
    const given = await peer.chunksGiven();
    await stopWorkers(shell);
    await shell.reload();
    const thumbnail = row.locator('.site-icon img');
    await expect(thumbnail).toHaveAttribute('loading', 'lazy');
    await expect.poll(() => thumbnail.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(192);
    expect(await peer.chunksGiven()).toBe(given);
  });

  test('a picture that is not stored has no thumbnail and is not fetched', { tag: '@full' }, async () => {
    const given = await peer.chunksGiven();
    await shell.evaluate(async (hex) => {
      const database = await new Promise<IDBDatabase>((resolve, reject) => {
        const opening = indexedDB.open('antway-chunks');
        opening.onsuccess = () => resolve(opening.result);
        opening.onerror = () => reject(opening.error);
      });
      database.close();
      await fetch(`/-/sites?address=${hex}`, { method: 'DELETE' });
      // A visit of another device: its chunks are not here.
      const visit = {
        address: hex,
        path: `/${hex}/`,
        name: null,
        title: 'far.png',
        icon: null,
        kind: 'file',
      };
      await fetch('/-/visits', {
        method: 'POST',
        body: JSON.stringify({ ...visit, type: 'image/png', lastOpened: Date.now() - 1000 }),
      });
    }, picture);
    await stopWorkers(shell);
    await shell.reload();
    const row = rows(shell).filter({ hasText: 'far.png' });
    await expect(row).toContainText('Picture');
    await expect(row.locator('img')).toHaveCount(0);
    await expect(row.locator('.site-icon svg')).toBeVisible();
    expect(await peer.chunksGiven()).toBe(given);
  });

  test('filters show sites, files, private content and the user’s own publications', {
    tag: '@full',
  }, async () => {
    const manifest = await makePrivateManifest('Diary', { 'diary.txt': 'Fog again.' }, peer);
    await shell.evaluate(async (body) => {
      const bytes = Uint8Array.from(body, (character) => character.charCodeAt(0));
      await fetch('/-/manifests', { method: 'POST', body: bytes });
    }, manifest.toString('latin1'));
    await shell.reload();
    await expect(rows(shell)).toHaveCount(4);
    await filter('Sites');
    await expect(titles(shell).filter({ hasText: 'Low Tide' })).toHaveCount(1);
    await expect(rows(shell).filter({ hasText: 'a letter.txt' })).toHaveCount(0);
    await filter('Files');
    await expect(rows(shell).filter({ hasText: 'a letter.txt' })).toHaveCount(1);
    await expect(rows(shell).filter({ hasText: 'Low Tide' })).toHaveCount(0);
    await filter('Private');
    await expect(titles(shell)).toHaveText(['Diary']);
    await filter('Mine');
    await expect(rows(shell)).toHaveCount(0);
    await expect(shell.getByRole('region', { name: 'Published by you' })).toContainText('Nothing yet.');
    // The choice survives a reload.
    await shell.reload();
    await expect(shell.getByRole('radio', { name: 'Mine' })).toBeChecked();
    await filter('All');
    await expect(rows(shell)).toHaveCount(4);
  });

  test('the text of pinned sites is found without a peer, and no longer once they are unpinned', {
    tag: '@full',
  }, async () => {
    const search = shell.getByRole('searchbox', { name: 'Search the library' });
    await search.fill('periwinkles');
    await expect(results(shell)).toHaveCount(0);
    await search.fill('');
    await rows(shell).getByRole('button', { name: 'Pin: Low Tide' }).click();
    await expect(rows(shell).filter({ hasText: 'Low Tide' }).locator('.pin-fact')).toHaveText('Pinned');
    await setSettings(shell, { peers: ['http://127.0.0.1:9'] });

    await search.fill('periwin');
    await expect(results(shell).getByRole('listitem')).toHaveCount(1);
    const found = results(shell).getByRole('listitem').first();
    await expect(found.getByRole('link')).toHaveText('Snails');
    await expect(found.locator('mark')).toHaveText('Periwinkles');
    // The text of a page is text here, too.
    await expect(found).toContainText('Periwinkles <b> graze');
    for (const [query, title] of [
      ['cafe crabs', 'Low Tide'],
      ['bladderwrack', 'notes.txt'],
    ] as const) {
      await search.fill(query);
      await expect(results(shell).getByRole('link')).toHaveText([title]);
    }
    await search.fill('hiddenword');
    await expect(results(shell)).toContainText('No pinned site contains these words.');
    await search.fill('periwinkles');
    await results(shell).getByRole('link').click();
    await untilViewed(shell, `/${address}/deep/periwinkles.html`);
    await expect(shell.getByRole('heading', { level: 1 })).toHaveText('Snails');

    await shell.goto(`${gateway.url}/#library`);
    await rows(shell).getByRole('button', { name: 'Unpin: Low Tide' }).click();
    await search.fill('periwinkles');
    await expect(results(shell)).toHaveCount(0);
  });

  test('the index is not on disk', { tag: '@full' }, async () => {
    await rows(shell).getByRole('button', { name: 'Pin: Low Tide' }).click();
    await expect(rows(shell).filter({ hasText: 'Low Tide' }).locator('.pin-fact')).toHaveText('Pinned');
    await shell.getByRole('searchbox', { name: 'Search the library' }).fill('bladderwrack');
    await expect(results(shell).getByRole('link')).toHaveText(['notes.txt']);
    const stored = await shell.evaluate(async () => {
      let text = JSON.stringify([{ ...localStorage }, { ...sessionStorage }]);
      for (const name of await caches.keys()) {
        for (const request of await (await caches.open(name)).keys()) text += request.url;
      }
      for (const { name } of await indexedDB.databases()) {
        const database = await new Promise<IDBDatabase>((resolve) => {
          const opening = indexedDB.open(name!);
          opening.onsuccess = () => resolve(opening.result);
        });
        for (const store of database.objectStoreNames) {
          const all = await new Promise<unknown[]>((resolve) => {
            const reading = database.transaction(store).objectStore(store).getAll();
            reading.onsuccess = () => resolve(reading.result);
          });
          for (const row of all) {
            const bytes = row instanceof ArrayBuffer ? new Uint8Array(row) : row;
            text +=
              bytes instanceof Uint8Array ? new TextDecoder('latin1').decode(bytes) : JSON.stringify(row);
          }
        }
        database.close();
      }
      return text.toLowerCase();
    });
    expect(stored).toContain(address);
    for (const word of ['bladderwrack', 'periwinkles', 'crabs']) expect(stored).not.toContain(word);
  });

  test('the files of a site are for the gateway’s own pages, and only of stored sites', {
    tag: '@full',
  }, async () => {
    const missing = await gateway.fetch(`/-/files?address=${'ab'.repeat(32)}`);
    expect([missing.status, JSON.parse(missing.text).code]).toEqual([404, 'NOT_FOUND']);
    const path = encodeURIComponent('../../-/config');
    const outside = await gateway.fetch(`/-/files?address=${address}&path=${path}`);
    expect(outside.status).toBe(404);
    await shell.goto(`${gateway.url}/${address}/`);
    const seen = await shell.evaluate(
      (hex) =>
        fetch(`/-/files?address=${hex}`).then(
          ({ status }) => status,
          () => 'blocked',
        ),
      address,
    );
    expect([403, 'blocked']).toContain(seen);
  });

  test('settings show the titles of sites', { tag: '@full' }, async () => {
    await shell.evaluate(
      (hex) =>
        fetch('/-/trust', { method: 'POST', body: JSON.stringify({ address: hex, decision: 'restricted' }) }),
      address,
    );
    await shell.goto(`${gateway.url}/#settings`);
    await expect(shell.locator('.decided-title')).toHaveText('Low Tide');
    await openAdvancedOptions(shell);
    await shell.getByLabel('Address to block').fill(address);
    await shell.getByRole('button', { name: 'Block', exact: true }).click();
    await expect(shell.getByRole('region', { name: /block/i })).toContainText('Low Tide');
  });

  test('axe finds no violation with filters, thumbnails and results', { tag: '@full' }, async () => {
    await rows(shell).getByRole('button', { name: 'Pin: Low Tide' }).click();
    await expect(rows(shell).filter({ hasText: 'Low Tide' }).locator('.pin-fact')).toHaveText('Pinned');
    for (const query of ['', 'crabs']) {
      await shell.getByRole('searchbox', { name: 'Search the library' }).fill(query);
      if (query) await expect(results(shell).getByRole('listitem')).toHaveCount(1);
      for (const [colorScheme, width] of [
        ['light', 1280],
        ['dark', 390],
      ] as const) {
        await shell.setViewportSize({ width, height: 844 });
        await expectAccessible(shell, { schemes: [colorScheme] });
      }
    }
  });
});

test('the text and the export of a site on its own origin come from that origin', { tag: '@full' }, async ({
  startPeer,
  startHost,
  context,
}) => {
  const { address, root, origin, peer } = await startSiteOnOwnOrigin({ startPeer, startHost }, site);
  const shell = await openShellIn(context, `${root}/`);
  const page = await openTitled(context, `${root}/${address}/`, 'Low Tide');
  expect(page.url()).toBe(`${origin}/`);
  await visitCounts(page);
  await page.close();
  await shell.goto(`${root}/#library`);
  await rows(shell).getByRole('button', { name: 'Pin: Low Tide' }).click();
  await expect(rows(shell).locator('.pin-fact')).toHaveText('Pinned');
  await peer.kill();
  await shell.getByRole('searchbox', { name: 'Search the library' }).fill('bladderwrack');
  await expect(results(shell).getByRole('link')).toHaveText(['notes.txt']);
  await shell.getByRole('searchbox', { name: 'Search the library' }).fill('');
  await rows(shell)
    .getByRole('button', { name: /^More for/ })
    .click();
  const [download] = await Promise.all([
    shell.waitForEvent('download'),
    rows(shell)
      .getByRole('button', { name: /^Export:/ })
      .click(),
  ]);
  const [description] = await unpackTar(new Uint8Array(readFileSync(await download.path())));
  expect(JSON.parse(new TextDecoder().decode(description!.data))).toMatchObject({
    version: 2,
    address,
    title: 'Low Tide',
    files: 3,
  });
});
