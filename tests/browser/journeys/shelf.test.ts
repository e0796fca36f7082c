import type { Page } from '@playwright/test';
import { Address } from '../../../src/address.ts';
import { createTarchive } from '../../../src/archive/create-tar.ts';
import { listFolder } from '../../../src/cli/folder.ts';
import { expect, fetchIn, openWithoutScripts, sceneOfFile, test } from '../../support/chromium.ts';
import { openFreshShell } from '../../support/fresh-shell.ts';
import { layoutShift, mostShift, observeLayoutShifts } from '../../support/layout.ts';
import { fromRoot } from '../../support/paths.ts';
import type { PeerProcess } from '../../support/peer-process.ts';
import { PointerOwner } from '../../support/pointers.ts';
import { publish } from '../../support/publish.ts';
import { makeTarchive } from '../../support/tar.ts';
import { viewed } from '../../support/viewer.ts';

const screens = ['', '#library', '#live', '#publish', '#settings'];
const windows = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 860 } };

const region = (page: Page, name: string) => page.getByRole('region', { name });
const sampleLink = (page: Page) => page.getByRole('link', { name: 'Open the sample site' });

async function publishSample(peer: PeerProcess) {
  const { entries } = await listFolder(fromRoot('tests/sites/sample'), []);
  const address = await publish(createTarchive(entries), peer);
  const pictures = { icon: 'assets/img/limpet.svg', cover: 'assets/img/shore.svg' };
  return { title: 'Low Tide', address, description: 'A pocket guide to a rocky shore', ...pictures };
}

/** Waits until the network, the pictures and the layout are quiet. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle');
  await page.evaluate(async () => {
    await document.fonts.ready;
    const near = [...document.images].filter((image) => image.loading !== 'lazy');
    await Promise.all(near.map((image) => image.decode().catch(() => undefined)));
    // The browser reports a shift after the frame that shows it.
    for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  });
}

const scene = sceneOfFile(async ({ startPeer, startHost, openWorker }) => {
  const peer = await startPeer();
  const sample = await publishSample(peer);
  return {
    peer,
    sample,
    /** Its visitors have new profiles. */
    host: await startHost({ peers: [peer.url], sample }),
    withoutSample: await openWorker({ peers: [peer.url], names: { sample: 'ab'.repeat(32) } }),
  };
});

test('a first visit leads to the first picture of the sample site within three clicks', async ({ page }) => {
  const { host } = scene();
  let clicks = 0;
  await page.exposeFunction('countClick', () => clicks++);
  await page.addInitScript(() => {
    const { countClick } = window as unknown as { countClick?: () => void };
    addEventListener('click', () => countClick?.(), { capture: true });
  });
  await page.goto(host.url);
  await expect(page.getByText(/^Antway opens sites and files of the Autonomi network/)).toBeVisible();
  const cover = sampleLink(page).locator('img');
  await expect(cover).toHaveJSProperty('complete', true);
  expect(await cover.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);

  // Without scripts, as here, the viewer does not ask.
  await sampleLink(page).click();
  const picture = viewed(page).locator('main img').first();
  await expect
    .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
    .toBeGreaterThan(0);
  expect(clicks).toBeGreaterThan(0);
  expect(clicks).toBeLessThanOrEqual(3);

  // The visit counts after a second.
  await expect.poll(async () => (await fetchIn(page, '/-/sites')).text).toContain('"lastOpened":1');
  await page.goto(host.url);
  await expect(region(page, 'Last opened').getByRole('link')).toHaveCount(1);
  await expect(sampleLink(page)).toHaveCount(0);
  await expect(region(page, 'Recommended by this gateway').getByRole('link')).toHaveText([/Low Tide/]);
});

test('where sites have own origins, one click opens the sample site with its picture', {
  tag: '@full',
}, async ({ page }) => {
  const { host } = scene();
  await page.goto(host.url.replace('127.0.0.1', 'antway.localhost'));
  await sampleLink(page).click();
  const picture = viewed(page).locator('main img').first();
  await expect
    .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
    .toBeGreaterThan(0);
  const hosts = page.frames().map((frame) => new URL(frame.url()).hostname);
  expect(hosts).toContainEqual(expect.stringMatching(/^[a-z2-7]{52}\.antway\.localhost$/));
});

