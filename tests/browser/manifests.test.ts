import { readFileSync } from 'node:fs';
import { encode } from '@msgpack/msgpack';
import type { Page } from '@playwright/test';
import { limits } from '../../src/limits.ts';
import { encryptFile } from '../../src/self-encryption/file.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { type Answer, errorCode, expect, type Gateway, test } from '../support/chromium.ts';
import { fromRoot } from '../support/paths.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { expectPin, listSites, pinAction } from '../support/pins.ts';
import { codec, publish } from '../support/publish.ts';

const header = Buffer.from([0xc1, 0x41, 0x4e, 0x54, 1]);
const secret = 'a private file, whose keys only its manifest holds';

let peer: PeerProcess;
let gateway: Gateway;

test.beforeEach(async ({ startPeer, openGateway }) => {
  peer = await startPeer();
  gateway = await openGateway({ peers: [peer.url] });
});

test('a manifest opens as an archive, also after a reload and offline, and no peer has its keys', {
  tag: '@smoke',
}, async () => {
  const manifest = await privateManifest();
  const { id, name, entries } = JSON.parse((await add(manifest)).text);
  expect([name, entries]).toEqual(['Private', 2]);
  const page = await gateway.openPage(`/${id}/`);
  await page.getByRole('link', { name: 'folder/' }).click();
  await page.getByRole('link', { name: 'secret.txt' }).click();
  await expect(page.locator('body')).toHaveText(secret);
  // The two files' records: one public, and none of the private one, nor of the manifest.
  expect((await fetch(`${peer.url}/chunk/${id}`)).status).toBe(404);

  await page.reload();
  await expect(page.locator('body')).toHaveText(secret);
  await gateway.settled();
  await peer.kill();
  await page.context().setOffline(true);
  await page.reload();
  await expect(page.locator('body')).toHaveText(secret);
  await page.goto(`${gateway.url}/${id}/`);
  await expect(page.getByRole('heading')).toHaveText('Contents of Private');
});

test('a stored manifest is encrypted, and deleting it deletes its key', async () => {
  const manifest = await privateManifest();
  const { id } = JSON.parse((await add(manifest)).text);
  expect((await gateway.fetch(`/${id}/folder/secret.txt`)).text).toBe(secret);
  await gateway.settled();
  const dump = await dumpSettings(gateway.shell);
  expect(dump).toContain(`manifest:${id}`);
  // Neither a word of it nor its bytes.
  for (const text of ['Private', 'secret.txt', 'data_map', manifest.subarray(60, 90).toString('latin1')]) {
    expect(dump).not.toContain(text);
  }
  expect((await gateway.fetch(`/-/manifests?id=${id}`, { method: 'DELETE' })).status).toBe(204);
  expect((await gateway.fetch(`/${id}/`)).status).toBe(404);
  expect(await dumpSettings(gateway.shell)).not.toContain(id);
});

test('a stored manifest is listed by its name, and deleting its site in the library deletes it', async () => {
  const sites = () => listSites(gateway.shell);
  const { id } = JSON.parse((await add(await privateManifest())).text);
  const kept = { address: id, title: 'Private', isManifest: true };
  expect(await sites()).toMatchObject([{ ...kept, path: `/${id}`, lastOpened: null }]);
  await gateway.openPage(`/${id}/folder/secret.txt`);
  await expect.poll(sites).toMatchObject([{ ...kept, path: `/${id}/`, lastOpened: expect.any(Number) }]);
  // The name is not stored in the clear.
  expect(await dumpSettings(gateway.shell)).not.toContain('Private');

  await gateway.fetch(`/-/visits?address=${id}`, { method: 'DELETE' });
  expect(await sites()).toMatchObject([{ ...kept, lastOpened: null }]);
  await pinAction(gateway.shell, id, 'pin');
  await expectPin(gateway.shell, id, { state: 'complete' });
  await gateway.fetch(`/-/sites?address=${id}`, { method: 'DELETE' });
  expect(await sites()).toMatchObject([{ ...kept, offline: true }]);
  await gateway.fetch(`/-/pins?address=${id}`, { method: 'DELETE' });
  await gateway.fetch(`/-/sites?address=${id}`, { method: 'DELETE' });
  expect(await sites()).toEqual([]);
  expect(await dumpSettings(gateway.shell)).not.toContain(id);
  expect((await gateway.fetch(`/${id}/`)).status).toBe(404);

  // One without a name is called as its only file.
  const address = Buffer.alloc(32, 7);
  await add(body({ entries: [{ path: 'letters/anna.txt', source: { Public: { address } } }] }));
  expect(await sites()).toMatchObject([{ title: 'anna.txt', isManifest: true }]);
});

test('the network’s own example manifest opens, and so does a manifest at a public address', async () => {
  const example = readFileSync(fromRoot('tests/fixtures/self-encryption/manifest1.ant'));
  const { id, name } = JSON.parse((await add(example)).text);
  expect(name).toBe('site');
  const listed = JSON.parse((await gateway.fetch(`/${id}/?format=json`)).text) as { path: string }[];
  expect(listed.map(({ path }) => path)).toEqual([
    'img/',
    '39ec584230ea291628eb987a3950ec4eca7ccef60a9ad2fef6c2b8aef7b0002e', // an entry without a path
    'index.html',
  ]);

  const address = await publish(await privateManifest(), peer);
  expect((await gateway.fetch(`/${address}/folder/secret.txt`)).text).toBe(secret);
});

