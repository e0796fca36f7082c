import type { Page } from '@playwright/test';
import { expect, type Gateway, sceneOfFile, test } from '../../support/chromium.ts';
import { openFreshShell } from '../../support/fresh-shell.ts';
import { linkOf, makePrivateManifest } from '../../support/manifests.ts';
import type { PeerProcess } from '../../support/peer-process.ts';
import { publish } from '../../support/publish.ts';
import { makeTarchive } from '../../support/tarchive.ts';
import { untilViewed } from '../../support/viewer.ts';

const publicGateway = 'https://gateway.example';

let peer: PeerProcess;
let gateway: Gateway;
let shell: Page;
let site: string;

const panel = () => shell.getByRole('region', { name: 'Share', exact: true });
const main = (label: string) =>
  panel()
    .locator('.share-main')
    .filter({ has: shell.getByText(label, { exact: true }) });

const scene = sceneOfFile(async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  const site = await publish(
    await makeTarchive({ 'index.html': '<!doctype html><title>Low Tide</title>', 'a.jpg': 'picture' }),
    peer,
  );
  return {
    peer,
    site,
    local: await openWorker({ peers: [peer.url] }),
    withPublic: await openWorker({ peers: [peer.url], publicGateways: [publicGateway] }),
  };
});

test.beforeEach(() => {
  ({ peer, site } = scene());
});

async function open(address: string): Promise<void> {
  await shell.getByRole('combobox', { name: 'Search or open an address' }).fill(address);
  await shell.keyboard.press('Enter');
}

async function shareFromBar(): Promise<void> {
  await shell.locator('.site-bar').getByRole('button', { name: 'Share' }).click();
}

/** Makes the system's share sheet of the page record its calls. */
async function withShareSheet(page: Page, outcome: 'shared' | 'AbortError' | 'DataError'): Promise<void> {
  await page.addInitScript((outcome) => {
    Object.defineProperty(navigator, 'share', {
      value: async (data: ShareData) => {
        Object.assign(window, { sharedData: data });
        if (outcome !== 'shared') throw new DOMException('no', outcome);
      },
    });
  }, outcome);
}

test.describe('at a gateway that only this computer reaches', () => {
  test('the viewer warns, and offers a link that works elsewhere', async () => {
    gateway = await openFreshShell(scene().local);
    shell = gateway.shell;
    await shell.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await open(site);
    await untilViewed(shell, `/${site}/`);
    await shareFromBar();
    await expect(panel()).toContainText('work on this computer or in its network only');
    await expect(main('ant:// link').locator('.result-text')).toHaveText(`ant://${site}/`);
    await expect(panel().getByRole('img', { name: 'QR code of the link' })).toBeVisible();
    await main('ant:// link').getByRole('button', { name: 'Copy: ant:// link' }).click();
    await expect(main('ant:// link').getByRole('status')).toHaveText('Copied.');
    expect(await shell.evaluate(() => navigator.clipboard.readText())).toBe(`ant://${site}/`);

    const more = panel().locator('details');
    await expect(more.getByText(`${gateway.url}/${site}/`)).toBeHidden();
    await more.getByText('More', { exact: true }).click();
    await expect(more.getByText(`${gateway.url}/${site}/`)).toBeVisible();
    await expect(more.getByText(`<iframe src="ant://${site}/" title=""></iframe>`)).toBeVisible();
  });

  test('a public gateway of the host is the main link', { tag: '@full' }, async () => {
    gateway = await openFreshShell(scene().withPublic);
    shell = gateway.shell;
    await withShareSheet(shell, 'shared');
    await shell.reload();
    await open(`${site}/a.jpg`);
    await untilViewed(shell, `/${site}/a.jpg`);
    await shareFromBar();
    const link = `${publicGateway}/${site}/a.jpg`;
    await expect(main('Link at gateway.example').locator('.result-text')).toHaveText(link);
    await panel().getByRole('button', { name: 'Share…' }).click();
    const shared = () => shell.evaluate(() => (window as { sharedData?: ShareData }).sharedData);
    expect(await shared()).toMatchObject({ url: link });
    await expect(panel().getByRole('alert')).toHaveCount(0);
  });
});

