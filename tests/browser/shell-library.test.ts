import type { Locator, Page } from '@playwright/test';
import { createTarchive } from '../../src/archive/create-tar.ts';
import { listFolder } from '../../src/cli/folder.ts';
import { expect, type Gateway, openWithoutScripts, sceneOfFile, test } from '../support/chromium.ts';
import { openFreshShell } from '../support/fresh-shell.ts';
import { setSettings } from '../support/names-screen.ts';
import { fromRoot } from '../support/paths.ts';
import { noise, publish } from '../support/publish.ts';
import { visitCounts } from '../support/visits.ts';

const short = (address: string) => `${address.slice(0, 8)}…${address.slice(-6)}`;
const rows = (page: Page) => page.locator('.site-row');
const row = (page: Page, text: string) => rows(page).filter({ hasText: text });
const status = (page: Page) => page.getByRole('main').getByRole('status').first();

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  const { entries } = await listFolder(fromRoot('tests/sites/sample'), []);
  const sample = await publish(createTarchive(entries), peer);
  const letter = await publish(Buffer.from('Dear reader'), peer);
  const reportUrl = 'mailto:abuse@gateway.example?subject={address}';
  const gateway = await openWorker({ peers: [peer.url], trusted: [sample], reportUrl });
  return { sample, letter, gateway };
});

