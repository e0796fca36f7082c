import type { Page } from '@playwright/test';
import { expect, Gateway, stopWorkers, test } from '../support/chromium.ts';
import { publish } from '../support/publish.ts';
import { randomBytes } from '../support/random.ts';

/** Makes a chunk database of an earlier version, which had fewer object stores, with chunks in it. */
function makeEarlierVersion(page: Page, chunks: { address: string; base64: string }[]): Promise<void> {
  return page.evaluate(async (chunks) => {
    await new Promise<void>((resolve, reject) => {
      const deleting = indexedDB.deleteDatabase('antway-chunks');
      deleting.onsuccess = () => resolve();
      deleting.onerror = () => reject(deleting.error);
    });
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open('antway-chunks', 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore('chunks');
        request.result.createObjectStore('metadata').createIndex('lastUsed', 'lastUsed');
        request.result.createObjectStore('totals');
      };
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    const transaction = database.transaction(['chunks', 'metadata', 'totals'], 'readwrite');
    let total = 0;
    for (const { address, base64 } of chunks) {
      const key = Uint8Array.from(address.match(/../g)!, (pair) => Number.parseInt(pair, 16));
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      transaction.objectStore('chunks').put(bytes.buffer, key);
      transaction.objectStore('metadata').put({ size: bytes.length, lastUsed: 1_700_000_000_000 }, key);
      total += bytes.length;
    }
    transaction.objectStore('totals').put({ count: chunks.length, bytes: total }, 'all');
    await new Promise((resolve) => {
      transaction.oncomplete = resolve;
    });
    database.close();
  }, chunks);
}

/** Opens the chunk database with any version. @returns its version and stores. */
function describeDatabase(page: Page, version?: number): Promise<{ version: number; stores: string[] }> {
  return page.evaluate(async (version) => {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const request = indexedDB.open('antway-chunks', version);
      request.onupgradeneeded = () => void request.result.createObjectStore('later');
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    const description = { version: database.version, stores: [...database.objectStoreNames] };
    database.close();
    return description;
  }, version);
}

test('a database upgrade adds object stores; the chunks remain, are counted and can be evicted', {
  tag: '@smoke',
}, async ({ startPeer, startHost, page }) => {
  const peer = await startPeer();
  const chunks: { address: string; base64: string }[] = [];
  const file = Buffer.from('kept since version 1 '.repeat(100));
  const address = await publish(file, {
    async put(address, bytes) {
      chunks.push({ address, base64: Buffer.from(bytes).toString('base64') });
    },
  });
  const bytes = chunks.reduce((sum, { base64 }) => sum + Buffer.from(base64, 'base64').length, 0);
  const host = await startHost({ peers: [peer.url], cache: { maxBytes: bytes + 1_000 } });
  // A page of the origin that has no worker.
  await page.goto(`${host.url}/icon.svg`);
  await makeEarlierVersion(page, chunks);

  const gateway = await Gateway.openWorker(host, page);
  // No peer has it.
  expect((await gateway.fetch(`/${address}`)).text).toBe(file.toString());
  expect(await gateway.cache()).toMatchObject({ count: 4, bytes });
  expect(await describeDatabase(page)).toEqual({
    version: 3,
    stores: ['chunks', 'inventories', 'metadata', 'pinReferences', 'pins', 'totals'],
  });
  // They go when there is no more room.
  for (let i = 0; i < 4; i++) {
    const noise = randomBytes(bytes);
    expect((await gateway.fetch(`/${await publish(noise, peer)}`)).status).toBe(200);
    await gateway.settled();
    expect((await gateway.cache()).bytes).toBeLessThanOrEqual(bytes + 1_000);
  }
  await stopWorkers(page);
  expect((await gateway.fetch(`/${address}`)).status).toBe(404);
});

test('the worker uses the known object stores of a later database version', { tag: '@full' }, async ({
  startPeer,
  openWorker,
}) => {
  const peer = await startPeer();
  const gateway = await openWorker({ peers: [peer.url] });
  const before = await publish(Buffer.from('stored before the later version'), peer);
  expect((await gateway.fetch(`/${before}`)).status).toBe(200);
  await gateway.settled();
  expect(await describeDatabase(gateway.shell, 99)).toMatchObject({ version: 99 });
  await stopWorkers(gateway.shell);
  const after = await publish(Buffer.from('stored after it'), peer);
  expect((await gateway.fetch(`/${after}`)).status).toBe(200);
  await gateway.settled();
  expect(await gateway.cache()).toMatchObject({ count: 8, available: true });
  await peer.kill();
  await stopWorkers(gateway.shell);
  for (const address of [before, after]) expect((await gateway.fetch(`/${address}`)).status).toBe(200);
});
