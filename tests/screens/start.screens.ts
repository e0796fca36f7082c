import type { Page } from '@playwright/test';
import { expect } from '../support/chromium.ts';
import { infoProxy } from '../support/info-proxy.ts';
import { freePort } from '../support/loopback-server.ts';
import { linkOf } from '../support/manifests.ts';
import { publish } from '../support/publish.ts';
import { viewed } from '../support/viewer.ts';
import { makeDiary, publishLetter, publishSample, publishSmallSites } from './content.ts';
import { tour, withOwnOrigins } from './tour.ts';

const input = (page: Page) => page.getByRole('combobox');
const status = (page: Page) => page.getByRole('banner').getByRole('button').first();

tour('1 start page', async ({ album, t, startPeer, startHost, newProfile, openShell }) => {
  const peer = await startPeer();
  const network = { name: 'mainnet', state: 'connected', peers: 12 };
  await using proxy = await infoProxy(peer.url, (info) => ({ ...info, network, webTransport: null }));
  const [sample, sites, letter] = [
    await publishSample(peer),
    await publishSmallSites(peer),
    await publishLetter(peer),
  ];
  const list = await publish(Buffer.from(JSON.stringify(sites.slice(2))), peer);
  const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

  const bare = await startHost({ peers: [peer.url] });
  const first = await openShell(withOwnOrigins(bare));
  await album.load(first, 'empty', withOwnOrigins(bare), () =>
    expect(region(first, t.open.recent)).toContainText(t.open.nothingOpened),
  );
  await first.getByText(t.open.help.title).click();
  await album.shoot(first, 'help');
  await first.close();

  const host = await startHost({
    ...{ peers: [proxy.url], sample, names: { harbour: letter, log: sites[1]!.address } },
    catalogue: sites.slice(0, 2),
    lists: { Community: list, Unreadable: letter },
  });
  const url = withOwnOrigins(host);
  const page = await openShell(url);
  await album.load(
    page,
    'first visit',
    url,
    async () => {
      await expect(status(page)).toHaveText(t.connection.network(null));
      await expect(region(page, 'Community').getByRole('link')).toHaveCount(2);
      await expect(region(page, 'Unreadable').locator('.code')).toBeVisible();
    },
    {
      copies: {
        'docs/screenshots/start-light.png': [1280, 'light'],
        'public/screenshot-wide.png': [1280, 'light'],
        'public/screenshot-narrow.png': [390, 'light'],
      },
    },
  );
  await input(page).fill('ti');
  await expect(page.getByRole('option').first()).toBeVisible();
  await album.shoot(page, 'suggestions', { isWhole: false });
  await input(page).fill(`ant://${letter}`);
  await expect(page.getByRole('option').first()).toBeVisible();
  await album.shoot(page, 'suggestion of an address', { isWhole: false });
  await input(page).fill('nowhere at all');
  await input(page).press('Enter');
  await expect(page.locator('#address-note')).toContainText('nowhere at all');
  await album.shoot(page, 'unknown input', { isWhole: false });

  const manifest = linkOf(await makeDiary(peer)).slice('ant://manifest/'.length);
  await page.goto(`${url}/#manifest/${manifest}`);
  await expect(page.getByRole('button', { name: t.open.manifestQuestion.open })).toBeVisible();
  await album.shoot(page, 'private link', { isWhole: false });
  await page.getByRole('button', { name: t.open.manifestQuestion.open }).click();
  await expect(viewed(page).getByText('monday.txt')).toBeVisible();

  for (const site of [sites[0]!, sites[2]!, sample]) {
    await page.goto(`${url}/#view=${site.address}/`);
    await expect(viewed(page).getByRole('heading').first()).toBeVisible();
  }
  await page.goto(`${url}/#view=${letter}/letter.txt`);
  await expect(viewed(page).getByText('the tide is out')).toBeVisible();
  await album.load(page, 'recent sites', url, () =>
    expect(region(page, t.open.recent).getByRole('link')).toHaveCount(5),
  );
  await page.evaluate(() => {
    const prompt = { prompt: async () => ({ outcome: 'dismissed' }) };
    window.dispatchEvent(Object.assign(new Event('beforeinstallprompt', { cancelable: true }), prompt));
  });
  await expect(page.getByText(t.notices.install)).toBeVisible();
  await album.shoot(page, 'install offer', { isWhole: false });
  await page.getByRole('button', { name: t.notices.dismiss }).click();

  await status(page).click();
  await expect(region(page, t.connectionDetails.title)).toContainText('12');
  await album.shoot(page, 'connection details', { isWhole: false });
  await page.close();

  const dead = await startHost({ peers: [`http://127.0.0.1:${await freePort()}`] });
  const silent = await openShell(dead.url);
  await expect(status(silent)).toHaveText(t.connection.silent);
  await status(silent).click();
  await album.shoot(silent, 'connection without an answer', { isWhole: false });
  await silent.close();

  const alone = await openShell((await startHost({ peers: [] })).url);
  await expect(status(alone)).toHaveText(t.connection.local);
  await status(alone).click();
  await album.shoot(alone, 'connection without a peer', { isWhole: false });
  await alone.context().setOffline(true);
  await expect(status(alone)).toHaveText(t.connection.offline);
  await album.shoot(alone, 'offline', { isWhole: false });

  // Browsers run no worker over an unprotected connection.
  const insecure = await (await newProfile()).newPage();
  await insecure.goto(bare.url.replace('127.0.0.1', 'insecure.test'));
  await expect(insecure.getByText(t.boot.cannotStart)).toBeVisible();
  await album.shoot(insecure, 'gateway that cannot start');
});