test.describe('the library', () => {
  let gateway: Gateway;
  let shell: Page;
  let sample: string;
  let letter: string;

  test.beforeEach(async () => {
    ({ sample, letter } = scene());
    gateway = await openFreshShell(scene().gateway, `${sample}/`);
    shell = gateway.shell;
    await expect(shell.getByRole('heading').first()).toBeVisible();
    await visitCounts(shell);
    await shell.goto(`${gateway.url}/${letter}`);
    await openWithoutScripts(shell);
    await expect(shell.getByText('Dear reader')).toBeVisible();
    await visitCounts(shell);
    await shell.goto(`${gateway.url}/#library`);
    await expect(rows(shell)).toHaveCount(2);
  });

  async function more(of: Locator): Promise<void> {
    await of.getByRole('button', { name: /^More for/ }).click();
  }

  test('shows opened sites, how much of each is stored, and whether it works offline', {
    tag: '@full',
  }, async () => {
    const file = row(shell, short(letter));
    await expect(file).toContainText('Ready offline');
    await expect(file.locator('.site-facts > span').first()).toHaveText(/^\d+ B$/);
    const site = rows(shell).nth(1);
    await expect(site).toContainText(/[kM]B/);
    // A site with scripts on the gateway’s origin cannot be in a frame.
    await site.getByRole('link').click();
    await shell.waitForURL(`${gateway.url}/${sample}/`);
  });

  test('searches by title and address, and sorts', { tag: '@smoke' }, async () => {
    const search = shell.getByRole('searchbox', { name: 'Search the library' });
    await search.fill(letter.slice(0, 20));
    await expect(rows(shell)).toHaveCount(1);
    await expect(rows(shell)).toContainText(short(letter));
    await search.fill('nothing like it');
    await expect(shell.getByText('No title, name or address matches “nothing like it”.')).toBeVisible();
    await search.fill('');
    await shell.getByLabel('Sort by').selectOption('Size');
    await expect(rows(shell).first()).not.toContainText(short(letter));
    await shell.getByLabel('Sort by').selectOption('Last opened');
    await expect(rows(shell).first()).toContainText(short(letter));
    await shell.getByLabel('Pinned only').check();
    await expect(rows(shell)).toHaveCount(0);
  });

  test('pins a whole site, verifies it, and unpins it', { tag: '@full' }, async () => {
    const site = rows(shell).nth(1);
    const title = (await site.getByRole('link').textContent())!;
    await site.getByRole('button', { name: `Pin: ${title}` }).click();
    await expect(status(shell)).toHaveText(`${title} is ready for offline use.`);
    await expect(site).toContainText('Pinned');
    await expect(site).toContainText('Ready offline');
    await more(site);
    await site.getByRole('button', { name: `Verify: ${title}` }).click();
    await expect(status(shell)).toHaveText(`${title} was verified: it is complete and undamaged.`);
    await expect(site.locator('.pin-fact')).toHaveText('Pinned');
    await shell.getByLabel('Pinned only').check();
    await expect(rows(shell)).toHaveCount(1);
    await shell.getByLabel('Pinned only').uncheck();
    await site.getByRole('button', { name: `Unpin: ${title}` }).click();
    await expect(status(shell)).toContainText('is no longer pinned');
    await expect(site.getByRole('button', { name: `Pin: ${title}` })).toBeVisible();
  });

  test('a site is exported to a file, deleted after two confirmations, and imported from the file', {
    tag: '@full',
  }, async () => {
    const file = row(shell, short(letter));
    await file.getByRole('button', { name: /^Pin:/ }).click();
    await expect(file.locator('.pin-fact')).toHaveText('Pinned');
    await more(file);
    const [download] = await Promise.all([
      shell.waitForEvent('download'),
      file.getByRole('button', { name: /^Export:/ }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/\.antsite$/);
    await expect(shell.getByText(`The export was saved: ${download.suggestedFilename()}.`)).toBeVisible();
    const path = await download.path();

    await file.getByRole('button', { name: /^Delete:/ }).click();
    await expect(file).toContainText('Delete');
    await expect(rows(shell)).toHaveCount(2);
    await file.getByRole('button', { name: 'Delete', exact: true }).click();
    await expect(rows(shell)).toHaveCount(1);
    await expect(shell.getByRole('heading', { name: 'Library' })).toBeFocused();

    // No peer has it.
    await setSettings(shell, { peers: ['http://127.0.0.1:9'] });
    const session = await shell.context().newCDPSession(shell);
    const hint = shell.getByText('Drop an exported site here');
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
      if (type === 'drop') await expect(hint).toBeVisible();
      const data = { items: [], files: [path], dragOperationsMask: 1 };
      await session.send('Input.dispatchDragEvent', { type, x: 200, y: 300, data });
    }
    await expect(status(shell)).toHaveText(`${short(letter)}, 1 file.`);
    await expect(hint).toHaveCount(0);
    await shell.locator('input[name=import]').setInputFiles(path);
    await expect(status(shell)).toHaveText(`${short(letter)}, 1 file.`);
    await expect(rows(shell)).toHaveCount(2);
    await shell.goto(`${gateway.url}/${letter}`);
    await openWithoutScripts(shell);
    await expect(shell.getByText('Dear reader')).toBeVisible();
  });

  test('an invalid import is refused with the reason and a code', { tag: '@full' }, async () => {
    await shell
      .locator('input[name=import]')
      .setInputFiles({ name: 'x.tar', mimeType: 'application/x-tar', buffer: noise(1, 5000) });
    await expect(status(shell).locator('.code')).toHaveText(/^[A-Z_]+$/);
    await expect(rows(shell)).toHaveCount(2);
  });

  test('sites show their own titles, here and on the start page', { tag: '@full' }, async () => {
    await shell.goto(`${gateway.url}/${sample}/`);
    const title = await shell.title();
    await shell.goto(`${gateway.url}/#library`);
    await expect(row(shell, title)).toHaveCount(1);
    await shell.getByRole('searchbox', { name: 'Search the library' }).fill(title.toUpperCase());
    await expect(rows(shell)).toHaveCount(1);
    await shell.goto(gateway.url);
    const recent = shell.getByRole('region', { name: 'Last opened' });
    await expect(recent.getByRole('link').first()).toContainText(title);
    await expect(recent.getByRole('link').first().locator('img')).toBeVisible();
  });
});

/** Has this number of sites in the library, as if they had been opened. */
async function visitSites(shell: Page, count: number): Promise<void> {
  // The database is there once the library was asked.
  await expect(shell.getByText('Nothing yet.')).toBeVisible();
  await shell.evaluate(
    (count) =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open('antway');
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const changing = opening.result.transaction('settings', 'readwrite');
          for (let i = 0; i < count; i++) {
            const address = `a${i.toString(16).padStart(63, '0')}`;
            const visit = {
              address,
              path: `/${address}/`,
              name: null,
              title: `Site number ${i}`,
              icon: null,
              kind: 'archive',
              lastOpened: Date.now() - i * 60_000,
            };
            changing.objectStore('settings').put(visit, `site:${address}`);
          }
          changing.oncomplete = () => {
            opening.result.close();
            resolve();
          };
          changing.onerror = () => reject(changing.error);
        };
      }),
    count,
  );
  await shell.reload();
}

