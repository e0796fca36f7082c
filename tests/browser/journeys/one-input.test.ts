import type { Page } from '@playwright/test';
import { expectAccessible } from '../../support/accessibility.ts';
import { expect, type Gateway, openWithoutScripts, sceneOfFile, test } from '../../support/chromium.ts';
import { openFreshShell } from '../../support/fresh-shell.ts';
import { linkOf, makePrivateManifest } from '../../support/manifests.ts';
import type { PeerProcess } from '../../support/peer-process.ts';
import { publish } from '../../support/publish.ts';
import { shellStored } from '../../support/shell-stored.ts';
import { makeTarchive } from '../../support/tar.ts';
import { untilViewed, viewed } from '../../support/viewer.ts';
import { visitCounts } from '../../support/visits.ts';

const input = (page: Page) => page.getByRole('combobox', { name: 'Search or open an address' });
const list = (page: Page) => page.getByRole('listbox', { name: 'Suggestions' });
const options = (page: Page) => list(page).getByRole('option');
const titles = (page: Page) => list(page).locator('.suggestion-title');
const kinds = (page: Page) => list(page).locator('.suggestion-kind');

const title = 'Tide tables';
/** Titles that pretend to be something else. */
const hostileTitles = [
  'Change settings',
  '<img src=x onerror="document.title=1">',
  'turned \u202eelbatecart',
];

let peer: PeerProcess;
let gateway: Gateway;
let shell: Page;
let site: string;

/** Publishes a site with this title and a file, and opens it once. */
async function openSite(folder: string, title: string): Promise<string> {
  const text = title.replaceAll('<', '&lt;');
  const page = `<!doctype html><title>${text}</title><h1>A site</h1>`;
  const address = await publish(
    makeTarchive(folder, { 'index.html': page, 'notes/spring tide.txt': 'high water' }),
    peer,
  );
  await shell.goto(`${gateway.url}/${address}/`);
  await openWithoutScripts(shell);
  await expect(shell.getByRole('heading', { name: 'A site' })).toBeVisible();
  await visitCounts(shell);
  await shell.goto(gateway.url);
  return address;
}

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  const gateway = await openWorker({
    peers: [peer.url],
    names: { harbour: 'ab'.repeat(32) },
    catalogue: [{ title: 'Tidal islands', address: 'cd'.repeat(32), description: 'A walk at low water' }],
  });
  return { peer, gateway };
});

test.beforeEach(async ({ folder }) => {
  peer = scene().peer;
  gateway = await openFreshShell(scene().gateway);
  shell = gateway.shell;
  site = await openSite(folder, title);
  await untilReady();
});

/** The start page has its site, so it listens to the keyboard too. */
async function untilReady(): Promise<void> {
  await expect(shell.getByRole('region', { name: 'Last opened' }).getByRole('link')).toHaveCount(1);
}

test('the keyboard finds and opens a site, a file, a recommended site and a screen', {
  tag: '@full',
}, async () => {
  await shell.keyboard.press('/');
  await expect(input(shell)).toBeFocused();
  await expect(input(shell)).toHaveAttribute('aria-expanded', 'false');
  await shell.keyboard.type('tid');
  await expect(titles(shell)).toHaveText([title, 'Tidal islands', 'spring tide.txt']);
  await expect(kinds(shell)).toHaveText(['Site', 'Recommended', 'File']);
  await expect(input(shell)).toHaveAttribute('aria-expanded', 'true');
  const active = () =>
    input(shell).evaluate((element) => {
      const option = document.getElementById(element.getAttribute('aria-activedescendant') ?? '');
      return [option?.getAttribute('aria-selected'), option?.querySelector('bdi')?.textContent];
    });
  expect(await active()).toEqual(['true', title]);
  await shell.keyboard.press('ArrowUp');
  expect(await active()).toEqual(['true', 'spring tide.txt']);
  await shell.keyboard.press('ArrowDown');
  await shell.keyboard.press('ArrowDown');
  expect(await active()).toEqual(['true', 'Tidal islands']);
  await shell.keyboard.press('ArrowDown');
  await shell.keyboard.press('Enter');
  const content = await untilViewed(shell, `/${site}/notes/spring%20tide.txt`);
  await expect(content.getByText('high water')).toBeVisible();

  await shell.goto(gateway.url);
  await untilReady();
  await shell.keyboard.press('Control+k');
  await shell.keyboard.type('tables');
  await expect(titles(shell)).toHaveText([title]);
  await shell.keyboard.press('Enter');
  await expect(viewed(shell).getByRole('heading', { name: 'A site' })).toBeVisible();

  await shell.goto(gateway.url);
  await input(shell).pressSequentially('low water');
  await expect(titles(shell)).toHaveText(['Tidal islands']);
  await expect(list(shell)).toContainText('Recommended by this gateway · A walk at low water');

  for (const [words, screen] of [
    ['publish', 'publish'],
    ['settings', 'settings'],
    ['live', 'live'],
    ['pin sites', 'library'],
  ] as const) {
    await input(shell).fill(words);
    await expect(kinds(shell).first()).toHaveText('Action');
    await input(shell).press('Enter');
    await expect(shell).toHaveURL(`${gateway.url}/#${screen}`);
    await expect(shell.getByRole('main').getByRole('heading', { level: 1 })).toBeFocused();
    await shell.keyboard.press('/');
    await expect(input(shell)).toBeFocused();
  }
});