test('the start page starts the worker of the sample’s origin, and nothing counts as opened', {
  tag: '@full',
}, async ({ context, page }) => {
  const { host, sample } = scene();
  await page.goto(host.url.replace('127.0.0.1', 'antway.localhost'));
  const site = `http://${Address.fromHex(sample.address).base32}.${new URL(page.url()).host}`;
  const workers = () => context.serviceWorkers().map((worker) => worker.url());
  await expect.poll(workers).toContain(`${site}/sw.js`);
  expect(JSON.parse((await fetchIn(page, '/-/origins')).text)).toEqual({ origins: [] });
  expect(JSON.parse((await fetchIn(page, '/-/sites')).text)).toMatchObject({ sites: [] });
  await page.reload();
  await expect(region(page, 'Last opened')).toContainText('Nothing yet');

  await sampleLink(page).click();
  await expect(viewed(page).locator('main img').first()).toBeVisible();
});

test('a host without a sample and a catalogue shows neither', { tag: '@full' }, async () => {
  const { shell } = await openFreshShell(scene().withoutSample);
  await expect(region(shell, 'Last opened')).toContainText('Nothing yet');
  await expect(sampleLink(shell)).toHaveCount(0);
  await expect(region(shell, 'Recommended by this gateway')).toHaveCount(0);
  await expect(shell.getByRole('main')).not.toContainText(/[0-9a-f]{8}/);
});

test('catalogues show their sources, keep hostile titles as text, and leave out denied sites', {
  tag: '@full',
}, async ({ startPeer, openGateway, folder }) => {
  const peer = await startPeer();
  const site = await publish(makeTarchive(folder, { 'index.txt': 'the front' }), peer);
  const denied = 'cd'.repeat(32);
  const markup = '<img src=x onerror="document.title=1"><b>bold</b>';
  const list = await publish(
    Buffer.from(
      JSON.stringify([
        { title: markup, address: site, description: '</bdi></a><script>document.title=1</script>' },
        { title: 'עברית', address: site, icon: 'missing.png' },
        { title: 'Denied', address: denied },
      ]),
    ),
    peer,
  );
  const owner = new PointerOwner(5);
  peer.putPointer(owner.address.hex, owner.sign(1n, Address.fromHex(list)));
  const bad = await publish(Buffer.from('[{"title":"a\\u202eb","address":"x"}]'), peer);
  const { shell } = await openGateway({
    peers: [peer.url],
    denied: [denied],
    catalogue: [
      { title: 'From the host', address: site },
      { title: 'Denied', address: denied },
    ],
    lists: { Community: owner.address.hex, Broken: bad },
  });
  const titles = (name: string) => region(shell, name).locator('.cover-title');
  await expect(titles('Recommended by this gateway')).toHaveText(['From the host']);
  await expect(titles('Community')).toHaveText([markup, 'עברית']);
  await expect(region(shell, 'Community')).toContainText('List of this gateway');
  await expect(region(shell, 'Community').locator('b, script')).toHaveCount(0);
  await expect(region(shell, 'Broken')).toContainText('This list cannot be shown');
  await expect(region(shell, 'Broken').locator('.code')).toHaveText('UNSUPPORTED');
  expect(await shell.title()).toBe('Antway');
  await region(shell, 'Community').getByRole('link').first().click();
  await expect(viewed(shell).getByRole('link', { name: 'index.txt' })).toBeVisible();
});

test('a user adds a list of sites in the settings, and removes it; the gateway reads no list before that', {
  tag: '@full',
}, async () => {
  const { peer } = scene();
  const letter = await publish(Buffer.from('a letter'), peer);
  const list = await publish(Buffer.from(JSON.stringify([{ title: 'A letter', address: letter }])), peer);
  const gateway = await openFreshShell(scene().withoutSample);
  const { shell } = gateway;
  expect((await gateway.fetch(`/-/lists?address=${list}`)).status).toBe(403);

  await shell.goto(`${gateway.url}/#settings`);
  const section = region(shell, 'Lists of sites');
  await section.getByLabel('Title of the list').fill('My list');
  await section.getByLabel('Address of the list').fill('no address');
  await section.getByRole('button', { name: 'Add a list' }).click();
  await expect(section.getByRole('alert')).toHaveText('An address has 64 hex digits.');
  await section.getByLabel('Address of the list').fill(`ant://${list}`);
  await section.getByRole('button', { name: 'Add a list' }).click();
  await expect(section.getByRole('listitem')).toHaveText(['My list']);

  await shell.goto(gateway.url);
  await shell.reload();
  await expect(region(shell, 'My list').getByRole('link')).toHaveText([/A letter/]);
  await expect(region(shell, 'My list')).toContainText('List of your settings');
  await shell.getByRole('combobox').fill('letter');
  await expect(shell.locator('.suggestion-detail')).toHaveText(['My list']);

  await shell.goto(`${gateway.url}/#settings`);
  await section.getByRole('button', { name: 'Remove the list My list' }).click();
  await expect(section.getByRole('listitem')).toHaveCount(0);
  await shell.goto(gateway.url);
  await expect(region(shell, 'Last opened')).toBeVisible();
  await expect(region(shell, 'My list')).toHaveCount(0);
});

