import { createStore, setMany, type UseStore } from 'idb-keyval';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { ReadQueue } from '../../src/chunks/read-queue.ts';
import { failGets, freshIndexedDb } from './support/indexed-db.ts';

const addressOf = (seed: number) => Address.fromBytes(new Uint8Array(32).fill(seed));
let store: UseStore;
/** How many transactions were open at the start of each one, itself included. */
let transactions: number[];
let queue: ReadQueue<string>;

beforeEach(async () => {
  freshIndexedDb();
  store = createStore('a database', 'values');
  await setMany(
    Array.from({ length: 200 }, (_, i) => [addressOf(i).bytes, `value ${i}`]),
    store,
  );
  transactions = [];
  let open = 0;
  queue = new ReadQueue(async (mode, callback) => {
    transactions.push(++open);
    try {
      return await store(mode, callback);
    } finally {
      open--;
    }
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe('reads', () => {
  it('of the same moment share a transaction', async () => {
    const values = await Promise.all([1, 201, 2].map((seed) => queue.get(addressOf(seed))));
    expect(values).toEqual(['value 1', undefined, 'value 2']);
    expect(transactions).toEqual([1]);
  });

  it('have at most two transactions at a time, of 64 reads each', async () => {
    const seeds = Array.from({ length: 200 }, (_, i) => i);
    const values = await Promise.all(seeds.map((seed) => queue.get(addressOf(seed))));
    expect(values).toEqual(seeds.map((seed) => `value ${seed}`));
    expect(transactions).toEqual([1, 2, 2, 2]);
  });

  it('that come later share the next transaction', async () => {
    const reads = [queue.get(addressOf(1))];
    await Promise.resolve();
    reads.push(queue.get(addressOf(2)));
    for (let seed = 3; seed < 50; seed++) {
      await Promise.resolve();
      reads.push(queue.get(addressOf(seed)));
    }
    expect(new Set(await Promise.all(reads)).size).toBe(49);
    expect(transactions.length).toBeLessThan(10);
    expect(Math.max(...transactions)).toBe(2);
  });

  it('fail alone if a value cannot be read', async () => {
    failGets('values', 'UnknownError', (key) => (key as Uint8Array)[0] === 2);
    const outcomes = await Promise.allSettled([1, 2, 3].map((seed) => queue.get(addressOf(seed))));
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: 'value 1' },
      { status: 'rejected', reason: expect.objectContaining({ name: 'UnknownError' }) },
      { status: 'fulfilled', value: 'value 3' },
    ]);
    expect(await queue.get(addressOf(4))).toBe('value 4');
  });

  it('go on although transactions never end', async () => {
    const realTimeout = setTimeout;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const working = store;
      store = () => new Promise(() => {});
      const lost = [1, 2].map((seed) => queue.get(addressOf(seed)));
      await Promise.resolve();
      lost.push(queue.get(addressOf(3)));
      await Promise.resolve();
      store = working;
      const read = queue.get(addressOf(4));
      vi.advanceTimersByTime(5_000);
      const tooLate = new Promise((resolve) => realTimeout(() => resolve('It still waits.'), 5_000));
      expect(await Promise.race([read, tooLate])).toBe('value 4');
      expect(transactions).toHaveLength(3);
    } finally {
      vi.useRealTimers();
    }
  });

  it('fail together if the database does not open, and then work again', async () => {
    const working = store;
    store = () => Promise.reject(new DOMException('It did not open.', 'TimeoutError'));
    const outcomes = await Promise.allSettled([1, 2].map((seed) => queue.get(addressOf(seed))));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    store = working;
    expect(await queue.get(addressOf(1))).toBe('value 1');
  });
});
