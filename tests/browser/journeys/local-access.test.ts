import { type Browser, chromium, type Page } from '@playwright/test';
import { expect, openShellIn, test } from '../../support/chromium.ts';
import { setSettings } from '../../support/names-screen.ts';
import type { PeerProcess } from '../../support/peer-process.ts';
import { ProcessGroup } from '../../support/processes.ts';

let group: ProcessGroup;
/** It takes the host for a server of the internet. */
let browser: Browser;
let url: string;

test.describe.configure({ mode: 'default' });
test.beforeAll(async ({ launchOptions }) => {
  group = new ProcessGroup();
  const host = await group.startHost({ peers: [] });
  const { port } = new URL(host.url);
  url = `http://gateway.test:${port}`;
  browser = await chromium.launch({
    ...launchOptions,
    args: [
      ...(launchOptions.args ?? []),
      '--host-resolver-rules=MAP gateway.test 127.0.0.1',
      `--unsafely-treat-insecure-origin-as-secure=${url}`,
      `--ip-address-space-overrides=127.0.0.1:${port}=public`,
    ],
  });
});

test.afterEach(() => Promise.all(browser.contexts().map((context) => context.close())));
test.afterAll(async () => {
  await browser?.close();
  await group?.[Symbol.asyncDispose]();
});

/** The shell of a user with these peers, in a new profile. */
async function openFromInternet(...peers: PeerProcess[]): Promise<Page> {
  const context = await browser.newContext();
  const page = await openShellIn(context, url);
  if (peers.length > 0) {
    await setSettings(page, { peers: peers.map(({ url }) => url) });
    await page.reload();
  }
  return page;
}

const status = (page: Page) => page.getByRole('banner').getByRole('button').first();
const details = (page: Page) => page.getByRole('region', { name: 'Connection', exact: true });

/** Denies what the user could allow. Without this, a browser without windows refuses too, but decides nothing. */
async function deny(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { origin } = new URL(page.url());
  const permission = { name: 'loopback-network' };
  await session.send('Browser.setPermission', { permission, setting: 'denied', origin });
  await session.detach();
}

const allow = (page: Page) =>
  page.context().grantPermissions(['local-network-access'], { origin: new URL(page.url()).origin });

for (const decision of ['none', 'denied'] as const) {
  test(`the shell asks for the local network after a click, and explains a refusal (decision: ${decision})`, {
    tag: decision === 'denied' ? '@full' : [],
  }, async ({ startPeer }) => {
    const page = await openFromInternet(
      await startPeer({ webTransport: 'none', flags: ['--allow-origin', url] }),
    );
    if (decision === 'denied') await deny(page);
    await expect(status(page)).toHaveText('No peer answers');
    await status(page).click();
    await expect(details(page)).toContainText('This browser may need your permission');
    await details(page).getByRole('button', { name: 'Ask for permission' }).click();
    await expect(details(page).getByRole('alert')).toContainText('The browser refuses.');

    await page.context().clearPermissions();
    await allow(page);
    await details(page).getByRole('button', { name: 'Ask for permission' }).click();
    await expect(status(page)).toHaveText('Local only');
    await expect(details(page).getByRole('button', { name: 'Ask for permission' })).toHaveCount(0);
  });
}

test('a peer that does not run is not taken for a refusal', { tag: '@full' }, async ({ startPeer }) => {
  const peer = await startPeer({ webTransport: 'none' });
  const page = await openFromInternet(peer);
  await peer.kill();
  await allow(page);
  await expect(status(page)).toHaveText('No peer answers');
  await status(page).click();
  await details(page).getByRole('button', { name: 'Ask for permission' }).click();
  await expect(details(page).getByRole('alert')).toContainText('Nothing answers there.');
});

test('adding a peer on this computer explains a refusal too', { tag: '@full' }, async ({ startPeer }) => {
  const peer = await startPeer({ webTransport: 'none', flags: ['--allow-origin', url] });
  const page = await openFromInternet();
  await deny(page);
  await page.getByRole('navigation', { name: 'Screens' }).getByRole('link', { name: 'Settings' }).click();
  const peers = page.getByRole('region', { name: 'Peers' });
  await peers.getByLabel('Add a peer').fill(peer.url);
  await peers.getByLabel('Add a peer').press('Enter');
  await expect(peers.getByRole('alert')).toContainText('The browser does not let this page reach 127.0.0.1');
  await page.context().clearPermissions();
  await allow(page);
  await peers.getByLabel('Add a peer').press('Enter');
  await expect(peers.getByRole('listitem')).toContainText(peer.url);
});
