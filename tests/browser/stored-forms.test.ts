import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, Gateway, stopWorkers, test } from '../support/chromium.ts';
import { expectPin, pinAction } from '../support/pins.ts';
import { noise, publish } from '../support/publish.ts';
import { sha256 } from '../support/tar.ts';

/** A record of some bytes and three chunks of about 1.1 MB. */
const large = noise(17, 3_300_000);
const small = noise(18, 3_000);

/** How many stored chunks have which form; those of at least 1 MiB are large. */
function countForms(page: Page): Promise<Record<string, number>> {
  return page.evaluate(async () => {
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const database = await done(indexedDB.open('antway-chunks'));
    const values: (Blob | ArrayBuffer)[] = await done(
      database.transaction('chunks').objectStore('chunks').getAll(),
    );
    database.close();
    const counts: Record<string, number> = {};
    for (const value of values) {
      const isBlob = value instanceof Blob;
      const isLarge = (isBlob ? value.size : value.byteLength) >= 1024 * 1024;
      const form = `${isLarge ? 'large' : 'small'} ${isBlob ? 'Blobs' : 'buffers'}`;
      counts[form] = (counts[form] ?? 0) + 1;
    }
    return counts;
  });
}

/** Puts buffers in the place of Blobs, as a browser stores them that refuses Blobs. */
function makeBuffers(page: Page): Promise<void> {
  return page.evaluate(async () => {
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const database = await done(indexedDB.open('antway-chunks'));
    const chunks = () => database.transaction('chunks', 'readwrite').objectStore('chunks');
    for (const key of await done(chunks().getAllKeys())) {
      const value: Blob | ArrayBuffer = await done(chunks().get(key));
      const buffer = value instanceof Blob ? await value.arrayBuffer() : value;
      await done(chunks().put(buffer, key));
    }
    database.close();
  });
}

test('large chunks are stored as Blobs and small ones as buffers, and both are read again', async ({
  startPeer,
  openWorker,
}) => {
  const peer = await startPeer();
  const files = [large, small];
  const addresses = await Promise.all(files.map((file) => publish(file, peer)));
  const gateway = await openWorker({ peers: [peer.url] });
  const expectBoth = async () => {
    for (const [i, address] of addresses.entries()) {
      expect((await gateway.fetch(`/${address}`)).sha256).toBe(sha256(files[i]!));
    }
  };
  await expectBoth();
  await gateway.settled();
  expect(await countForms(gateway.shell)).toEqual({ 'large Blobs': 3, 'small buffers': 5 });
  await peer.kill();
  await stopWorkers(gateway.shell);
  await expectBoth();

  // One database can have both forms: a browser may have refused Blobs before.
  await makeBuffers(gateway.shell);
  expect(await countForms(gateway.shell)).toEqual({ 'large buffers': 3, 'small buffers': 5 });
  await stopWorkers(gateway.shell);
  await expectBoth();
  expect((await gateway.stats()).chunks).toMatchObject({ damaged: 0, disk: { count: 8 } });
});

test('a Blob with a missing file is a damaged chunk: it is counted, deleted and fetched again', {
  tag: '@full',
}, async ({ playwright, launchOptions, startPeer, startHost, folder }) => {
  const peer = await startPeer();
  const address = await publish(large, peer);
  const host = await startHost({ peers: [peer.url] });
  const profile = join(folder, 'profile');
  const before = await playwright.chromium.launchPersistentContext(profile, launchOptions);
  const { shell } = await Gateway.openWorker(host, await before.newPage());
  await pinAction(shell, address, 'pin');
  await expectPin(shell, address, { state: 'complete', activity: 'idle' });
  expect(await countForms(shell)).toEqual({ 'large Blobs': 3, 'small buffers': 1 });
  await before.close();
  const files = blobFiles(profile);
  expect(files).toHaveLength(3);
  for (const file of files.slice(1)) rmSync(file);

  const after = await playwright.chromium.launchPersistentContext(profile, launchOptions);
  const gateway = await Gateway.open(host, await after.newPage());
  const { sha256: hash } = await gateway.fetch(`/${address}`);
  expect(hash).toBe(sha256(large));
  await gateway.settled();
  expect((await gateway.stats()).chunks).toMatchObject({ damaged: 2, stored: { count: 2 } });
  await expectPin(gateway.shell, address, { state: 'complete', activity: 'idle' });
  expect(await gateway.cache()).toMatchObject({ count: 4 });
  await peer.kill();
  await stopWorkers(gateway.shell);
  expect((await gateway.fetch(`/${address}`)).sha256).toBe(hash);
  await after.close();
});

for (const fails of ['at once', 'with its transaction'] as const) {
  test(`chunks are stored as buffers if a Blob cannot be stored (it fails ${fails})`, {
    tag: '@full',
  }, async ({ startPeer, openWorker, context }) => {
    const peer = await startPeer();
    const gateway = await openWorker({ peers: [peer.url] });
    const worker = context.serviceWorkers()[0]!;
    await worker.evaluate((fails) => {
      const put = IDBObjectStore.prototype.put;
      Object.assign(globalThis, { blobPuts: 0 });
      IDBObjectStore.prototype.put = function (value, key) {
        if (!(value instanceof Blob)) return put.call(this, value, key);
        (globalThis as typeof globalThis & { blobPuts: number }).blobPuts++;
        if (fails === 'at once') throw new DOMException('No Blobs here.', 'DataCloneError');
        const request = put.call(this, 'no Blob', key);
        this.transaction.abort();
        return request;
      };
    }, fails);
    for (const seed of [21, 22]) {
      const file = noise(seed, 3_300_000);
      expect((await gateway.fetch(`/${await publish(file, peer)}`)).sha256).toBe(sha256(file));
      await gateway.settled();
    }
    expect(await countForms(gateway.shell)).toEqual({ 'large buffers': 6, 'small buffers': 2 });
    expect(await gateway.cache()).toMatchObject({ count: 8, available: true });
    expect((await gateway.stats()).chunks).toMatchObject({ unstored: 0, stored: { count: 8 } });
    // It was not tried for each anew.
    const tried = await worker.evaluate(
      () => (globalThis as typeof globalThis & { blobPuts: number }).blobPuts,
    );
    expect(tried).toBeLessThanOrEqual(3);
  });
}

/** The files in which Chromium keeps the Blobs of its databases. */
function blobFiles(profile: string): string[] {
  const databases = join(profile, 'Default/IndexedDB');
  return readdirSync(databases, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath.includes('.indexeddb.blob'))
    .map((entry) => join(entry.parentPath, entry.name));
}
