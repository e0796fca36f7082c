import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { keptFiles, makeKeptSite, seenText } from '../support/offline-site.ts';
import { PeerProcess } from '../support/peer-process.ts';
import { noise, publish } from '../support/publish.ts';
import { copyStore } from '../support/stores.ts';
import { sha256 } from '../support/tar.ts';
import { Gateway, type Page, test, WebKit } from './harness.ts';

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
  expect(await page.text()).toContain(seenText);
  await page.waitFor(() => document.querySelector('img')?.naturalWidth === 7);
}

test('a site opens over HTTP, after the question of a first visit, and its links work', async ({
  openGateway,
}) => {
  const gateway = await openGateway(library);
  expect(await gateway.shell.evaluate(() => typeof WebTransport)).toBe('undefined');

  const page = await gateway.openPage(`/${address}/`);
  await page.follow('Open without scripts');
  expect(await page.url()).toBe(`${gateway.url}/${address}/`);
  await expectSeen(page);
  expect(await page.title()).toBe('Kept');
  await page.follow('More');
  expect(await page.text()).toContain('And this one too.');
  await page.follow('Back');
  await expectSeen(page);

  expect((await gateway.peers()).map(({ state }) => state)).toEqual(['http']);
  expect(await library.chunksGiven('webtransport')).toBe(0);
});

test('a site runs its scripts once the user says so', async ({ openGateway }) => {
  const gateway = await openGateway(library);
  const page = await gateway.openPage(`/${address}/`);
  for (const step of ['Trust this site', 'Yes, run its scripts']) {
    await page.waitFor(() => document.querySelector('[aria-disabled=false]') !== null);
    await page.follow(step);
  }
  await page.waitFor(() => document.title === 'Scripted');
});

test('a file of several chunks has every byte', async ({ openGateway }) => {
  const file = noise(9, 9_000_000);
  const fileAddress = await publish(file, library);
  const gateway = await openGateway(library);
  expect(await gateway.fetch(`/${fileAddress}`)).toMatchObject({
    status: 200,
    size: file.length,
    sha256: sha256(file),
  });
});

test('the kernel decrypts chunks although WebCrypto lacks the cipher, and libsodium is not cached', async ({
  openGateway,
}) => {
  const gateway = await openGateway(library);
  const found = await gateway.shell.evaluate(async () => {
    const hasNative = await crypto.subtle
      .importKey('raw-secret' as 'raw', new Uint8Array(32), 'ChaCha20-Poly1305', false, ['decrypt'])
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
  expect((await gateway.fetch(`/${address}/seen.svg`)).text).toBe(svg);
});

test('a range is answered with exactly its bytes, and a film plays from its middle', {
  tags: 'full',
}, async ({ openGateway }) => {
  const gateway = await openGateway(library);
  const part = await gateway.fetch(`/${address}/film.webm`, { headers: { Range: 'bytes=1000-70999' } });
  expect(part).toMatchObject({ status: 206, size: 70_000, sha256: sha256(film.subarray(1000, 71_000)) });
  expect(part.headers['content-range']).toBe(`bytes 1000-70999/${film.length}`);

  const page = await gateway.openPage(`/${address}/film.html`);
  await page.follow('Open without scripts');
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

test('seen content opens without host and peer after a restart of the browser, and unseen content is a 504', async ({
  startPeer,
  startHost,
  folder,
}) => {
  const store = join(folder, 'store');
  copyStore(library.storeFolder, store);
  const peer = await startPeer({ store });
  // Its chunks are stored as Blobs.
  const large = noise(10, 9_000_000);
  const largeAddress = await publish(large, peer);
  const host = await startHost({ peers: [peer.url] });
  const profile = join(folder, 'profile');

  const before = await WebKit.launch(profile);
  try {
    const gateway = await Gateway.open(host, before);
    const page = await gateway.openPage(`/${address}/`);
    await page.follow('Open without scripts');
    await expectSeen(page);
    await gateway.fetch(`/${largeAddress}`);
    await gateway.settled();
  } finally {
    await before.close();
  }
  await Promise.all([peer.kill(), host.kill()]);

  const after = await WebKit.launch(profile);
  try {
    const page = await after.newPage();
    await page.goto(`${host.url}/${address}/`);
    await expectSeen(page);
    await page.goto(`${host.url}/${address}/unseen.html`);
    expect(await page.text()).toContain('PEERS_UNREACHABLE');
    // The shell opens as well. WebDriver tells no status of a page, so a script asks for it.
    const gateway = await Gateway.open(host, after);
    expect(await gateway.fetch(`/${address}/seen.svg`)).toMatchObject({ status: 200, text: svg });
    expect((await gateway.fetch(`/${address}/unseen.html`)).status).toBe(504);
    expect((await gateway.fetch(`/${largeAddress}`)).sha256).toBe(sha256(large));
  } finally {
    await after.close();
  }
});