test('a list of a thousand sites renders only the visible ones, and the search finds each', {
  tag: '@full',
}, async () => {
  const { shell } = await openFreshShell(scene().gateway, '#library');
  await visitSites(shell, 1000);
  await expect(rows(shell)).toHaveCount(1000);
  const isSkipped = (index: number) =>
    rows(shell)
      .nth(index)
      .locator('.site-main')
      .evaluate((element) => !element.checkVisibility({ contentVisibilityAuto: true }));
  await expect.poll(() => isSkipped(0)).toBe(false);
  await expect.poll(() => isSkipped(999)).toBe(true);
  // Chromium sometimes stops half way, as the rows on the way get their real heights. A user presses the key again.
  const isEndRendered = async () => {
    await shell.keyboard.press('End');
    return !(await isSkipped(999));
  };
  await expect.poll(isEndRendered).toBe(true);
  await expect.poll(() => isSkipped(0)).toBe(true);
  await shell.getByRole('searchbox', { name: 'Search the library' }).fill('number 777');
  await expect(rows(shell)).toHaveCount(1);
  await shell.getByRole('searchbox', { name: 'Search the library' }).fill('');
  await shell.getByLabel('Sort by').selectOption('Title');
  await expect(rows(shell).nth(2)).toContainText('Site number 2');
});

test('back restores the scroll position, search and order', { tag: '@full' }, async () => {
  const { shell } = await openFreshShell(scene().gateway, '#library');
  // Where the screens' links stay in sight.
  await shell.setViewportSize({ width: 390, height: 844 });
  await visitSites(shell, 200);
  const search = shell.getByRole('searchbox', { name: 'Search the library' });
  await search.fill('site number');
  await shell.getByLabel('Sort by').selectOption('Title');
  await expect(rows(shell)).toHaveCount(200);
  await shell.evaluate(() => scrollTo(0, 2000));
  const at = () => shell.evaluate(() => scrollY);
  await expect.poll(at).toBeGreaterThan(1500);
  const asLeft = async () => {
    await expect(search).toHaveValue('site number');
    await expect(shell.getByLabel('Sort by')).toHaveValue('title');
    await expect(rows(shell)).toHaveCount(200);
    // Rows that were not seen yet have a height that is guessed, so it is not the very pixel.
    await expect.poll(at).toBeGreaterThan(1500);
    expect(await at()).toBeLessThan(2500);
  };

  await shell.getByRole('link', { name: 'Settings' }).click();
  await expect(shell.getByRole('heading', { level: 1 })).toHaveText('Settings');
  await expect.poll(at).toBe(0);
  await shell.goBack();
  await asLeft();

  // A document of its own.
  await shell.evaluate(() => location.assign(`/${'a'.repeat(64)}`));
  await shell.waitForURL(/a{64}/);
  await shell.goBack();
  await asLeft();
  await shell.reload();
  await asLeft();
});

test('the library leads to the host’s place for reports about a site, if the host has one', {
  tag: '@full',
}, async () => {
  const { letter: address } = scene();
  const { shell, url } = await openFreshShell(scene().gateway, address);
  await expect(shell.getByText('Dear reader')).toBeVisible();
  await visitCounts(shell);
  await shell.goto(`${url}/#library`);
  await row(shell, short(address))
    .getByRole('button', { name: /^More for/ })
    .click();
  const link = row(shell, short(address)).getByRole('link', { name: /^Report to the operator: / });
  await expect(link).toHaveAttribute('href', `mailto:abuse@gateway.example?subject=${address}`);
});
