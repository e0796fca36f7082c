import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { VerifiedChunk } from '../../src/chunks/verified-chunk.ts';
import { WriteQueue } from '../../src/chunks/write-queue.ts';
import { type Blake3, loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { noise } from './support/encrypted-file.ts';

const MiB = 1024 * 1024;
let blake3: Blake3;
/** How many chunks each batch had, and when it was written, in milliseconds. */
let batches: { count: number; at: number }[];
let queue: WriteQueue;
let startedAt: number;

beforeAll(async () => {
  blake3 = await loadBlake3();
});

beforeEach(() => {
  vi.useFakeTimers();
  startedAt = performance.now();
  batches = [];
  queue = new WriteQueue(async (chunks) => {
    batches.push({ count: chunks.length, at: Math.round(performance.now() - startedAt) });
    return { stored: new Set(chunks), refusal: 'failed' };
  });
});

afterEach(() => void vi.useRealTimers());

const chunkOf = (seed: number, bytes = 1_000) => VerifiedChunk.of(noise(bytes, seed), blake3);

describe('small chunks', () => {
  it('are written together once none has arrived for 50 ms', async () => {
    for (let seed = 0; seed < 5; seed++) {
      await queue.put(chunkOf(seed));
      await vi.advanceTimersByTimeAsync(30);
    }
    expect(batches).toEqual([]);
    expect(queue.size).toBe(5);
    await vi.advanceTimersByTimeAsync(100);
    expect(batches).toEqual([{ count: 5, at: expect.closeTo(170, -1) }]);
    expect(queue.size).toBe(0);
  });

  it('wait at most a second for that', async () => {
    for (let seed = 0; seed < 60; seed++) {
      await queue.put(chunkOf(seed));
      await vi.advanceTimersByTimeAsync(20);
    }
    expect(batches).toEqual([{ count: expect.closeTo(50, -1), at: expect.closeTo(1_000, -1) }]);
    // The others wait for the next moment.
    await vi.advanceTimersByTimeAsync(100);
    expect(queue.size).toBe(0);
    expect(batches).toHaveLength(2);
  });

  it('wait at most a second also if they are more than a batch', async () => {
    let longest = 0;
    for (let seed = 0; seed < 3_000; seed++) {
      const chunk = chunkOf(seed, 10 + seed);
      const putAt = performance.now();
      await queue.put(chunk);
      void queue.drained().then(() => {
        longest = Math.max(longest, performance.now() - putAt);
      });
      await vi.advanceTimersByTimeAsync(1);
    }
    await vi.advanceTimersByTimeAsync(100);
    expect(queue.size).toBe(0);
    expect(longest).toBeLessThan(1_100);
    expect(batches.map(({ count }) => count).slice(0, 10)).toEqual(Array(10).fill(64));
  });

  it('do not wait once they have 16 MiB', async () => {
    for (let seed = 0; seed < 16; seed++) await queue.put(chunkOf(seed, MiB - 1));
    await vi.advanceTimersByTimeAsync(10);
    expect(batches).toEqual([]);
    await queue.put(chunkOf(16, 16 + 1));
    await vi.advanceTimersByTimeAsync(10);
    expect(batches).toHaveLength(1);
  });

  it('are written at once if a caller waits for the outcome', async () => {
    const [first, second] = [chunkOf(1), chunkOf(2)];
    await Promise.all([queue.put(first), queue.put(second)]);
    const outcome = queue.outcome(second.address);
    await vi.advanceTimersByTimeAsync(5);
    expect(batches).toEqual([{ count: 2, at: expect.closeTo(0, -1) }]);
    expect(await outcome).toBe('stored');
    expect(queue.outcome(second.address)).toBeUndefined();
    // The next ones wait again.
    await queue.put(chunkOf(3));
    await vi.advanceTimersByTimeAsync(40);
    expect(batches).toHaveLength(1);
  });

  it('are written at once, those beyond a batch too, if all are to be written', async () => {
    for (let seed = 0; seed < 100; seed++) await queue.put(chunkOf(seed));
    queue.start();
    const drained = queue.drained();
    await vi.advanceTimersByTimeAsync(10);
    await drained;
    expect(batches.map(({ count }) => count)).toEqual([64, 36]);
  });

  it('are not written earlier because something waits until the queue is empty', async () => {
    await queue.put(chunkOf(1));
    let isDrained = false;
    const drained = queue.drained().then(() => {
      isDrained = true;
    });
    await vi.advanceTimersByTimeAsync(40);
    expect([batches.length, isDrained]).toEqual([0, false]);
    await vi.advanceTimersByTimeAsync(40);
    await drained;
    expect(batches).toHaveLength(1);
  });
});

it('a large chunk is written at once with those that wait, and not with those that come later', async () => {
  await queue.put(chunkOf(1));
  await queue.put(chunkOf(2, MiB));
  // Before the batch starts, and while it is written.
  for (let seed = 3; seed < 100; seed++) await queue.put(chunkOf(seed));
  await vi.advanceTimersByTimeAsync(5);
  expect(batches).toEqual([{ count: 64, at: expect.closeTo(0, -1) }]);
  expect(queue.size).toBe(35);
  await vi.advanceTimersByTimeAsync(60);
  expect(batches.map(({ count }) => count)).toEqual([64, 35]);
});
