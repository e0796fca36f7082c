import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { expectAccessible } from '../../support/accessibility.ts';
import { expect, type Gateway, sceneOfFile, stopWorkers, test } from '../../support/chromium.ts';
import { openFreshShell } from '../../support/fresh-shell.ts';
import type { PeerProcess } from '../../support/peer-process.ts';
import { publishedRows, publishPath, token, writeFiles } from '../../support/publish-screen.ts';
import { untilViewed, viewed } from '../../support/viewer.ts';

const garden = {
  'index.html': '<!doctype html><title>Garden &amp; pond</title><h1>Spring</h1>',
  'a.txt': 'leaf',
};

const list = (page: Page) => page.getByRole('region', { name: 'Published by you' });
const rows = publishedRows;

async function act(row: Locator, action: string): Promise<void> {
  await row.getByRole('button', { name: new RegExp(`^${action}`) }).click();
}

async function audit(page: Page, name: string): Promise<void> {
  await expectAccessible(page, { what: name, schemes: ['light', 'dark'] });
}

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  const peer = await startPeer({ token });
  return { peer, gateway: await openWorker({ peers: [peer.url] }) };
});

test.describe('published by you', () => {
  test.describe.configure({ timeout: 120_000 });
  let peer: PeerProcess;
  let gateway: Gateway;
  let shell: Page;

  test.beforeEach(async () => {
    peer = scene().peer;
    gateway = await openFreshShell(scene().gateway, '#publish');
    shell = gateway.shell;
  });

  test('public and private publications are listed, and stay after a reload and a restart of the worker', async ({
    folder,
  }) => {
    await expect(list(shell)).toContainText('Nothing yet.');
    await publishPath(shell, writeFiles(join(folder, 'garden'), garden), 'folder');
    await expect(rows(shell)).toHaveCount(1);
    await shell.getByRole('button', { name: 'Publish something else' }).click();
    writeFiles(folder, { 'diary.txt': 'Fog again.' });
    await publishPath(shell, join(folder, 'diary.txt'), 'files', true);
    await expect(rows(shell)).toHaveCount(2);

    await stopWorkers(shell);
    await shell.reload();
    await expect(rows(shell)).toHaveCount(2);
    const [diary, site] = [rows(shell).nth(0), rows(shell).nth(1)];
    await expect(site).toContainText('Garden & pond');
    await expect(site).toContainText('2 files');
    await expect(site).toContainText(`Stored at ${new URL(peer.url).host}`);
    await expect(site.locator('.mark')).toHaveText(['Site']);
    await expect(diary.locator('.mark')).toHaveText(['File', 'Private']);
    await expect(diary.locator('.published-address')).toHaveCount(0);

    await site.getByRole('link', { name: 'Garden & pond' }).click();
    const content = await untilViewed(shell, /^\/[0-9a-f]{64}\/$/);
    await expect(content.getByRole('heading')).toHaveText('Spring');
    await shell.goto(`${gateway.url}/#publish`);
    await rows(shell).nth(0).getByRole('link', { name: 'diary.txt' }).click();
    await expect(viewed(shell).getByText('Fog again.')).toBeVisible();
  });

  test('the availability check says how many chunks each peer has', { tag: '@full' }, async ({
    folder,
    startPeer,
  }) => {
    const own = await startPeer({ token });
    await shell.close();
    ({ shell } = await openFreshShell(scene().gateway, '#publish', { peers: [own.url] }));
    await publishPath(shell, writeFiles(join(folder, 'garden'), garden), 'folder');
    const row = rows(shell).first();
    await act(row, 'Check availability');
    const { host } = new URL(own.url);
    await expect(row).toContainText(`Complete at ${host}: 4 chunks.`);

    // The peer forgets one chunk.
    const address = await row.locator('.published-address').textContent();
    const record = readdirSync(own.storeFolder, { recursive: true, encoding: 'utf8' }).find((path) =>
      path.endsWith(address!),
    );
    await own.kill();
    rmSync(join(own.storeFolder, record!));
    await act(row, 'Check availability');
    await expect(row).toContainText(`${host} does not answer`);
    await expect(row.locator('.code')).toHaveText('PEERS_UNREACHABLE');
    const { url: http, storeFolder: store } = own;
    await startPeer({ token, store, http: new URL(http).host });
    await act(row, 'Check availability');
    await expect(row).toContainText(`Incomplete at ${host}: 3 of 4 chunks.`);
  });

  test('an update gets its own address, and both versions name each other', { tag: '@full' }, async ({
    folder,
  }) => {
    const site = writeFiles(join(folder, 'garden'), garden);
    await publishPath(shell, site, 'folder');
    const before = await rows(shell).first().locator('.published-address').textContent();
    await act(rows(shell).first(), 'Update');
    await expect(shell.locator('.updating')).toContainText('newer version of Garden & pond');
    writeFiles(site, { 'a.txt': 'leaves and flowers' });
    await publishPath(shell, site, 'folder');
    await expect(rows(shell)).toHaveCount(2);
    await expect(rows(shell).nth(0)).toContainText('Newer version of the publication of');
    await expect(rows(shell).nth(1)).toContainText('There is a newer version of');
    await expect(rows(shell).nth(1).locator('.published-address')).toHaveText(before!);

    await act(rows(shell).nth(0), 'Update');
    await publishPath(shell, site, 'folder');
    await expect(shell.getByText('Nothing has changed since the last version')).toBeVisible();
    await expect(rows(shell)).toHaveCount(2);
  });

  test('the link is copied, also of private content after a reload, and opens elsewhere', {
    tag: '@full',
  }, async ({ folder, browser }) => {
    await shell.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    writeFiles(folder, { 'a letter.txt': 'Dear reader' });
    await publishPath(shell, join(folder, 'a letter.txt'), 'files', true);
    await shell.reload();
    await act(rows(shell).first(), 'Copy link');
    await expect(list(shell).getByRole('status').first()).toHaveText('The link to a letter.txt was copied.');
    const link = await shell.evaluate(() => navigator.clipboard.readText());
    expect(link).toContain('/#manifest/');

    const elsewhere = await browser.newContext();
    const page = await elsewhere.newPage();
    await page.goto(link);
    await page.getByRole('button', { name: 'Open it' }).click();
    await expect(viewed(page).getByText('Dear reader')).toBeVisible();
    await elsewhere.close();
  });

  test('a publication is removed from the list after a question, and its content stays', {
    tag: '@full',
  }, async ({ folder }) => {
    await publishPath(shell, writeFiles(join(folder, 'garden'), garden), 'folder');
    const row = rows(shell).first();
    const address = await row.locator('.published-address').textContent();
    await act(row, 'Remove from the list');
    await expect(row.getByRole('button', { name: 'Cancel' })).toBeFocused();
    await row.getByRole('button', { name: 'Cancel' }).click();
    await act(row, 'Remove from the list');
    await row.getByRole('button', { name: 'Remove from the list', exact: true }).click();
    await expect(rows(shell)).toHaveCount(0);
    await shell.reload();
    await expect(list(shell)).toContainText('Nothing yet.');
    expect((await shell.request.head(`${peer.url}/chunk/${address}`)).status()).toBe(200);
  });

  test('deleting everything deletes the list', { tag: '@full' }, async ({ folder }) => {
    await publishPath(shell, writeFiles(join(folder, 'garden'), garden), 'folder');
    await expect(rows(shell)).toHaveCount(1);
    await shell.evaluate(() => fetch('/-/reset', { method: 'POST', body: '{}' }));
    await shell.reload();
    await expect(list(shell)).toContainText('Nothing yet.');
  });

  test('a title with markup and control characters is shown as text', { tag: '@full' }, async ({
    folder,
  }) => {
    const title = '<img src=x onerror="document.title=1">\u202egnp.exe';
    writeFiles(folder, { 'evil/index.html': `<title>${title.replaceAll('<', '&lt;')}</title>` });
    await publishPath(shell, join(folder, 'evil'), 'folder');
    const link = rows(shell).first().getByRole('link');
    await expect(link).toContainText('<img src=x');
    expect(await link.evaluate((each) => each.querySelector('img'))).toBeNull();
    expect(await link.textContent()).not.toContain('\u202e');
  });

  test('axe finds no violation in the list', { tag: '@full' }, async ({ folder }) => {
    await publishPath(shell, writeFiles(join(folder, 'garden'), garden), 'folder');
    await shell.reload();
    await act(rows(shell).first(), 'Check availability');
    await expect(rows(shell).first()).toContainText('Complete at');
    await audit(shell, 'list');
    await act(rows(shell).first(), 'Remove from the list');
    await shell.setViewportSize({ width: 390, height: 844 });
    await audit(shell, 'question on a phone');
  });
});

test('a browser that stores nothing says why nothing is listed', { tag: '@full' }, async ({ folder }) => {
  const { shell, url } = await openFreshShell(scene().gateway);
  await shell.addInitScript(() => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('Storage is blocked.', 'SecurityError');
    };
  });
  await shell.goto(`${url}/#publish`);
  await shell.reload();
  await expect(list(shell).getByRole('alert')).toContainText('SecurityError');
  await expect(list(shell).locator('.code')).toHaveText('REFUSED');
  writeFiles(folder, { 'a.txt': 'something' });
  await publishPath(shell, join(folder, 'a.txt'), 'files');
  await expect(shell.getByText('It is not in the list “Published by you”')).toBeVisible();
});
