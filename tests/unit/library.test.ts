import { createStore, get, set } from 'idb-keyval';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Visit } from '../../src/library/visits.ts';
import { freshIndexedDb } from './support/indexed-db.ts';
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
    lastOpened: 1,
  };
}

it('what a kept manifest opens is remembered without its title and icon, and listed by the manifest’s name', async () => {
  const { library, pins } = start();
  for (const address of [kept, open]) await library.visited(visitTo(address));
  const visits = await library.visits.list();
  const headOf = (wanted: string) => visits.find(({ address }) => address === wanted);
  expect(headOf(kept)).toMatchObject({ title: null, icon: null, path: `/${kept}/`, lastOpened: 1 });
  expect(headOf(open)).toEqual(visitTo(open));
  const listed = (await library.list()).find(({ address }) => address === kept);
  expect(listed).toMatchObject({ title: 'Letters', icon: null, isManifest: true });
  await pins.close();
});

it('a title that an earlier version has written goes when what was opened is listed, or opened again', async () => {
  const settings = createStore('antway-test', 'settings');
  for (const forget of ['list', 'visited'] as const) {
    await set(`site:${kept}`, visitTo(kept), settings);
    const { library, pins } = start();
    if (forget === 'list') expect(await library.list()).toMatchObject([{ title: 'Letters', icon: null }]);
    else await library.visited({ ...visitTo(kept), title: null, icon: null });
    expect(await get(`site:${kept}`, settings)).toMatchObject({ title: null, icon: null });
    await pins.close();
  }
});
