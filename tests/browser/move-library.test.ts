import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page, Request } from '@playwright/test';
import { Address } from '../../src/address.ts';
import type { SiteOrigin } from '../../src/gateway/state/site-origins.ts';
import type { Settings } from '../../src/server-config.ts';
import type { ListedSite } from '../../src/shell/gateway-api.ts';
import { expect, fetchIn, openShellIn, openWithoutScripts, test, trustSite } from '../support/chromium.ts';
import { makePrivateManifest } from '../support/manifests.ts';
import { distFolder } from '../support/paths.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { expectPin, pinAction } from '../support/pins.ts';
import type { HostConfig } from '../support/processes.ts';
import { publish } from '../support/publish.ts';
import { publishedRows, publishPath, token, writeFiles } from '../support/publish-screen.ts';
import { shellStored } from '../support/shell-stored.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { viewed } from '../support/viewer.ts';
import { visitCounts } from '../support/visits.ts';

/** A site whose title tells whether its scripts run. */
const siteFiles = (name: string) => ({
  'index.html': `<!doctype html><title>${name}, still</title><script>document.title = '${name}, running'</script>`,
  'page.html': `<!doctype html><title>${name}, a page</title>`,
});
const offerName = 'Another address of this gateway';
const blocked = 'dd'.repeat(32);

let peer: PeerProcess;
let host: PeerProcess;
let configFile: string;
let context: BrowserContext;
let former: string;
let root: string;

test.beforeEach(async ({ startPeer, browser, folder }) => {
  peer = await startPeer();
  configFile = join(folder, 'antway.json');
  writeConfig({});
  host = await startPeer({ flags: ['--web', distFolder, '--web-config', configFile], webTransport: 'none' });
  const { port } = new URL(host.url);
  former = `http://127.0.0.1:${port}`;
  root = `http://antway.localhost:${port}`;
  context = await browser.newContext();
});

test.afterEach(() => context.close());

function writeConfig(config: Partial<HostConfig>): void {
  writeFileSync(configFile, JSON.stringify({ peers: [peer.url], ...config }));
}

const openShell = (origin: string, fragment = '') => openShellIn(context, `${origin}/${fragment}`);

async function publishSite(name: string): Promise<string> {
  return publish(await makeTarchive(siteFiles(name)), peer);
}

const setSettings = (shell: Page, settings: Settings) =>
  fetchIn(shell, '/-/settings', { method: 'PUT', body: JSON.stringify(settings) });

async function asked<T>(shell: Page, path: string): Promise<T> {
  return JSON.parse((await fetchIn(shell, `/-/${path}`)).text);
}

const sites = async (shell: Page) => (await asked<{ sites: ListedSite[] }>(shell, 'sites')).sites;
const addresses = async (shell: Page) => (await sites(shell)).map(({ address }) => address).sort();

/** Opens a site at the former address, and answers its question. */
async function visit(address: string, answer: (page: Page) => Promise<void>): Promise<void> {
  const page = await context.newPage();
  await page.goto(`${former}/${address}/`);
  await answer(page);
  await page.waitForURL(`${former}/${address}/`);
  await visitCounts(page);
  await page.close();
}

function offerIn(shell: Page) {
  return shell.getByRole('region', { name: offerName });
}

/** Presses the button of the shell, and waits for what the other window shows. */
async function beginMove(shell: Page): Promise<Page> {
  const opened = context.waitForEvent('page');
  await offerIn(shell).getByRole('button', { name: 'Move the library there…' }).click();
  const popup = await opened;
  await expect(popup.getByRole('heading')).toHaveText(`Take over the library of ${former}?`);
  return popup;
}

async function agree(popup: Page): Promise<void> {
  const take = popup.getByRole('button', { name: 'Take it over' });
  await expect(take).toHaveAttribute('aria-disabled', 'false');
  await take.click();
}

