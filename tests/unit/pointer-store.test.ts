import { createStore, entries, set, setMany } from 'idb-keyval';
import { expect, test } from 'vitest';
import { Address } from '../../src/address.ts';
import { PointerStore } from '../../src/gateway/state/pointer-store.ts';
import { limits } from '../../src/limits.ts';
import { freshIndexedDb } from './support/indexed-db.ts';

test('a bounded number of pointers is stored, and the least recently used is dropped', async () => {
  freshIndexedDb();
  const state = createStore('antway', 'settings');
  const store = new PointerStore(state);
  const record = new Uint8Array(8);
  const hexOf = (i: number) => i.toString(16).padStart(64, '0');
  // As many as can be, the first used least recently.
  const stored = Array.from({ length: limits.storedPointers }, (_, i) => hexOf(i));
  await setMany(
    stored.map((hex) => [`pointer:${hex}`, record]),
    state,
  );
  await set('pointers-used', Object.fromEntries(stored.map((hex, i) => [hex, 1_000 + i])), state);
  const pointers = async () =>
    (await entries<string, unknown>(state))
      .map(([key]) => key)
      .filter((key) => key.startsWith('pointer:'))
      .map((key) => key.slice('pointer:'.length));

  // Used again.
  expect(await store.get(Address.fromHex(stored[0]!))).toEqual(record);
  const added = 'ab'.repeat(32);
  await store.put(Address.fromHex(added), record);
  const [first, , ...others] = stored;
  expect((await pointers()).sort()).toEqual([first, ...others, added].sort());
});