test('Escape closes the list, then clears the input; the arrow opens the list of an empty input', {
  tag: '@full',
}, async () => {
  await input(shell).fill('tid');
  await expect(options(shell)).toHaveCount(3);
  await input(shell).press('Escape');
  await expect(list(shell)).toHaveCount(0);
  await expect(input(shell)).toHaveValue('tid');
  await input(shell).press('Escape');
  await expect(input(shell)).toHaveValue('');
  await input(shell).press('ArrowDown');
  await expect(titles(shell).first()).toHaveText(title);
  await expect(kinds(shell)).toContainText(['Site', 'Action']);
  await shell.getByRole('heading', { level: 1 }).click();
  await expect(list(shell)).toHaveCount(0);
});

test('typing sends no request, and the slash in another field types a slash', async () => {
  await input(shell).focus();
  await input(shell).press('ArrowDown');
  await expect(options(shell).first()).toBeVisible();
  await shellStored(shell);
  await shell.waitForLoadState('networkidle');
  const requests: string[] = [];
  shell.context().on('request', (request) => {
    const { pathname } = new URL(request.url());
    // The shell asks its worker for its own state at intervals.
    if (!/^\/-\/(config|peers)$|^\/antway\.json$/.test(pathname)) requests.push(request.url());
  });
  // Timers of up to a second, by which typing could delay a request, end at once.
  await shell.evaluate(() => {
    const { setTimeout } = window;
    const hurried = (run: TimerHandler, delay = 0) => setTimeout(run, delay > 1_000 ? delay : 0);
    Object.assign(window, { setTimeout: hurried });
  });
  await input(shell).pressSequentially('tide tables harbour 12');
  await input(shell).fill('ef'.repeat(32));
  // All requests before this one are known when it is.
  const last = `${gateway.url}/-/health`;
  await shell.evaluate(async (url) => {
    for (let timer = 0; timer < 5; timer++) await new Promise((resolve) => setTimeout(resolve));
    await fetch(url);
  }, last);
  await expect.poll(() => requests).toContain(last);
  expect(requests).toEqual([last]);
  await input(shell).fill('a');
  await input(shell).press('/');
  await expect(input(shell)).toHaveValue('a/');
});

test('an address shows all of its digits on a phone, and can be pinned', { tag: '@full' }, async () => {
  await shell.setViewportSize({ width: 390, height: 844 });
  await input(shell).fill(`ant://${site.toUpperCase()}`);
  await expect(titles(shell).first()).toHaveText(site);
  await expect(kinds(shell)).toHaveText(['Address', 'Action']);
  const { isCut, isInside } = await titles(shell)
    .first()
    .evaluate((element) => {
      const { left, right, bottom } = element.getBoundingClientRect();
      return {
        isCut: element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight + 1,
        isInside: left >= 0 && right <= innerWidth && bottom <= innerHeight,
      };
    });
  expect([isCut, isInside]).toEqual([false, true]);
  await input(shell).press('ArrowDown');
  await input(shell).press('Enter');
  await expect(shell.locator('.site-row').filter({ hasText: title }).locator('.pin-fact')).toHaveText(
    'Pinned',
  );
});

test('64 digits fit into the input of a wide window', { tag: '@full' }, async () => {
  await shell.setViewportSize({ width: 1280, height: 860 });
  await input(shell).fill('0'.repeat(64));
  expect(await input(shell).evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
});

test('private links, names and paths are suggestions too', { tag: '@full' }, async () => {
  const manifest = await makePrivateManifest('Diary', { 'diary.txt': 'Fog again.' }, peer);
  await input(shell).fill(linkOf(manifest));
  await expect(kinds(shell)).toHaveText(['Private link']);
  await expect(titles(shell)).toHaveText(['Open the private content of this link']);
  await input(shell).fill('harbour/index.html');
  await expect(kinds(shell)).toHaveText(['Name']);
  await input(shell).fill('harb');
  await expect(titles(shell)).toHaveText(['harbour']);
});

test('titles of strangers stay text, stay beside their kind, and come after actions', {
  tag: '@full',
}, async ({ folder }) => {
  for (const hostile of hostileTitles) await openSite(folder, hostile);
  await input(shell).fill('change settings');
  await expect(kinds(shell)).toHaveText(['Action', 'Site']);
  await input(shell).fill('<img');
  await expect(titles(shell)).toHaveText([hostileTitles[1]!]);
  await expect(list(shell).locator('img')).toHaveCount(0);
  expect(await shell.title()).toBe('Antway');
  await input(shell).fill('turned');
  expect(await titles(shell).first().textContent()).toBe('turned  elbatecart');
  const long = await openSite(folder, `wide ${'W'.repeat(190)}`);
  expect(long).toHaveLength(64);
  await shell.setViewportSize({ width: 390, height: 844 });
  await input(shell).fill('wide');
  const kind = (await kinds(shell).first().boundingBox())!;
  expect(kind.x + kind.width).toBeLessThanOrEqual(390);
  expect(kind.width).toBeGreaterThan(20);
});

test('axe finds nothing on the start page with an open list', { tag: '@full' }, async () => {
  for (const text of ['tid', site, 'publish']) {
    await input(shell).fill(text);
    await expect(options(shell).first()).toBeVisible();
    await expectAccessible(shell, { what: text, schemes: ['light', 'dark'] });
  }
});