test('a library moves to the address with origins of sites; its pins open offline there, and the user can delete the former library', {
  tag: '@full',
}, async () => {
  test.setTimeout(180_000);
  const [pinned, visited, named] = await Promise.all(['Pinned', 'Visited', 'Named'].map(publishSite));
  const manifest = await makePrivateManifest('Letters', siteFiles('Private'), peer);
  // Only the user's own peer has anything.
  writeConfig({ peers: ['http://127.0.0.1:9'] });
  const before = await openShell(root);
  await setSettings(before, { names: { both: named! }, denied: ['ee'.repeat(32)] });
  await before.close();

  const shell = await openShell(former);
  await setSettings(shell, {
    peers: [peer.url],
    names: { both: visited!, own: visited! },
    denied: [blocked],
    cache: { memoryBytes: 50_000_000 },
  });
  await visit(pinned!, trustSite);
  await visit(visited!, openWithoutScripts);
  await pinAction(shell, pinned!, 'pin');
  await expectPin(shell, pinned!, { state: 'complete' });
  const id: string = await shell.evaluate(
    async (bytes) =>
      (await (await fetch('/-/manifests', { method: 'POST', body: new Uint8Array(bytes) })).json()).id,
    [...manifest],
  );
  await visit(id, openWithoutScripts);
  await expect.poll(() => addresses(shell)).toEqual([pinned, visited, id].sort());

  const popup = await beginMove(shell);
  await expect(popup.getByText('3 sites: 1 pinned, 1 private')).toBeVisible();
  await expect(popup.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await agree(popup);
  await expect(popup.getByRole('heading')).toHaveText('The library was taken over');
  await expect(popup.getByText('both: You have this name for another address.')).toBeVisible();
  await expect(popup.getByRole('heading')).toBeFocused();
  await expect(offerIn(shell).getByRole('status')).toContainText('3 sites were copied');

  await popup.getByRole('link', { name: 'Open the library here' }).click();
  await popup.waitForURL(`${root}/#library`);
  expect(await addresses(popup)).toEqual([pinned, visited, id].sort());
  const [there, here] = await Promise.all([sites(popup), sites(shell)]);
  for (const { address, title, lastOpened, path } of here) {
    expect(there.find((site) => site.address === address)).toMatchObject({ title, lastOpened, path });
  }
  expect(await asked(popup, 'settings')).toEqual({
    peers: [peer.url],
    names: { both: named, own: visited },
    denied: ['ee'.repeat(32), blocked],
    cache: { memoryBytes: 50_000_000 },
  });
  const decided = await asked<{ address: string; decision: string }[]>(popup, 'trust');
  expect(decided.map(({ address, decision }) => [address, decision]).sort()).toEqual(
    [visited!, id].sort().map((address) => [address, 'restricted']),
  );
  // The name of what is private is nowhere in the clear.
  expect(await stored(popup)).not.toMatch(/Letters|Private/);

  // The shell there moves the pin on.
  await expect
    .poll(
      async () => {
        const { origins } = await asked<{ origins: SiteOrigin[] }>(popup, 'origins');
        return origins.map(({ address, report }) => [address, report?.pin?.state]);
      },
      { timeout: 60_000 },
    )
    .toEqual([[pinned, 'complete']]);

  expect(await addresses(shell)).toEqual([pinned, visited, id].sort());
  await offerIn(shell).getByRole('button', { name: 'Delete it here…' }).click();
  await expect(offerIn(shell).getByRole('button', { name: 'Cancel' })).toBeFocused();
  await offerIn(shell).getByRole('button', { name: 'Delete everything' }).click();
  await expect.poll(() => addresses(shell)).toEqual([]);
  await expect(offerIn(shell).getByRole('status')).toHaveText('Everything was deleted.');
  await expect(offerIn(shell).getByRole('button')).toHaveCount(1);
  await expect(shell.locator('main h1')).toBeFocused();

  await shellStored(shell);
  await Promise.all([peer.kill(), host.kill()]);
  const page = await context.newPage();
  await page.goto(`${root}/${pinned}/`);
  await expect(page).toHaveTitle('Pinned, running');
  expect(page.url()).toBe(`${root.replace('//', `//${Address.fromHex(pinned!).base32}.`)}/`);
});

/** All that the gateway's settings hold, as text. */
function stored(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const request = indexedDB.open('antway');
      request.onsuccess = () => resolve(request.result);
    });
    const values = database.transaction('settings').objectStore('settings').getAll();
    await new Promise((resolve) => {
      values.onsuccess = resolve;
    });
    database.close();
    return JSON.stringify(values.result);
  });
}

test('publications move too: private ones open with their link at the other address', {
  tag: '@full',
}, async ({ startPeer, folder }) => {
  const writable = await startPeer({ token });
  writeConfig({ peers: [writable.url] });
  const shell = await openShell(former, '#publish');
  const garden = writeFiles(join(folder, 'garden'), { 'index.html': '<!doctype html><title>Garden</title>' });
  writeFiles(folder, { 'diary.txt': 'Fog again.' });
  await publishPath(shell, garden, 'folder');
  await shell.getByRole('button', { name: 'Publish something else' }).click();
  await publishPath(shell, join(folder, 'diary.txt'), 'files', true);
  await expect(publishedRows(shell)).toHaveCount(2);
  await shell.goto(`${former}/#open`);
  await shell.reload();
  const popup = await beginMove(shell);
  await expect(popup.getByText('2 publications of yours')).toBeVisible();
  await agree(popup);
  await expect(popup.getByRole('heading')).toHaveText('The library was taken over');
  await expect(popup.getByRole('status')).toContainText('and 2 publications are here now');
  await expect(offerIn(shell).getByRole('status')).toContainText('and 2 publications were copied');

  const there = await openShell(root, '#publish');
  await expect(publishedRows(there)).toHaveCount(2);
  expect(await stored(there)).not.toMatch(/Garden|diary/);
  await publishedRows(there).nth(0).getByRole('link', { name: 'diary.txt' }).click();
  await expect(viewed(there).getByText('Fog again.')).toBeVisible();
  // They were copied, not moved.
  await shell.goto(`${former}/#publish`);
  await expect(publishedRows(shell)).toHaveCount(2);
});

