import type { Page } from '@playwright/test';
import { limits } from '../../src/limits.ts';
import { test as base, errorCode, expect, Gateway, stopWorkers } from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { randomBytes } from '../support/random.ts';
import { makeTarchive } from '../support/tar.ts';

/**
 * A site of six chunks. Opening its front page may bring the first three, which one OPEN asks for, and the last with
 * its index: `unseen.html` is in the fifth, which nothing asks for.
 */
function makeSite(folder: string): Buffer {
  return makeTarchive(folder, {
    'index.html': '<title>Kept</title><p>This page was seen.</p><img src="seen.svg" alt="">',
    'seen.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>',
    'first.bin': randomBytes(4.5 * limits.plaintextChunkBytes),
    'unseen.html': '<p>This page was not seen.</p>',
    'second.bin': randomBytes(limits.plaintextChunkBytes),
  });
}

interface Fixtures {
  /** The site's front page, seen, everything of it stored, and the only peer gone since. */
  seen: { gateway: Gateway; page: Page; address: string; peer: PeerProcess };
  /** Starts the peer that is gone anew, with what it had. */
  startAgain(peer: PeerProcess): Promise<PeerProcess>;
}

const test = base.extend<Fixtures>({
  seen: async ({ startPeer, openGateway, folder }, use) => {
    const peer = await startPeer();
    const address = await publish(makeSite(folder), peer);
    const gateway = await openGateway({ peers: [peer.url] });
    const page = await gateway.openPage(`/${address}/`);
    await expectSeen(page);
    await gateway.settled();
    await peer.kill();
    await use({ gateway, page, address, peer });
  },

  startAgain: async ({ startPeer }, use) =>
    use(({ url, storeFolder }) => startPeer({ http: new URL(url).host, store: storeFolder })),
});

test.describe('without peers', { tag: '@full' }, () => {
  test('seen content opens, also after a reload', async ({ seen: { gateway, page, address } }) => {
    await page.reload();
    await expectSeen(page);
    // From disk as well, and not only from the worker's memory.
    await stopWorkers(page);
    await page.reload();
    await expectSeen(page);
    await expectSeen(await gateway.openPage(`/${address}/`));
  });

  test('unseen content is a page with 504 and its code, and JSON for a script', async ({
    seen: { gateway, address, peer },
  }) => {
    for (const path of [`/${address}/unseen.html`, `/${'ab'.repeat(32)}`]) {
      const page = await gateway.shell.context().newPage();
      const response = await page.goto(gateway.url + path);
      expect(response!.status()).toBe(504);
      expect(response!.headers()['content-type']).toContain('text/html');
      await expect(page.getByRole('heading')).toHaveText('No peer answered');
      await expect(page.getByText('Code PEERS_UNREACHABLE')).toBeVisible();
      await page.getByText('Details').click();
      await expect(page.getByRole('table')).toContainText(peer.url);

      const answer = await gateway.fetch(path);
      expect([answer.status, answer.headers['content-type']]).toEqual([504, 'application/json']);
      expect(errorCode(answer)).toBe('PEERS_UNREACHABLE');
      expect(JSON.parse(answer.text).details.attempts[0]).toMatchObject({ peer: peer.url });
    }
  });

  test('unseen content opens once a peer is back', async ({
    seen: { gateway, page, address, peer },
    startAgain,
  }) => {
    const missing = await page.goto(`${gateway.url}/${address}/unseen.html`);
    expect(missing!.status()).toBe(504);

    await startAgain(peer);
    await page.getByRole('link', { name: 'Try again' }).click();
    await expect(page.getByText('This page was not seen.')).toBeVisible();
  });
});

