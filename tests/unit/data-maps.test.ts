import { describe, expect, it } from 'vitest';
import { DataMaps } from '../../src/content/data-maps.ts';
import { AntwayError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { DataMap, encodeBincode } from '../../src/self-encryption/data-map.ts';
import { Trace } from '../../src/stats/trace.ts';
import { untilAborted } from './support/fake-network.ts';

/** A map of a file of `count` bytes, and a nested map that contains it, in chunks of at most `largest` bytes. */
function nestedMap(
  count: number,
  largest = 4_000_000,
): { inner: DataMap; nested: DataMap; parts: Uint8Array[] } {
  const map = (sizes: Uint32Array, level: number) =>
    new DataMap(new Uint8Array(32 * sizes.length), new Uint8Array(32 * sizes.length), sizes, level);
  const inner = map(new Uint32Array(count).fill(1), 0);
  const bytes = encodeBincode(inner);
  const starts = Array.from({ length: Math.ceil(bytes.length / largest) }, (_, i) => i * largest);
  const parts =
    starts.length > 2
      ? starts.map((start) => bytes.subarray(start, start + largest))
      : [bytes.subarray(0, 1), bytes.subarray(1, 2), bytes.subarray(2)];
  return {
    inner,
    nested: map(
      Uint32Array.from(parts, ({ length }) => length),
      1,
    ),
    parts,
  };
}

/** Reads chunks of nested maps, and counts the chunks. */
function readerOf(...maps: ReturnType<typeof nestedMap>[]) {
  const reader = {
    reads: 0,
    beforeRead: async (_signal: AbortSignal): Promise<void> => {},
    async read(map: DataMap, index: number, signal?: AbortSignal): Promise<Uint8Array> {
      reader.reads++;
      await reader.beforeRead(signal!);
      return maps.find(({ nested }) => nested === map)!.parts[index]!;
    },
  };
  return reader;
}

const onNested = () => {};

describe('the map inside a nested map', () => {
  it('is read once, and each caller learns of the nested map before that', async () => {
    const small = nestedMap(10);
    const reader = readerOf(small);
    const maps = new DataMaps();
    const told: [DataMap, number][] = [];
    const tell = (nested: DataMap) => void told.push([nested, reader.reads]);
    const both = [1, 2].map(() => maps.fileMap(small.nested, reader, tell));
    const [first, second] = await Promise.all(both);
    expect(first!.equals(small.inner)).toBe(true);
    expect(second).toBe(first);
    expect(await maps.fileMap(small.nested, reader, tell)).toBe(first);
    expect(reader.reads).toBe(3);
    expect(told).toEqual([
      [small.nested, 0],
      [small.nested, 0],
      [small.nested, 3],
    ]);
  });

  it('counts its chunks as joined for a caller that joins', async () => {
    const small = nestedMap(10);
    const reader = readerOf(small);
    const maps = new DataMaps();
    const traces = [new Trace(), new Trace()];
    await Promise.all(traces.map((trace) => maps.fileMap(small.nested, reader, onNested, undefined, trace)));
    expect(traces.map(({ chunks }) => chunks.joined)).toEqual([0, small.parts.length]);
  });

  it('is read on for a second caller although the first one aborts', async () => {
    const small = nestedMap(10);
    const reader = readerOf(small);
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    reader.beforeRead = (signal) => Promise.race([gate, untilAborted(signal)]);
    const maps = new DataMaps();
    const [first, second] = [new AbortController(), new AbortController()];
    const aborted = maps.fileMap(small.nested, reader, onNested, first.signal);
    const other = maps.fileMap(small.nested, reader, onNested, second.signal);
    await new Promise((resolve) => setTimeout(resolve));
    first.abort(new Error('left'));
    await expect(aborted).rejects.toThrow('left');
    go();
    expect((await other).equals(small.inner)).toBe(true);
    expect(reader.reads).toBe(3);
  });

  it('is read again after a failure, and after all callers have aborted', async () => {
    const small = nestedMap(10);
    const reader = readerOf(small);
    const maps = new DataMaps();
    reader.beforeRead = () => Promise.reject(new AntwayError('NOT_FOUND', 'no'));
    await expect(maps.fileMap(small.nested, reader, onNested)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    reader.beforeRead = untilAborted;
    const controller = new AbortController();
    const aborted = maps.fileMap(small.nested, reader, onNested, controller.signal);
    setTimeout(() => controller.abort(new Error('left')));
    await expect(aborted).rejects.toThrow('left');
    reader.beforeRead = async () => {};
    expect((await maps.fileMap(small.nested, reader, onNested)).equals(small.inner)).toBe(true);
  });

  it('is not missing for one reader because another reader lacks a chunk', async () => {
    const small = nestedMap(10);
    const [stored, fetching] = [readerOf(small), readerOf(small)];
    stored.beforeRead = () => Promise.reject(new AntwayError('NOT_FOUND', 'not stored'));
    const maps = new DataMaps();
    const [local, remote] = await Promise.allSettled([
      maps.fileMap(small.nested, stored, onNested),
      maps.fileMap(small.nested, fetching, onNested),
    ]);
    expect([local.status, remote.status]).toEqual(['rejected', 'fulfilled']);
    // A map in memory needs no chunk.
    const known = await maps.fileMap(small.nested, stored, onNested);
    expect(known.equals(small.inner)).toBe(true);
  });

  it('is not remembered if it alone exceeds the memory, and others stay', async () => {
    const small = nestedMap(10);
    const huge = nestedMap(110_000);
    const reader = readerOf(small, huge);
    const maps = new DataMaps();
    const read = async ({ nested }: typeof small) => {
      const before = reader.reads;
      await maps.fileMap(nested, reader, onNested);
      return reader.reads - before;
    };
    expect(await read(small)).toBe(3);
    expect(await read(huge)).toBe(huge.nested.count);
    expect(await read(huge)).toBe(huge.nested.count);
    expect(await read(small)).toBe(0);
  });

  it('is read by few requests at the same time, and by none after one that fails', async () => {
    const hostile = nestedMap(10, 1);
    const reader = readerOf(hostile);
    let running = 0;
    let most = 0;
    reader.beforeRead = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve));
      running--;
    };
    const maps = new DataMaps();
    await maps.fileMap(hostile.nested, reader, onNested);
    expect(reader.reads).toBe(hostile.nested.count);
    expect(hostile.nested.count).toBeGreaterThan(500);
    expect(most).toBe(limits.parallelMapChunks);

    reader.reads = 0;
    reader.beforeRead = () => Promise.reject(new AntwayError('NOT_FOUND', 'gone'));
    const failing = new DataMaps().fileMap(hostile.nested, reader, onNested);
    await expect(failing).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(reader.reads).toBeLessThanOrEqual(limits.parallelMapChunks);
  });

  it('is not read if it has more chunks than any honest one', async () => {
    const hostile = nestedMap(20, 1);
    const reader = readerOf(hostile);
    expect(hostile.nested.count).toBeGreaterThan(limits.nestedMapChunks);
    const reading = new DataMaps().fileMap(hostile.nested, reader, onNested);
    await expect(reading).rejects.toMatchObject({ code: 'TOO_LARGE' });
    expect(reader.reads).toBe(0);
  });

  it('fetches no other chunk any more after one has failed', async () => {
    const small = nestedMap(10);
    const reader = readerOf(small);
    const signals: AbortSignal[] = [];
    reader.beforeRead = (signal) => {
      signals.push(signal);
      if (signals.length === 3) throw new AntwayError('NOT_FOUND', 'gone');
      return untilAborted(signal);
    };
    const reading = new DataMaps().fileMap(small.nested, reader, onNested);
    await expect(reading).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
  });

  it('takes no memory for its size before its chunks are here', async () => {
    const claim = new Uint32Array(16).fill(4 * 1024 * 1024);
    const hashes = new Uint8Array(32 * claim.length);
    let fail = (_: Error) => {};
    const chunk = new Promise<Uint8Array>((_, reject) => {
      fail = reject;
    });
    const before = process.memoryUsage().arrayBuffers;
    const maps = new DataMaps();
    const reading = Array.from({ length: 20 }, () =>
      maps.fileMap(new DataMap(hashes, hashes, claim, 1), { read: () => chunk }, onNested),
    );
    await new Promise((resolve) => setTimeout(resolve));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
    fail(new AntwayError('NOT_FOUND', 'gone'));
    const ends = await Promise.allSettled(reading);
    expect(ends.every(({ status }) => status === 'rejected')).toBe(true);
  });

  it('is forgotten for others, at 8 MiB in total with the nested maps', async () => {
    // About 80 bytes for each chunk of both maps.
    const large = Array.from({ length: 4 }, () => nestedMap(30_000));
    const reader = readerOf(...large);
    const maps = new DataMaps();
    for (const { nested } of large) await maps.fileMap(nested, reader, onNested);
    const before = reader.reads;
    for (const { nested } of large.slice(1).reverse()) await maps.fileMap(nested, reader, onNested);
    expect(reader.reads).toBe(before);
    await maps.fileMap(large[0]!.nested, reader, onNested);
    expect(reader.reads).toBe(before + 3);
  });
});