test('a cancelled move leaves both libraries as they were, also if its window is closed', {
  tag: '@full',
}, async () => {
  const address = await publishSite('Stays');
  const shell = await openShell(former);
  await visit(address, openWithoutScripts);
  await expect.poll(() => addresses(shell)).toEqual([address]);
  const cancelled = await beginMove(shell);
  const gone = cancelled.waitForEvent('close');
  // The window closes itself at once, often before the browser reports that it was clicked.
  await cancelled
    .getByRole('button', { name: 'Cancel' })
    .click()
    .catch(() => undefined);
  await gone;
  await expect(offerIn(shell).getByRole('status')).toContainText('The library was not copied');
  const closed = await beginMove(shell);
  await closed.close();
  await expect(offerIn(shell).getByRole('status')).toContainText('The library was not copied');
  expect(await addresses(shell)).toEqual([address]);
  expect(await addresses(await openShell(root))).toEqual([]);
});

test('a site that fails to move is named with the reason, the others move, and a second attempt moves it', {
  tag: '@full',
}, async ({ startPeer }) => {
  const visited = await publishSite('Visited');
  const bytes = Buffer.from('a letter that no peer has yet');
  const other = await publish(bytes, await startPeer());
  const shell = await openShell(former);
  await visit(visited, openWithoutScripts);
  await pinAction(shell, other, 'pin');
  await expect.poll(() => addresses(shell)).toEqual([visited, other].sort());

  const popup = await beginMove(shell);
  await agree(popup);
  await expect(popup.getByRole('heading')).toHaveText('Not all of the library was taken over');
  await expect(popup.getByRole('listitem')).toHaveText(new RegExp(`^${other}: .*\\(NOT_FOUND\\)$`));
  await expect(offerIn(shell).getByRole('status')).toContainText('1 site was copied');
  await expect(offerIn(shell).getByRole('status')).toContainText('and 1 could not be');
  const there = await openShell(root);
  expect(await addresses(there)).toEqual([visited]);

  await publish(bytes, peer);
  await pinAction(shell, other, 'resume');
  await expectPin(shell, other, { state: 'complete' });
  await popup.bringToFront();
  await popup.getByRole('button', { name: 'Try again' }).click();
  await expect(popup.getByRole('heading')).toHaveText('The library was taken over');
  expect(await addresses(there)).toEqual([visited, other].sort());
  await expectPin(there, other, { state: 'complete' });
});

test('the shell offers the move once, and the settings still offer it', { tag: '@smoke' }, async () => {
  const shell = await openShell(former);
  // There is nothing to move yet.
  await expect(offerIn(shell).getByRole('link', { name: 'Open it there' })).toHaveAttribute(
    'href',
    `${root}/`,
  );
  await expect(offerIn(shell).getByRole('button')).toHaveCount(1);
  await offerIn(shell).getByRole('button', { name: 'Hide this offer' }).click();
  await expect(offerIn(shell)).toHaveCount(0);
  await shell.reload();
  await shell.goto(`${former}/#settings`);
  await expect(offerIn(shell).getByRole('heading')).toBeVisible();
  await setSettings(shell, { transport: 'http' });
  await shell.reload();
  await expect(offerIn(shell).getByRole('button', { name: 'Move the library there…' })).toBeVisible();
  await shell.goto(`${former}/#library`);
  await expect(shell.getByRole('heading', { name: 'Library' })).toBeVisible();
  await expect(offerIn(shell)).toHaveCount(0);
});

/** Resolves after the app has rendered what it knows, and has had the answer that comes before each probe. */
function untilAsked(shell: Page): Promise<void> {
  return shell.evaluate(async () => {
    for (let round = 0; round < 3; round++) {
      await new Promise(requestAnimationFrame);
      await fetch('/-/health');
    }
  });
}

for (const [where, probes, prepare] of [
  [
    'the other address does not answer',
    3,
    () => context.route(`${root}/-/probe-*`, (route) => route.abort()),
  ],
  [
    'another build answers at the other address',
    3,
    () =>
      context.route(`${root}/-/probe-*`, (route) =>
        route.fulfill({ json: { antway: 'ab'.repeat(32) }, headers: { 'Access-Control-Allow-Origin': '*' } }),
      ),
  ],
  ['the host gives no site an origin of its own', 0, async () => writeConfig({ isolation: 'path' })],
  [
    'the library is already there',
    0,
    async () => {
      former = root;
    },
  ],
] as const) {
  test(`the shell offers no move if ${where}`, { tag: '@full' }, async () => {
    await prepare();
    const shell = await openShell(former, '#settings');
    const probed: Request[] = [];
    shell.on('request', (request) => {
      if (request.url().includes('/-/probe-')) probed.push(request);
    });
    await shell.reload();
    await expect(shell.getByRole('region', { name: 'Peers' })).toContainText(
      'This list comes from the host.',
    );
    await expect.poll(() => probed.length).toBe(probes);
    await probed.at(-1)?.response();
    await untilAsked(shell);
    expect(probed).toHaveLength(probes);
    await expect(offerIn(shell)).toHaveCount(0);
  });
}
