import { set } from 'idb-keyval';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { ChunkDatabase } from '../../src/chunks/indexed-db.ts';
import { IndexedDbStore } from '../../src/chunks/indexed-db-store.ts';
import type { PinOwner } from '../../src/chunks/store.ts';
import { VerifiedChunk } from '../../src/chunks/verified-chunk.ts';
import { type Blake3, loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { Stats } from '../../src/stats/stats.ts';
import { noise } from './support/encrypted-file.ts';
import { failPuts, freshIndexedDb } from './support/indexed-db.ts';

let blake3: Blake3;

beforeAll(async () => {
  blake3 = await loadBlake3();
});

beforeEach(() => {
  freshIndexedDb();
  vi.spyOn(console, 'warn').mockImplementation(() => {});
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

function chunkOf(seed: number, bytes = 1_000): VerifiedChunk {
  const content = noise(bytes, seed);
  return VerifiedChunk.verify(Address.fromBytes(blake3(content)), content, blake3);
}

describe('a transaction', () => {
  it('that fails by one of its requests tells why', async () => {
    const database = new ChunkDatabase('a database', { onClosed() {}, onUnopened() {} });
    const adding = database.write(({ metadata }) => {
      metadata.add({ size: 1 }, 'the same key');
      metadata.add({ size: 2 }, 'the same key');
    });
    await expect(adding).rejects.toMatchObject({ name: 'ConstraintError' });
  });
});

describe('a full disk', () => {
  it('that a request tells of makes room as one that the transaction tells of', async () => {
    const store = new IndexedDbStore(new Stats());
    const [old, fresh] = [chunkOf(1), chunkOf(2)];
    await store.put(old);
    expect(await store.written(old.address)).toBe('stored');
    let failures = 0;
    failPuts('chunks', 'QuotaExceededError', () => failures++ === 0);
    await store.put(fresh);
    expect(await store.written(fresh.address)).toBe('stored');
    expect([...(await store.sizes()).keys()]).toEqual([fresh.address.hex]);
    expect(failures).toBe(2);
  });

  it('leaves the chunks of pins, which may refer to them before or after they are stored', async () => {
    const store = new IndexedDbStore(new Stats());
    const pin = Address.fromBytes(new Uint8Array(32));
    await set(pin.bytes, { status: 'active' } satisfies PinOwner, store.pins);
    const [before, after, recent, fresh] = [chunkOf(1), chunkOf(2), chunkOf(3), chunkOf(4)];
    await store.addPinReferences(pin, [before.address]);
    const now = vi.spyOn(Date, 'now');
    for (const [second, chunk] of [before, after, recent].entries()) {
      now.mockReturnValue(second * 1000);
      await store.put(chunk);
      await store.flush();
    }
    await store.addPinReferences(pin, [after.address]);
    let failures = 0;
    failPuts('chunks', 'QuotaExceededError', () => failures++ === 0);
    await store.put(fresh);
    expect(await store.written(fresh.address)).toBe('stored');
    expect([...(await store.sizes()).keys()].sort()).toEqual(
      [before, after, fresh].map(({ address }) => address.hex).sort(),
    );
  });
});

describe('flushing', () => {
  it('waits for what is queued, and not for what comes after', async () => {
    const store = new IndexedDbStore(new Stats());
    let [isOver, seed] = [false, 10];
    // The queue is never empty.
    const fill = async () => {
      while (!isOver) {
        const chunk = chunkOf(seed++, 100);
        await store.put(chunk);
        await store.written(chunk.address);
      }
    };
    const filling = [fill(), fill()];
    const chunk = chunkOf(1);
    await store.put(chunk);
    await store.flush();
    const summary = await store.summary();
    isOver = true;
    await Promise.all(filling);
    expect((await store.sizes()).has(chunk.address.hex)).toBe(true);
    expect(summary.waiting).toBeGreaterThan(0);
  }, 10_000);
});

describe('chunks that wait to be written', () => {
  it('are deleted with the others', async () => {
    const store = new IndexedDbStore(new Stats());
    const chunk = chunkOf(1);
    await store.put(chunk);
    expect(await store.summary()).toMatchObject({ count: 0, waiting: 1 });
    await store.free([chunk.address]);
    await store.flush();
    expect(await store.summary()).toMatchObject({ count: 0, waiting: 0 });
    expect(await store.get(chunk.address)).toBeUndefined();
  });

  it('are deleted with the pin that referred to them', async () => {
    const store = new IndexedDbStore(new Stats());
    const [pin, chunk] = [Address.fromBytes(new Uint8Array(32)), chunkOf(1)];
    await set(pin.bytes, { status: 'active' } satisfies PinOwner, store.pins);
    await store.addPinReferences(pin, [chunk.address]);
    await store.put(chunk);
    await set(pin.bytes, { status: 'removed' } satisfies PinOwner, store.pins);
    await store.removePinReferences(pin);
    await store.flush();
    expect(await store.summary()).toMatchObject({ count: 0, waiting: 0 });
  });
});

describe('a listener', () => {
  it('learns that chunks were stored and removed, until it stops listening', async () => {
    const store = new IndexedDbStore(new Stats());
    const changes: string[] = [];
    const stopListening = store.onChange((change) => changes.push(change));
    const [first, second] = [chunkOf(1), chunkOf(2)];
    await store.put(first);
    await store.flush();
    expect(changes).toEqual(['stored']);
    await store.delete(first.address);
    expect(changes).toEqual(['stored', 'removed']);
    // Nothing is removed twice.
    await store.delete(first.address);
    stopListening();
    await store.put(second);
    await store.flush();
    expect(changes).toEqual(['stored', 'removed']);
  });

  it('learns that another worker has removed a chunk, once the database says so', async () => {
    const [here, there] = [new IndexedDbStore(new Stats()), new IndexedDbStore(new Stats())];
    const chunk = chunkOf(1);
    await here.put(chunk);
    await here.flush();
    await here.sizes();
    const changes: string[] = [];
    here.onChange((change) => changes.push(change));
    await there.delete(chunk.address);
    expect(changes).toEqual([]);
    expect(await here.written(chunk.address)).toBe('failed');
    expect(changes).toEqual(['removed']);
  });
});
