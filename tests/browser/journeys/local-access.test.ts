import { type Browser, chromium, type Page } from '@playwright/test';
import { test as base, expect } from '../../support/chromium.ts';
import type { PeerProcess } from '../../support/peer-process.ts';

interface Fixtures {
  /** The shell of a host with these peers, in a browser that takes the host for a server of the internet. */
  openFromInternet(...peers: PeerProcess[]): Promise<Page>;
}

const test = base.extend<Fixtures>({
  openFromInternet: async ({ startHost, launchOptions }, use) => {
    const browsers: Browser[] = [];
    await use(async (...peers) => {
      const host = await startHost({ peers: peers.map(({ url }) => url) });
      const { port } = new URL(host.url);
      const url = `http://gateway.test:${port}`;
      const browser = await chromium.launch({
        ...launchOptions,
        args: [
          ...(launchOptions.args ?? []),
          '--host-resolver-rules=MAP gateway.test 127.0.0.1',
          `--unsafely-treat-insecure-origin-as-secure=${url}`,
          `--ip-address-space-overrides=127.0.0.1:${port}=public`,
        ],
      });
      browsers.push(browser);
      const page = await browser.newPage();
      await page.goto(url);
      return page;
    });
    await Promise.all(browsers.map((browser) => browser.close()));
  },
});

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
  test(`the shell asks for the local network after a click, and explains a refusal (decision: ${decision})`, async ({
    startPeer,
    openFromInternet,
  }) => {
    const page = await openFromInternet(await startPeer({ webTransport: 'none' }));
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

test('a peer that does not run is not taken for a refusal', async ({ startPeer, openFromInternet }) => {
  const peer = await startPeer({ webTransport: 'none' });
  const page = await openFromInternet(peer);
  await peer.kill();
  await allow(page);
  await expect(status(page)).toHaveText('No peer answers');
  await status(page).click();
  await details(page).getByRole('button', { name: 'Ask for permission' }).click();
  await expect(details(page).getByRole('alert')).toContainText('Nothing answers there.');
});

test('adding a peer on this computer explains a refusal too', async ({ startPeer, openFromInternet }) => {
  const peer = await startPeer({ webTransport: 'none' });
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
