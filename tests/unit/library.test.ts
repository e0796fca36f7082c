import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { encodeManifest } from '../../src/content/manifest.ts';
import { readSiteHead } from '../../src/library/site-file-head.ts';
import { parseVisit, type Visit } from '../../src/library/visits.ts';
import { makeZip } from '../support/zip.ts';
import { codec, encryptedFile } from './support/encrypted-file.ts';
import { freshIndexedDb } from './support/indexed-db.ts';
import { tarchive } from './support/tar.ts';
import { startWorker } from './support/worker.ts';

const kept = 'aa'.repeat(32);
const open = 'bb'.repeat(32);

beforeEach(freshIndexedDb);
afterEach(() => vi.unstubAllGlobals());

function start() {
  return startWorker(new Map(), {
    has: async ({ hex }) => hex === kept,
    get: async () => undefined,
    add: async () => ({ id: kept }),
    list: async () => [{ id: kept, name: 'Letters' }],
  });
}

function visitTo(address: string): Visit {
  return {
    address,
    path: `/${address}/`,
    name: null,
    title: `Title of ${address}`,
    icon: `/${address}/icon.svg`,
    kind: 'archive',
    type: 'text/plain',
    lastOpened: 1,
  };
}

it('a site of a stored manifest is remembered without its title and icon, and listed by the manifest’s name', async () => {
  const { library, pins } = start();
  for (const address of [kept, open]) await library.visited(visitTo(address));
  const visits = await library.visits.list();
  const headOf = (wanted: string) => visits.find(({ address }) => address === wanted);
  expect(headOf(kept)).toMatchObject({ title: null, icon: null, path: `/${kept}/`, lastOpened: 1 });
  expect(headOf(kept)).not.toHaveProperty('type');
  expect(headOf(open)).toEqual(visitTo(open));
  const listed = (await library.list()).find(({ address }) => address === kept);
  expect(listed).toMatchObject({ title: 'Letters', icon: null, isManifest: true });
  await pins.close();
});

it('lists a private archive as one once its first chunk is stored, also if it was listed before', async () => {
  const { map, records } = await encryptedFile(tarchive({ 'index.html': '<p>private' }));
  const manifest = encodeManifest({ entries: [{ source: { kind: 'embedded', map } }] });
  const blake3 = await codec.blake3();
  const id = Address.fromBytes(blake3(manifest));
  const { library, pins } = startWorker(records, {
    has: async () => true,
    get: async () => manifest,
    add: async () => ({ id: id.hex }),
    list: async () => [{ id: id.hex, name: null }],
  });
  expect(await library.list()).toMatchObject([{ kind: 'file', chunks: { stored: 0, total: 3 } }]);
  await pins.pin(id);
  await pins.work();
  expect(await library.list()).toMatchObject([{ kind: 'archive', offline: true }]);
  await pins.close();
});

it('lists and exports a pinned ZIP as an archive, also if it was never opened', async () => {
  const { address, records } = await encryptedFile(makeZip([{ path: 'index.html', data: '<p>page' }]));
  const sender = startWorker(records);
  await sender.pins.pin(address);
  await sender.pins.work();
  expect(await sender.library.list()).toMatchObject([{ kind: 'archive', offline: true }]);
  const label = { title: null, icon: null, files: null, size: null };
  const exported = await sender.library.export(address, async () => label);
  expect(await readSiteHead(exported)).toMatchObject({ kind: 'archive' });
  const content = await new Response(exported.stream(0, exported.size)).bytes();
  await sender.pins.close();

  freshIndexedDb();
  const receiver = startWorker(new Map());
  await receiver.library.import(new Blob([content]).stream());
  await receiver.pins.work();
  expect(await receiver.library.list()).toMatchObject([{ kind: 'archive', offline: true }]);
  await receiver.pins.close();
});

it('counts chunks that wait to be written as stored', async () => {
  const { address, records } = await encryptedFile(tarchive({ 'index.html': '<p>page' }));
  const { library, chunks, pins } = startWorker(records);
  await Promise.all(Array.from(records.keys(), (hex) => chunks.record(Address.fromHex(hex))));
  const { stored, total } = await library.storedChunks(address);
  expect(total).toBeGreaterThan(2);
  expect(stored).toBe(total);
  await pins.close();
});

it('a visit from elsewhere is read as it was noted', () => {
  expect(parseVisit({ ...visitTo(open), more: 1 })).toEqual(visitTo(open));
  const named = {
    ...visitTo(open),
    path: '/sample',
    name: 'sample',
    title: null,
    icon: null,
    lastOpened: null,
  };
  expect(parseVisit(named)).toEqual(named);
  // As a pointer is opened.
  expect(parseVisit({ ...visitTo(open), path: `/${kept}/` }).path).toBe(`/${kept}/`);
});

it.each<[string, unknown]>([
  ['nothing', null],
  ['another address', { ...visitTo(open), address: 'sample' }],
  ['a path to another origin', { ...visitTo(open), path: '//a.example/' }],
  ['a path that is a URL', { ...visitTo(open), path: 'javascript:alert(1)' }],
  ['a path to an endpoint', { ...visitTo(open), path: '/-/reset' }],
  ['a name that the path does not have', { ...visitTo(open), name: 'sample' }],
  ['a title that is no text', { ...visitTo(open), title: {} }],
  ['a type that is no text', { ...visitTo(open), type: {} }],
  ['an endless type', { ...visitTo(open), type: 'x'.repeat(10_000) }],
  ['an endless title', { ...visitTo(open), title: 'x'.repeat(10_000) }],
  ['an icon of another origin', { ...visitTo(open), icon: '//a.example/icon.svg' }],
  ['an icon of another origin, written otherwise', { ...visitTo(open), icon: '/\\a.example/icon.svg' }],
  ['an icon of another origin, behind a tab', { ...visitTo(open), icon: '/\t/a.example/icon.svg' }],
  [
    'an icon of another origin, behind a segment that goes away',
    { ...visitTo(open), icon: '/.//a.example/icon.svg' },
  ],
  ['an icon that is an endpoint', { ...visitTo(open), icon: '/-/export?address=1' }],
  ['a path that is no text', { ...visitTo(open), path: [`/${open}/`] }],
  ['a time before all times', { ...visitTo(open), lastOpened: Number.MIN_SAFE_INTEGER }],
  ['an unknown kind', { ...visitTo(open), kind: 'program' }],
  ['a time to come', { ...visitTo(open), lastOpened: Date.now() + 1e9 }],
  ['a time that is none', { ...visitTo(open), lastOpened: Number.NaN }],
])('a visit from elsewhere is refused with %s', (_, value) => {
  expect(() => parseVisit(value)).toThrow(expect.objectContaining({ code: 'REFUSED' }));
});