test('a closed share sheet is no error, and a failed one is', { tag: '@full' }, async () => {
  gateway = await openFreshShell(scene().withPublic);
  for (const [outcome, alerts] of [
    ['AbortError', 0],
    ['DataError', 1],
  ] as const) {
    shell = await gateway.shell.context().newPage();
    await withShareSheet(shell, outcome);
    await shell.goto(`${gateway.url}/#view=${site}/`);
    await untilViewed(shell, `/${site}/`);
    await shareFromBar();
    await panel().getByRole('button', { name: 'Share…' }).click();
    await shell.waitForFunction(() => 'sharedData' in window);
    await expect(panel().getByRole('alert')).toHaveCount(alerts);
  }
});

test('the library shares a site', { tag: '@full' }, async () => {
  gateway = await openFreshShell(scene().withPublic);
  shell = gateway.shell;
  await open(site);
  await untilViewed(shell, `/${site}/`);
  await shell.goto(`${gateway.url}/#library`);
  const row = shell.locator('.site-row');
  await row.getByRole('button', { name: /^More for/ }).click();
  await row.getByRole('button', { name: 'Share: Low Tide' }).click();
  await expect(row.getByText(`${publicGateway}/${site}/`)).toBeVisible();
});

test('nothing is shared before the list of sites tells whether the content is private', {
  tag: '@full',
}, async () => {
  gateway = await openFreshShell(scene().withPublic);
  shell = gateway.shell;
  const manifest = await makePrivateManifest('Diary', { 'a.txt': 'Fog again.' }, peer);
  const key = linkOf(manifest).slice('ant://manifest/'.length);
  await open(linkOf(manifest));
  await untilViewed(shell, /^\/[0-9a-f]{64}\/$/);
  await shell.addInitScript(() => {
    const { fetch } = window;
    const arrived = new Promise<void>((resolve) => Object.assign(window, { letSitesArrive: resolve }));
    window.fetch = async (input, init) => {
      if (String(input instanceof Request ? input.url : input).includes('/-/sites')) await arrived;
      return fetch(input, init);
    };
  });
  await shell.reload();
  await untilViewed(shell, /^\/[0-9a-f]{64}\/$/);
  await shareFromBar();
  await expect(panel()).toContainText('Opening …');
  await expect(panel().locator('.result-text')).toHaveCount(0);
  await shell.evaluate(() => (window as unknown as { letSitesArrive(): void }).letSitesArrive());
  await expect(panel()).toContainText('contains the key of this private content');
  expect(await shell.content()).not.toContain(key);
  await expect(panel().locator('.result-text')).toHaveCount(0);
});

test('the link of a private site is shown only after the user learned that it contains the key', {
  tag: '@full',
}, async () => {
  gateway = await openFreshShell(scene().withPublic);
  shell = gateway.shell;
  const manifest = await makePrivateManifest('Diary', { 'a.txt': 'Fog again.' }, peer);
  const key = linkOf(manifest).slice('ant://manifest/'.length);
  await open(linkOf(manifest));
  await untilViewed(shell, /^\/[0-9a-f]{64}\/$/);
  await expect(shell.getByRole('heading', { level: 1 })).toHaveText('Diary');
  await shareFromBar();
  await expect(panel()).toContainText('contains the key of this private content');
  expect(await shell.content()).not.toContain(key);
  await panel().getByRole('button', { name: 'Show the link with the key' }).click();
  await expect(panel().getByText(`${publicGateway}/#manifest/${key}`)).toBeVisible();
  await expect(panel()).toContainText('contains the key of this private content');
  expect(gateway.host.log.join('\n')).not.toContain(key);
  expect(peer.log.join('\n')).not.toContain(key);
});