test('seen content opens without host and peers after a restart of the browser', { tag: '@full' }, async ({
  playwright,
  launchOptions,
  startPeer,
  startHost,
  folder,
}) => {
  const peer = await startPeer();
  const address = await publish(makeSite(folder), peer);
  const host = await startHost({ peers: [peer.url] });
  const profile = `${folder}/profile`;

  const before = await playwright.chromium.launchPersistentContext(profile, launchOptions);
  const gateway = await Gateway.open(host, await before.newPage());
  await expectSeen(await gateway.openPage(`/${address}/`));
  await gateway.settled();
  await before.close();
  await Promise.all([peer.kill(), host.kill()]);

  const after = await playwright.chromium.launchPersistentContext(profile, launchOptions);
  const page = await after.newPage();
  await page.goto(`${host.url}/${address}/`);
  await expectSeen(page);
  await page.goto(host.url);
  await expect(page.getByRole('combobox', { name: 'Search or open an address' })).toBeVisible();
  await after.close();
});

test('seen content opens without network, and unseen content is a page with 503 OFFLINE', {
  tag: '@smoke',
}, async ({ seen: { gateway, page, address } }) => {
  await page.context().setOffline(true);

  await page.reload();
  await expectSeen(page);
  const response = await page.goto(`${gateway.url}/${address}/unseen.html`);
  expect(response!.status()).toBe(503);
  await expect(page.getByRole('heading')).toHaveText('You are offline');
  await expect(page.getByText('Code OFFLINE')).toBeVisible();
  const answer = await gateway.fetch(`/${address}/unseen.html`);
  expect([answer.status, errorCode(answer)]).toEqual([503, 'OFFLINE']);

  // Both say what is missing.
  const { file, whole } = JSON.parse(answer.text).details.stored;
  expect(file).toEqual({ path: 'unseen.html', stored: 0, total: 1 });
  expect(whole.stored).toBeGreaterThan(0);
  expect(whole.stored).toBeLessThan(whole.total);
  await expect(page.getByText('0 of 1 chunks of “unseen.html” are stored')).toContainText(
    `${whole.stored} of ${whole.total} chunks of the whole site are stored on this device.`,
  );
  await page.goto(`${gateway.url}/${'ab'.repeat(32)}`);
  await page.getByText('Details').click();
  await expect(page.getByText('No part of it is stored on this device.')).toBeVisible();
});

test('an error page opens its content by itself when the network is back', { tag: '@full' }, async ({
  seen: { gateway, page, address, peer },
  startAgain,
}) => {
  await page.context().setOffline(true);
  await page.goto(`${gateway.url}/${address}/unseen.html`);
  await expect(page.getByText('Code OFFLINE')).toBeVisible();

  await startAgain(peer);
  await page.context().setOffline(false);
  await expect(page.getByText('This page was not seen.')).toBeVisible();
});

test('the worker asks unreachable peers again when the network is back, and an error page tries once', {
  tag: '@full',
}, async ({ startPeer, openGateway }) => {
  const peer = await startPeer();
  const address = await publish(Buffer.from('a letter'), peer);
  const gateway = await openGateway({ peers: [peer.url] });
  await peer.kill();
  const context = gateway.shell.context();
  await context.setOffline(true);
  const page = await context.newPage();
  await page.goto(`${gateway.url}/${address}`);
  await expect(page.getByText('Code OFFLINE')).toBeVisible();
  const states = async () => (await gateway.peers()).map(({ state }) => state);
  expect(await states()).toEqual(['unreachable']);
  await page.goto('about:blank');
  await context.setOffline(false);
  await expect.poll(states).toEqual(['idle']);

  await context.setOffline(true);
  await page.goto(`${gateway.url}/${address}`);
  await expect(page.getByText('Code OFFLINE')).toBeVisible();
  let loads = 0;
  page.on('load', () => loads++);
  await context.setOffline(false);
  await expect(page.getByText('Code PEERS_UNREACHABLE')).toBeVisible();
  expect(loads).toBe(1);
});

async function expectSeen(page: Page): Promise<void> {
  await expect(page).toHaveTitle('Kept');
  await expect(page.getByText('This page was seen.')).toBeVisible();
  const image = page.getByRole('presentation');
  await expect.poll(() => image.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(7);
}
