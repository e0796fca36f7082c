import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { launchFirefox } from '../support/firefox.ts';
import { keptFiles, makeKeptSite, seenText } from '../support/offline-site.ts';
import { PeerProcess } from '../support/peer-process.ts';
import { noise, publish } from '../support/publish.ts';
import { copyStore } from '../support/stores.ts';
import { sha256 } from '../support/tar.ts';
import { decide, Gateway, type Page, test } from './harness.ts';

/** Holds what is read; the tests never change it. */
let library: PeerProcess;
/** Of the site. */
let address: string;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'antway-site-'));
  library = await PeerProcess.start();
  address = await publish(makeKeptSite(folder), library);
  rmSync(folder, { recursive: true });
});
afterAll(() => library?.stop());

const { 'film.webm': film, 'seen.svg': svg } = keptFiles;

async function expectSeen(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.body.textContent)).toContain(seenText);
  await page.waitForFunction(() => document.querySelector('img')?.naturalWidth === 7);
}

const statesOf = async (gateway: Gateway) => (await gateway.peers()).map(({ state }) => state);

test('a site opens over WebTransport, after the question of a first visit', async ({ openGateway }) => {
  const file = noise(9, 9_000_000);
  const fileAddress = await publish(file, library);
  const gateway = await openGateway(library);

  const { page, response } = await gateway.openPage(`/${address}/`);
  expect(response.status()).toBe(403);
  await decide(page, 'Open without scripts');
  expect(page.url()).toBe(`${gateway.host.url}/${address}/`);
  await expectSeen(page);
  expect(await page.title()).toBe('Kept');

  expect(await gateway.fetch(`/${fileAddress}`)).toMatchObject({
    status: 200,
    size: file.length,
    sha256: sha256(file),
  });
  expect(await statesOf(gateway)).toEqual(['webtransport']);
  expect(await library.chunksGiven('webtransport')).toBeGreaterThan(0);
});

test('a site runs its scripts once the user says so', async ({ openGateway }) => {
  const gateway = await openGateway(library);
  const { page } = await gateway.openPage(`/${address}/`);
  await decide(page, 'Trust this site');
  await decide(page, 'Yes, run its scripts');
  await page.waitForFunction(() => document.title === 'Scripted');
});

test('the kernel decrypts chunks although WebCrypto lacks the cipher, and libsodium is not cached', async ({
  openGateway,
}) => {
  const file = noise(10, 300_000);
  const fileAddress = await publish(file, library);
  const gateway = await openGateway(library);
  const found = await gateway.shell.evaluate(async () => {
    const key = new Uint8Array(32);
    const hasNative = await crypto.subtle
      .importKey('raw-secret' as 'raw', key, 'ChaCha20-Poly1305', false, ['decrypt'])
      .then(
        () => true,
        () => false,
      );
    const kept: string[] = [];
    for (const name of await caches.keys()) {
      for (const { url } of await (await caches.open(name)).keys()) kept.push(url);
    }
    return { hasNative, keepsSodium: kept.some((url) => /libsodium.*\.wasm$/.test(url)) };
  });
  expect(found).toEqual({ hasNative: false, keepsSodium: false });
  expect((await gateway.fetch(`/${fileAddress}`)).sha256).toBe(sha256(file));
});

test('HTTP serves if a peer has no WebTransport', async ({ startPeer, openGateway, folder }) => {
  copyStore(library.storeFolder, folder);
  const gateway = await openGateway(await startPeer({ webTransport: 'none', store: folder }));
  expect((await gateway.fetch(`/${address}/seen.svg`)).text).toBe(svg);
  expect(await statesOf(gateway)).toEqual(['http']);
});

test('a range is answered with exactly its bytes, and a film plays from its middle', {
  tags: 'full',
}, async ({ openGateway }) => {
  const gateway = await openGateway(library);
  const part = await gateway.fetch(`/${address}/film.webm`, { headers: { Range: 'bytes=1000-70999' } });
  expect(part).toMatchObject({ status: 206, size: 70_000, sha256: sha256(film.subarray(1000, 71_000)) });
  expect(part.headers['content-range']).toBe(`bytes 1000-70999/${film.length}`);

  const { page } = await gateway.openPage(`/${address}/film.html`);
  await decide(page, 'Open without scripts');
  const at = await page.evaluate(async () => {
    const player = document.querySelector('video')!;
    const until = (event: string) =>
      new Promise((resolve, reject) => {
        player.addEventListener(event, resolve, { once: true });
        player.addEventListener('error', () => reject(new Error(player.error?.message)), { once: true });
      });
    if (player.readyState < HTMLMediaElement.HAVE_METADATA) await until('loadedmetadata');
    const seeked = until('seeked');
    player.currentTime = 15;
    await seeked;
    await player.play();
    while (player.currentTime < 15.3) await until('timeupdate');
    return player.currentTime;
  });
  expect(at).toBeGreaterThan(15);
});

test('seen content opens without host and peer after a restart of the browser, and unseen content is a 504', {
  tags: 'full',
}, async ({ startPeer, startHost, folder }) => {
  const store = join(folder, 'store');
  copyStore(library.storeFolder, store);
  const peer = await startPeer({ store });
  const host = await startHost({ peers: [peer.url] });
  const profile = join(folder, 'profile');

  const before = await launchFirefox(profile);
  try {
    const gateway = await Gateway.open(host, before);
    const { page } = await gateway.openPage(`/${address}/`);
    await decide(page, 'Open without scripts');
    await expectSeen(page);
    await gateway.settled();
  } finally {
    await before.close();
  }
  await Promise.all([peer.kill(), host.kill()]);

  const after = await launchFirefox(profile);
  try {
    const page = await after.newPage();
    await page.goto(`${host.url}/${address}/`);
    await expectSeen(page);
    const missing = await page.goto(`${host.url}/${address}/unseen.html`);
    expect(missing!.status()).toBe(504);
    expect(await page.evaluate(() => document.body.textContent)).toContain('PEERS_UNREACHABLE');
    await page.goto(host.url);
    await page.waitForSelector('::-p-aria([name="Search or open an address"][role="combobox"])');
  } finally {
    await after.close();
  }
});
