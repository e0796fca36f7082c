// @module-tag isolated
import fc from 'fast-check';
import { createStore, get, set, values } from 'idb-keyval';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Publication, Publications } from '../../src/gateway/state/publications.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { freshIndexedDb } from './support/indexed-db.ts';

/** The list as a page starts with it: the database is opened anew. */
let start: () => Promise<Publications>;

beforeEach(() => {
  freshIndexedDb();
  start = async () => {
    vi.resetModules();
    const { Publications } = await import('../../src/gateway/state/publications.ts');
    const { stateStore } = await import('../../src/gateway/state/state-store.ts');
    return new Publications(stateStore);
  };
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function publication(change: Partial<Publication> = {}): Publication {
  return {
    id: 'aa'.repeat(32),
    isPrivate: true,
    isFolder: true,
    title: 'Secret garden',
    name: 'garden',
    files: 3,
    bytes: 9_000,
    chunks: 'bb'.repeat(32) + 'cc'.repeat(32),
    peers: ['https://one.example'],
    publishedAt: 5,
    replaces: null,
    ...change,
  };
}

it('a publication is listed after a restart, newest first', async () => {
  const first = publication();
  const second = publication({ id: 'dd'.repeat(32), publishedAt: 6, replaces: first.id });
  await (await start()).add(first);
  await (await start()).add(second);
  expect(await (await start()).list()).toEqual([second, first]);
  await (await start()).remove(first);
  expect(await (await start()).list()).toEqual([second]);
});

it('no title, name or address is readable on disk', async () => {
  await (await start()).add(publication());
  const { Buffer: bytes } = globalThis;
  for (const row of await values(createStore('antway', 'settings'))) {
    const { ciphertext } = row as { ciphertext?: ArrayBuffer };
    const stored = ciphertext ? bytes.from(ciphertext).toString('latin1') : JSON.stringify(row);
    for (const secret of ['Secret', 'garden', 'bb'.repeat(32), 'one.example']) {
      expect(stored).not.toContain(secret);
    }
  }
});

it('the same content published again keeps its first link and adds the new peers', async () => {
  const list = await start();
  const earlier = 'ee'.repeat(32);
  await list.add(publication({ replaces: earlier }));
  await list.add(publication({ peers: ['https://two.example'], publishedAt: 9, replaces: 'aa'.repeat(32) }));
  expect(await list.list()).toEqual([
    publication({
      peers: ['https://two.example', 'https://one.example'],
      publishedAt: 9,
      replaces: earlier,
    }),
  ]);
});

it('a restored publication is listed, and does not change one of the same content except for its peers', async () => {
  const list = await start();
  const here = publication({ title: 'Mine' });
  await list.add(here);
  const other = publication({ id: 'dd'.repeat(32), publishedAt: 4 });
  await list.restore(publication({ title: 'Theirs', peers: ['https://two.example'], publishedAt: 9 }));
  await list.restore(other);
  const peers = ['https://one.example', 'https://two.example'];
  expect(await list.list()).toEqual([{ ...here, peers }, other]);
  expect(await list.find(other.id)).toEqual(other);
  expect(await list.find('ee'.repeat(32))).toBeUndefined();
});

it('a record that cannot be decrypted does not hide the others', async () => {
  vi.spyOn(console, 'warn').mockReturnValue(undefined);
  const list = await start();
  await list.add(publication());
  await list.add(publication({ id: 'dd'.repeat(32) }));
  const raw = createStore('antway', 'settings');
  const name = `publication:${'dd'.repeat(32)}`;
  const record = await get<{ ciphertext: ArrayBuffer }>(name, raw);
  new Uint8Array(record!.ciphertext)[0]! ^= 1;
  await set(name, record, raw);
  expect((await list.list()).map(({ id }) => id)).toEqual(['aa'.repeat(32)]);
  expect(console.warn).toHaveBeenCalledOnce();
});

it('deleting the key of the manifests deletes the publications with it', async () => {
  const list = await start();
  await list.add(publication());
  const { ManifestStore } = await import('../../src/gateway/state/manifest-store.ts');
  const { stateStore } = await import('../../src/gateway/state/state-store.ts');
  await new ManifestStore(loadBlake3, stateStore).clear();
  expect(await (await start()).list()).toEqual([]);
});

it('storage that is blocked is reported with the reason', async () => {
  const factory = {
    open: () => {
      throw new DOMException('No.', 'SecurityError');
    },
  };
  vi.stubGlobal('indexedDB', factory);
  const list = await start();
  await expect(list.list()).rejects.toMatchObject({ code: 'REFUSED', details: { isBlocked: true } });
  await expect(list.add(publication())).rejects.toThrow(/SecurityError/);
});

it.each<[string, Partial<Record<keyof Publication, unknown>>]>([
  ['an id that is a URL', { id: 'javascript:alert(1)' }],
  ['an endless title', { title: 'x'.repeat(10_000) }],
  ['chunks that are no addresses', { chunks: `${'bb'.repeat(31)}zz` }],
  ['half a chunk', { chunks: 'bb' }],
  ['a time before all times', { publishedAt: -1 }],
  ['a replaced publication without an address', { replaces: '__proto__' }],
])('does not store a publication with %s', async (_, change) => {
  const list = await start();
  await expect(list.add({ ...publication(), ...change } as Publication)).rejects.toMatchObject({
    code: 'REFUSED',
  });
  expect(await list.list()).toEqual([]);
});

it('every title and name comes back as it was', async () => {
  const list = await start();
  const text = fc.string({ unit: 'binary', maxLength: 90 });
  await fc.assert(
    fc.asyncProperty(text, text, async (title, name) => {
      await list.add(publication({ title, name }));
      expect(await list.list()).toEqual([publication({ title, name })]);
    }),
    { numRuns: 30 },
  );
});
