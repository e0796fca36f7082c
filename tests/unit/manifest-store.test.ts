// @module-tag isolated
import { encode } from '@msgpack/msgpack';
import { createStore, set } from 'idb-keyval';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import type { ManifestStore } from '../../src/gateway/state/manifest-store.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { freshIndexedDb } from './support/indexed-db.ts';

/** The manifest store as a worker starts with it: the database is opened anew. */
let start: () => ManifestStore;

beforeEach(async () => {
  freshIndexedDb();
  vi.resetModules();
  const { ManifestStore } = await import('../../src/gateway/state/manifest-store.ts');
  const { stateStore } = await import('../../src/gateway/state/state-store.ts');
  start = () => new ManifestStore(loadBlake3, stateStore);
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function manifestOf(name: string): Uint8Array<ArrayBuffer> {
  const source = { Public: { address: new Uint8Array(32).fill(7) } };
  const header = Buffer.from([0xc1, 0x41, 0x4e, 0x54, 1]);
  return new Uint8Array(Buffer.concat([header, encode({ name, entries: [{ path: 'a.txt', source }] })]));
}

async function namesIn(manifests: ManifestStore): Promise<(string | null)[]> {
  return (await manifests.list()).map(({ name }) => name).sort();
}

it('two workers that begin at the same time use one key', async () => {
  const [here, there] = [start(), start()];
  await Promise.all([here.add(manifestOf('One')), there.add(manifestOf('Two'))]);
  expect(await namesIn(start())).toEqual(['One', 'Two']);
});

it('a manifest added after another worker deleted the key can be opened later', async () => {
  const [here, there] = [start(), start()];
  await here.add(manifestOf('One'));
  await there.clear();
  const { id } = await here.add(manifestOf('Two'));
  const later = start();
  expect(await namesIn(later)).toEqual(['Two']);
  expect(await later.get(Address.fromHex(id))).toEqual(manifestOf('Two'));
});

it('a worker with a deleted key in memory opens a manifest stored under a new key', async () => {
  const [here, there] = [start(), start()];
  await here.add(manifestOf('One'));
  await there.clear();
  const { id } = await there.add(manifestOf('Two'));
  expect(await namesIn(here)).toEqual(['Two']);
  expect(await here.get(Address.fromHex(id))).toEqual(manifestOf('Two'));
});

it('a manifest that cannot be decrypted does not hide the others, and returns when it is added again', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const manifests = start();
  await manifests.add(manifestOf('One'));
  const { id } = await manifests.add(manifestOf('Two'));
  const lost = { nonce: new Uint8Array(12), ciphertext: new Uint8Array(40).buffer };
  const settings = createStore('antway', 'settings');
  for (const prefix of ['manifest', 'manifest-summary']) await set(`${prefix}:${id}`, lost, settings);
  expect(await namesIn(manifests)).toEqual(['One']);
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('1 of the manifests'));
  const got = manifests.get(Address.fromHex(id));
  await expect(got).rejects.toMatchObject({ code: 'CORRUPT', details: { address: id } });
  await manifests.add(manifestOf('Two'));
  expect(await namesIn(manifests)).toEqual(['One', 'Two']);
});

it('a manifest opens from memory if the browser stores nothing, and reports that it is not stored', async () => {
  vi.stubGlobal('indexedDB', {
    open() {
      throw new DOMException('It is blocked.', 'SecurityError');
    },
  });
  const manifests = start();
  const added = await manifests.add(manifestOf('One'));
  expect(added).toMatchObject({ name: 'One', entries: 1, isStored: false });
  const id = Address.fromHex(added.id);
  expect([await manifests.has(id), await manifests.get(id)]).toEqual([true, manifestOf('One')]);
  expect(await manifests.list()).toEqual([added]);
  await manifests.remove(id);
  expect([await manifests.has(id), await manifests.get(id)]).toEqual([false, undefined]);
});

it('a manifest is reported as stored if the browser stores it', async () => {
  const manifests = start();
  const added = await manifests.add(manifestOf('One'));
  expect(added).toMatchObject({ isStored: true });
  expect(await start().list()).toEqual([added]);
  expect(await start().has(Address.fromHex(added.id))).toBe(true);
});

it('a long name is cut, so that the library can store it', async () => {
  const manifests = start();
  expect((await manifests.add(manifestOf('N'.repeat(20_000)))).name).toHaveLength(2_000);
  expect(await namesIn(manifests)).toEqual(['N'.repeat(2_000)]);
});