for (const [device, viewport] of Object.entries(windows)) {
  // `tests/screens` measures it in windows of all widths.
  test(`no screen moves by more than ${mostShift} while it loads, on a ${device}`, { tag: '@full' }, async ({
    startHost,
    browser,
  }) => {
    test.setTimeout(180_000);
    const { peer, sample } = scene();
    const letters = await Promise.all(
      Array.from({ length: 6 }, (_, i) => publish(Buffer.from(`letter ${i}`), peer)),
    );
    const entries = letters.map((address, i) => ({ title: `Letter ${i}`, address }));
    const list = await publish(Buffer.from(JSON.stringify(entries)), peer);
    const host = await startHost({
      ...{ peers: [peer.url], sample, catalogue: entries },
      lists: { Community: list, Broken: letters[0]! },
    });
    const url = host.url.replace('127.0.0.1', 'antway.localhost');
    const context = await browser.newContext({ viewport });
    await observeLayoutShifts(context);
    const page = await context.newPage();
    const shifts: Record<string, number> = {};

    await page.goto(url);
    await expect(region(page, 'Community').getByRole('link')).toHaveCount(6);
    await settle(page);
    shifts['the first visit'] = await layoutShift(page);
    for (const address of [sample.address, ...letters]) {
      await page.goto(`${url}/${address}`);
      await openWithoutScripts(page);
    }
    for (const screen of screens) {
      await page.goto('about:blank');
      await page.goto(`${url}/${screen}`);
      await expect(page.getByRole('banner').getByRole('status')).not.toContainText('Starting');
      await settle(page);
      shifts[screen || 'open'] = await layoutShift(page);
    }
    for (const [name, value] of Object.entries(shifts)) expect(value, name).toBeLessThanOrEqual(mostShift);
    await context.close();
  });
}

test('names that arrive after the other parts of the start page do not move its rows', {
  tag: '@full',
}, async ({ startHost, browser }) => {
  const { peer } = scene();
  const entries = await Promise.all(
    Array.from({ length: 6 }, async (_, i) => ({
      title: `Letter ${i}`,
      address: await publish(Buffer.from(`letter ${i}`), peer),
    })),
  );
  const names = Object.fromEntries(entries.map(({ address }, i) => [`letter-${i}`, address]));
  const host = await startHost({ peers: [peer.url], catalogue: entries });
  const context = await browser.newContext({ viewport: { width: 768, height: 1024 } });
  await observeLayoutShifts(context);
  const page = await context.newPage();
  await page.goto(host.url);
  await expect(region(page, 'Recommended').getByRole('link')).toHaveCount(6);
  await fetchIn(page, '/-/settings', { method: 'PUT', body: JSON.stringify({ names }) });
  await expect(region(page, 'Names').getByRole('link')).toHaveCount(6);
  await page.addInitScript(() => {
    const { fetch } = window;
    window.fetch = async (...request) => {
      const answer = await fetch(...request);
      // A visible delay: the other parts are drawn long before.
      if (String(request[0]).endsWith('/-/settings')) await new Promise((done) => setTimeout(done, 1_500));
      return answer;
    };
  });
  await page.reload();
  await expect(region(page, 'Names').getByRole('link')).toHaveCount(6);
  await expect(region(page, 'Recommended').getByRole('link')).toHaveCount(6);
  await settle(page);
  expect(await layoutShift(page)).toBeLessThanOrEqual(mostShift);
  await context.close();
});