test('invalid manifests are refused with a reason and not stored', async () => {
  const entry = (path: string) => ({ path, source: { Public: { address: Buffer.alloc(32, 7) } } });
  const chunks = Buffer.alloc(3 * 68, 1);
  const embedded = (data_map: unknown) =>
    body({ entries: [{ path: 'a', source: { Embedded: { data_map } } }] });
  const hostile: [what: string, bytes: Uint8Array, code: string][] = [
    ['nothing', Buffer.alloc(0), 'CORRUPT'],
    ['another header', Buffer.from('PK\x03\x04'), 'CORRUPT'],
    ['another version', Buffer.concat([header.subarray(0, 4), Buffer.from([2, 0x80])]), 'UNSUPPORTED'],
    ['no body', header, 'CORRUPT'],
    ['bytes after its end', Buffer.concat([body({ entries: [] }), Buffer.from([0])]), 'CORRUPT'],
    ['a list in place of a map', body([]), 'CORRUPT'],
    ['no entries', body({ name: 'x' }), 'CORRUPT'],
    ['an entry that is none', body({ entries: [7] }), 'CORRUPT'],
    ['100,001 entries', body({ entries: Array(limits.archiveEntries + 1).fill(null) }), 'TOO_LARGE'],
    [
      'a list that claims to be longer than it is',
      Buffer.concat([
        header,
        Buffer.from([0x81, 0xa7]),
        Buffer.from('entries'),
        Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff]),
      ]),
      'CORRUPT',
    ],
    [
      'a short address',
      body({ entries: [{ path: 'a', source: { Public: { address: Buffer.alloc(31) } } }] }),
      'CORRUPT',
    ],
    ['another kind of source', body({ entries: [{ path: 'a', source: { Torrent: {} } }] }), 'UNSUPPORTED'],
    ['a data map of a wrong length', embedded({ chunks: chunks.subarray(1) }), 'CORRUPT'],
    ['a data map of two chunks', embedded({ chunks: chunks.subarray(0, 2 * 68) }), 'CORRUPT'],
    ['a chunk of an impossible size', embedded({ chunks: Buffer.alloc(3 * 68, 255) }), 'CORRUPT'],
  ];
  for (const [what, bytes, code] of hostile) {
    expect([what, errorCode(await add(bytes))]).toEqual([what, code]);
  }
  expect(await dumpSettings(gateway.shell)).not.toContain('manifest:');

  // Bad paths only cost themselves.
  const paths = ['../up.txt', '/etc/passwd', 'twice.txt', 'twice.txt', 'a\0b', 'good.txt', '__proto__'];
  const { id } = JSON.parse((await add(body({ entries: paths.map(entry) }))).text);
  const page = await gateway.openPage(`/${id}/`);
  await expect(page.getByRole('table').getByRole('link')).toHaveText(['__proto__', 'good.txt', 'twice.txt']);
  await expect(page.getByRole('listitem')).toHaveText([
    '../up.txt: its path leads out of the archive',
    '/etc/passwd: its path is absolute',
    'twice.txt: another entry has the same path',
    /its path holds a NUL/,
  ]);
});

/** A file whose data map no peer has, and a public one. */
async function privateManifest(): Promise<Buffer> {
  const { map } = await encryptFile(codec, bufferAccess(Buffer.from(secret)), {
    emit: ({ address, bytes }) => peer.put(address.hex, bytes),
    isPrivate: true,
  });
  const chunks = Array.from(map.sizes, (size, i) => {
    const bytes = Buffer.alloc(68);
    bytes.set(map.address(i).bytes);
    bytes.set(map.srcHash(i), 32);
    bytes.writeUInt32BE(size, 64);
    return bytes;
  });
  const address = Buffer.from(await publish(Buffer.from('a public file'), peer), 'hex');
  return body({
    name: 'Private',
    entries: [
      {
        path: 'folder/secret.txt',
        size: secret.length,
        source: { Embedded: { data_map: { chunks: Buffer.concat(chunks) } } },
      },
      { path: 'public.txt', source: { Public: { address } } },
    ],
  });
}

function body(value: unknown): Buffer {
  return Buffer.concat([header, encode(value)]);
}

/** Hands a manifest to the worker, as the shell does. */
function add(bytes: Uint8Array): Promise<Answer> {
  return gateway.shell.evaluate(async (base64) => {
    const body = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const response = await fetch('/-/manifests', { method: 'POST', body });
    return { status: response.status, headers: {}, size: 0, sha256: '', text: await response.text() };
  }, Buffer.from(bytes).toString('base64'));
}

/** Everything that the gateway remembers besides chunks, as text: bytes in Latin-1. */
function dumpSettings(page: Page): Promise<string> {
  return page.evaluate(async () => {
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const database = await done(indexedDB.open('antway'));
    const store = database.transaction('settings').objectStore('settings');
    const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
    database.close();
    const asText = (value: unknown): unknown => {
      if (value instanceof ArrayBuffer) return asText(new Uint8Array(value));
      return value instanceof Uint8Array ? String.fromCharCode(...value) : value;
    };
    return JSON.stringify([keys, values], (_, value) => asText(value));
  });
}
