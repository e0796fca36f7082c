import type { Page } from '@playwright/test';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { expect, test } from '../support/chromium.ts';
import { makePrivateManifest } from '../support/manifests.ts';
import { expectPin, listSites, pinAction } from '../support/pins.ts';
import { noise, publish } from '../support/publish.ts';
import { anttpFixture, makeTarchive, sha256 } from '../support/tar.ts';

/** Texts of what is opened below. */
const plaintexts = [
  'A sentence of the front page that must not be written to disk.',
  'body { --a-style-that-must-not-be-written: 1px }',
  'A sentence of a file, whose bytes are repeated. ',
  // Every so often among noise: its chunks are too large to be stored as anything but Blobs.
  'A sentence of a large file.',
  // Of AntTP's tarchive_site.
  'console.log',
  '<svg',
  'archive.tar.idx',
  'routeMap',
];

test('databases and caches hold only ciphertext of the pages that the user read', { tag: '@full' }, async ({
  startPeer,
  openWorker,
  folder,
}) => {
  const peer = await startPeer();
  const site = await publish(
    makeTarchive(folder, {
      'index.html': `<link rel="stylesheet" href="a.css"><p>${plaintexts[0]}</p>`,
      'a.css': plaintexts[1]!,
    }),
    peer,
  );
  const file = await publish(Buffer.from(plaintexts[2]!.repeat(30_000)), peer);
  const large = noise(3, 4_000_000);
  for (let at = 0; at < large.length; at += 10_000) large.set(Buffer.from(plaintexts[3]!), at);
  const largeFile = await publish(large, peer);
  const { address: anttpSite } = anttpFixture('tarchive_site');
  await peer.putFixture('anttp/tarchive_site');

  const gateway = await openWorker({ peers: [peer.url] });
  const page = await gateway.openPage(`/${site}/`);
  await expect(page.getByText(plaintexts[0]!)).toBeVisible();
  expect((await gateway.fetch(`/${file}`)).size).toBe(plaintexts[2]!.length * 30_000);
  expect((await gateway.fetch(`/${largeFile}`)).sha256).toBe(sha256(large));
  for (const path of ['', 'app.js', 'assets/img/a.svg', 'docs/']) {
    expect((await gateway.fetch(`/${anttpSite}/${path}`)).status).toBe(200);
  }
  await gateway.settled();

  const stores = await dumpIndexedDb(gateway.shell);
  const chunks = stores.find(({ name }) => name === 'antway-chunks/chunks')!;
  // Four records of data maps and their chunks, three each.
  expect(chunks.entries).toHaveLength(16);
  expect(chunks.entries.filter(({ value }) => value.isBlob)).toHaveLength(3);
  const everything = stores.flatMap(({ entries }) => entries).flatMap(({ key, value }) => [key, value]);
  const cached = await dumpCaches(gateway.shell);
  expect(cached.some((text) => text.includes('Antway'))).toBe(true); // the shell's own files: the dump works
  for (const text of plaintexts) {
    for (const held of everything) expect(held.bytes.includes(text), `${text} in IndexedDB`).toBe(false);
  }
  for (const text of plaintexts.slice(0, 4)) {
    for (const held of cached) expect(held.includes(text), `${text} in a cache`).toBe(false);
  }
});

test('each stored chunk hashes to its key, and the totals agree', { tag: '@smoke' }, async ({
  startPeer,
  openWorker,
}) => {
  const peer = await startPeer();
  for (const name of ['tarchive_site', 'tarchive_many300', 'tarchive_as_coded_2', 'tiny3']) {
    await peer.putFixture(`anttp/${name}`);
  }
  const gateway = await openWorker({ peers: [peer.url] });
  for (const name of ['tarchive_site', 'tarchive_many300', 'tarchive_as_coded_2', 'tiny3']) {
    expect((await gateway.fetch(`/${anttpFixture(name).address}/`)).status).toBe(200);
  }
  const large = await publish(noise(5, 2_000_000), peer);
  expect((await gateway.fetch(`/${large}`)).status).toBe(200);
  await gateway.settled();

  const stores = await dumpIndexedDb(gateway.shell);
  const entriesOf = (name: string) =>
    stores
      .find((store) => store.name === `antway-chunks/${name}`)!
      .entries.map(({ key, value }) => ({
        key: key.bytes.toString('hex'),
        bytes: value.bytes,
        json: value.json,
      }));
  const blake3 = await loadBlake3();
  const chunks = entriesOf('chunks');
  expect(chunks.length).toBeGreaterThanOrEqual(17);
  for (const { key, bytes } of chunks) expect(Buffer.from(blake3(bytes)).toString('hex')).toBe(key);

  const sizes = Object.fromEntries(chunks.map(({ key, bytes }) => [key, bytes.length]));
  const metadata = entriesOf('metadata').map(({ key, json }) => [key, JSON.parse(json).size]);
  expect(Object.fromEntries(metadata)).toEqual(sizes);
  const total = { count: chunks.length, bytes: Object.values(sizes).reduce((sum, size) => sum + size, 0) };
  expect(JSON.parse(entriesOf('totals')[0]!.json)).toEqual(total);
  expect(await gateway.cache()).toMatchObject(total);
});

