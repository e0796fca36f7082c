import 'fake-indexeddb/auto';
import { createStore } from 'idb-keyval';
import { beforeEach, expect, it } from 'vitest';
import type { Content } from '../../src/content/resolver.ts';
import { RecentFiles } from '../../src/gateway/state/recent-files.ts';
import { freshIndexedDb } from './support/indexed-db.ts';

const archiveOf = (paths: Iterable<string>) =>
  ({
    kind: 'archive',
    archive: { members: new Map(Array.from(paths, (path) => [path, {}])) },
  }) as unknown as Content;

const addressOf = (i: number) => i.toString(16).padStart(64, '0');

let files: RecentFiles;

beforeEach(() => {
  freshIndexedDb();
  files = new RecentFiles(createStore('antway', 'settings'));
});

it('notes a bounded number of names and characters of a site with 100,000 long names', async () => {
  const name = (i: number) => `${'n'.repeat(200)}/${i}`;
  await files.note(addressOf(1), archiveOf(Array.from({ length: 100_000 }, (_, i) => name(i))));
  const [site] = await files.list();
  expect(site!.files.length).toBeGreaterThan(100);
  expect(site!.files.join('').length).toBeLessThanOrEqual(32_768);
  await files.note(addressOf(2), archiveOf(Array.from({ length: 100_000 }, (_, i) => String(i))));
  expect((await files.list())[0]!.files).toHaveLength(1_000);
});

it('keeps the sites that were noted last, newest first, and forgets a site', async () => {
  for (let i = 0; i < 40; i++) await files.note(addressOf(i), archiveOf(['a.txt']));
  await files.note(addressOf(20), archiveOf(['b.txt']));
  const noted = await files.list();
  expect(noted).toHaveLength(30);
  expect(noted[0]).toEqual({ address: addressOf(20), files: ['b.txt'] });
  await files.remove(addressOf(20));
  expect((await files.list())[0]!.address).toBe(addressOf(39));
  await files.clear();
  expect(await files.list()).toEqual([]);
});
