import { createStore } from 'idb-keyval';
import { beforeEach, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { parseVisit, type Visit, Visits } from '../../src/library/visits.ts';
import { freshIndexedDb } from './support/indexed-db.ts';

const address = 'aa'.repeat(32);
const visit: Visit = {
  ...{ address, path: `/${address}/`, name: null, title: 'Diary', icon: null, kind: 'archive' },
  ...{ type: 'text/markdown', reader: 'secret/diary.md', lastOpened: 5 },
};

let visits: Visits;

beforeEach(() => {
  freshIndexedDb();
  visits = new Visits(createStore('antway', 'settings'));
});

it('a visit in a reader keeps its path until the site opens as a page', async () => {
  await visits.add(visit);
  expect(await visits.list()).toEqual([visit]);
  const { reader: _, ...page } = visit;
  await visits.add(page);
  expect(await visits.list()).toEqual([page]);
});

it('a visit of private content in a reader stores that it was read, but no title, type or path', async () => {
  await visits.add(visit, true);
  const { title: _, type: __, ...rest } = visit;
  expect(await visits.list()).toEqual([{ ...rest, title: null, reader: '' }]);
  await visits.add({ ...visit, reader: '' }, true);
  expect(JSON.stringify(await visits.list())).not.toMatch(/secret|Diary|markdown/);
});

it.each([5, 'r'.repeat(10_000), {}])('a visit whose reader is %s is refused', (reader) => {
  expect(() => parseVisit({ ...visit, reader })).toThrow(/reader/);
});

const hexOf = (i: number) => i.toString(16).padStart(64, '0');

it('visits of sites that the user may not have seen replace no others, and have little room', async () => {
  await visits.add(visit);
  for (let i = 1; i <= 60; i++) {
    const address = hexOf(i);
    const unseen = { ...visit, address, path: `/${address}/`, lastOpened: i };
    await visits.addUnseen(Address.fromHex(address), unseen, false);
  }
  expect(await visits.list()).toEqual([visit]);
  const unseen = await visits.listUnseen();
  expect(unseen.map(({ opened }) => opened).sort()).toEqual(
    Array.from({ length: 20 }, (_, i) => hexOf(i + 41)),
  );
});

it('a visit counts once the user has seen the site after it began', async () => {
  await visits.addUnseen(Address.fromHex(address), visit, false);
  expect(await visits.takeUnseen(Address.fromHex(address), visit.lastOpened! - 1)).toBeUndefined();
  expect(await visits.takeUnseen(Address.fromHex(address), visit.lastOpened!)).toEqual(visit);
  expect(await visits.listUnseen()).toEqual([]);
});

it('deletes a visit that the user may not have seen, also that of a pointer', async () => {
  const [pointer, other] = ['bb', 'cc'].map((byte) => Address.fromHex(byte.repeat(32)));
  await visits.addUnseen(pointer!, visit, false);
  await visits.addUnseen(other!, { ...visit, address: other!.hex }, false);
  await visits.remove(Address.fromHex(address));
  expect((await visits.listUnseen()).map(({ opened }) => opened)).toEqual([other!.hex]);
  await visits.remove(other!);
  expect(await visits.listUnseen()).toEqual([]);
});