test('pinned and imported sites are stored encrypted, and each chunk hashes to its key', {
  tag: '@full',
}, async ({ startPeer, openWorker, browser, folder }) => {
  const peer = await startPeer();
  const site = await publish(
    makeTarchive(folder, { 'index.html': `<p>${plaintexts[0]}</p>`, 'a.css': plaintexts[1]! }),
    peer,
  );
  const here = await openWorker({ peers: [peer.url] });
  await pinAction(here.shell, site, 'pin');
  await expectPin(here.shell, site, { state: 'complete', activity: 'idle' });
  await pinAction(here.shell, site, 'verify');
  await expectPin(here.shell, site, { state: 'complete', activity: 'idle' });
  // As text, for the next page to send.
  const exported = await here.shell.evaluate(async (address) => {
    const bytes = new Uint8Array(await (await fetch(`/-/export?address=${address}`)).arrayBuffer());
    return String.fromCharCode(...bytes);
  }, site);
  for (const text of plaintexts) expect(exported.includes(text), `${text} in the file`).toBe(false);

  const there = await openWorker({ peers: [] }, await browser.newContext());
  const { status } = await there.shell.evaluate(async (latin1) => {
    const body = Uint8Array.from(latin1, (character) => character.charCodeAt(0));
    return { status: (await fetch('/-/import', { method: 'POST', body })).status };
  }, exported);
  expect(status).toBe(200);
  await expectPin(there.shell, site, { state: 'complete', activity: 'idle' });

  const blake3 = await loadBlake3();
  for (const { shell } of [here, there]) {
    const stores = await dumpIndexedDb(shell);
    for (const { name, entries } of stores) {
      for (const { bytes } of entries.flatMap(({ key, value }) => [key, value])) {
        for (const text of plaintexts) expect(bytes.includes(text), `${text} in ${name}`).toBe(false);
      }
    }
    const { entries } = stores.find(({ name }) => name === 'antway-chunks/chunks')!;
    expect(entries).toHaveLength(4);
    for (const { key, value } of entries) expect(Buffer.from(blake3(value.bytes))).toEqual(key.bytes);
  }
});

test('an opened private site is stored encrypted, also its title', async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  const title = 'A title that only its manifest opens';
  const publicTitle = 'A title that anybody can read';
  const html = (title: string) =>
    `<title>${title}</title><link rel="icon" href="a.svg"><p>${plaintexts[0]}</p>`;
  const manifest = await makePrivateManifest('A private name', { 'index.html': html(title) }, peer);
  const publicSite = await publish(Buffer.from(html(publicTitle)), peer);
  const gateway = await openWorker({ peers: [peer.url] });
  const { id } = await gateway.shell.evaluate(async (body) => {
    const bytes = Uint8Array.from(body, (character) => character.charCodeAt(0));
    return (await fetch('/-/manifests', { method: 'POST', body: bytes })).json();
  }, manifest.toString('latin1'));
  for (const path of [`/${id}/`, `/${publicSite}`]) {
    const page = await gateway.openPage(path);
    await expect(page.getByText(plaintexts[0]!)).toBeVisible();
  }
  const sites = () => listSites(gateway.shell);
  await expect
    .poll(async () => (await sites()).filter(({ lastOpened }) => lastOpened !== null).length)
    .toBe(2);
  expect(await sites()).toContainEqual(expect.objectContaining({ address: id, title: 'A private name' }));
  await gateway.settled();

  const stores = await dumpIndexedDb(gateway.shell);
  const everything = stores.flatMap(({ entries }) => entries).flatMap(({ key, value }) => [key, value]);
  const isWritten = (text: string) => everything.some(({ bytes }) => bytes.includes(text));
  // Of what is public it is history, which shows that the dump would have it.
  expect([publicTitle, id].map(isWritten)).toEqual([true, true]);
  expect([title, 'A private name', 'a.svg', plaintexts[0]!].filter(isWritten)).toEqual([]);
});

/** A key or a value: its bytes where it is binary, else those of its JSON. */
interface Held {
  bytes: Buffer;
  json: string;
  isBlob: boolean;
}

interface DumpedStore {
  /** `database/store`. */
  name: string;
  entries: { key: Held; value: Held }[];
}

/** Everything in every IndexedDB database of the page's origin. */
async function dumpIndexedDb(page: Page): Promise<DumpedStore[]> {
  const stores = await page.evaluate(async () => {
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const held = async (stored: unknown) => {
      const isBlob = stored instanceof Blob;
      const value = isBlob ? await stored.arrayBuffer() : stored;
      const isBinary = value instanceof ArrayBuffer || ArrayBuffer.isView(value);
      if (!isBinary) return { latin1: '', json: JSON.stringify(value), isBlob };
      const bytes = ArrayBuffer.isView(value)
        ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
        : new Uint8Array(value);
      let latin1 = '';
      for (let at = 0; at < bytes.length; at += 10_000) {
        latin1 += String.fromCharCode(...bytes.subarray(at, at + 10_000));
      }
      return { latin1, json: '', isBlob };
    };
    const dumped = [];
    for (const { name } of await indexedDB.databases()) {
      const database = await done(indexedDB.open(name!));
      for (const storeName of database.objectStoreNames) {
        const store = database.transaction(storeName).objectStore(storeName);
        const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
        const entries = keys.map(async (key, i) => ({ key: await held(key), value: await held(values[i]) }));
        dumped.push({ name: `${name}/${storeName}`, entries: await Promise.all(entries) });
      }
      database.close();
    }
    return dumped;
  });
  const decode = ({ latin1, ...held }: { latin1: string; json: string; isBlob: boolean }): Held => ({
    ...held,
    bytes: held.json ? Buffer.from(held.json) : Buffer.from(latin1, 'latin1'),
  });
  return stores.map(({ name, entries }) => ({
    name,
    entries: entries.map(({ key, value }) => ({ key: decode(key), value: decode(value) })),
  }));
}

/** Every response in the Cache Storage of the page's origin, as text. */
function dumpCaches(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const texts: string[] = [];
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const response of await cache.matchAll()) texts.push(await response.text());
    }
    return texts;
  });
}
