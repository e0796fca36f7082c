import { encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/limits.ts';
import {
  DataMap,
  decodeBincode,
  decodeDataMap,
  encodeBincode,
  encodeDataMap,
} from '../../src/self-encryption/data-map.ts';

const hash = (fill: number) => Array.from({ length: 32 }, () => fill);
const chunk = (index: number, size = 10) => [index, hash(index), hash(index + 100), size];
const three = () => [chunk(0), chunk(1), chunk(2)];

const anyMap = fc
  .tuple(
    fc.array(
      fc.record({
        dst: fc.uint8Array({ minLength: 32, maxLength: 32 }),
        src: fc.uint8Array({ minLength: 32, maxLength: 32 }),
        size: fc.integer({ min: 1, max: limits.largestPartBytes }),
      }),
      { minLength: 3, maxLength: 40 },
    ),
    fc.nat({ max: 9 }),
  )
  .map(
    ([chunks, childLevel]) =>
      new DataMap(
        Uint8Array.from(chunks.flatMap(({ dst }) => [...dst])),
        Uint8Array.from(chunks.flatMap(({ src }) => [...src])),
        Uint32Array.from(chunks, ({ size }) => size),
        childLevel,
      ),
  );

describe('a data map', () => {
  it('comes back from its record as it was', () => {
    fc.assert(
      fc.property(anyMap, (map) => {
        expect(decodeDataMap(encodeDataMap(map))!.equals(map)).toBe(true);
      }),
    );
  });

  it('comes back from its nested form as it was', () => {
    fc.assert(
      fc.property(anyMap, (map) => {
        expect(decodeBincode(encodeBincode(map)).equals(map)).toBe(true);
      }),
    );
  });

  it('tells which chunk holds a byte', () => {
    fc.assert(
      fc.property(anyMap, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (map, part) => {
        const position = Math.floor(part * map.size);
        const index = map.chunkAt(position);
        expect(map.offsets[index]).toBeLessThanOrEqual(position);
        expect(map.offsets[index + 1]).toBeGreaterThan(position);
      }),
    );
  });

  it('tells which chunk holds its own first and last byte', () => {
    fc.assert(
      fc.property(anyMap, (map) => {
        for (let i = 0; i < map.count; i++) {
          expect(map.chunkAt(map.offsets[i]!)).toBe(i);
          expect(map.chunkAt(map.offsets[i + 1]! - 1)).toBe(i);
        }
      }),
    );
  });

  it('differs from a map with any different part', () => {
    const map = () => decodeDataMap(encode([1, three(), null]))!;
    expect(map().equals(map())).toBe(true);
    expect(map().equals(decodeDataMap(encode([1, three(), 1]))!)).toBe(false);
    for (const part of ['dstHashes', 'srcHashes', 'sizes'] as const) {
      const other = map();
      other[part][1]!++;
      expect(map().equals(other)).toBe(false);
    }
    expect(map().equals(decodeDataMap(encode([1, [...three(), chunk(3)], null]))!)).toBe(false);
  });
});

describe('a record', () => {
  it('is a data map also when its hashes are written as bin', () => {
    const asBin = three().map(([index, dst, src, size]) => [
      index,
      Uint8Array.from(dst as number[]),
      Uint8Array.from(src as number[]),
      size,
    ]);
    const map = decodeDataMap(encode([1, asBin, 2]))!;
    expect(map.equals(decodeDataMap(encode([1, three(), 2]))!)).toBe(true);
    expect(map.childLevel).toBe(2);
  });

  it.each([0, 2, 255, -1, 'one', { toString: 1 }])(
    'that is a data map of version %j is UNSUPPORTED',
    (version) => {
      expect(() => decodeDataMap(encode([version, three(), null]))).toThrow(
        expect.objectContaining({ code: 'UNSUPPORTED' }),
      );
    },
  );

  it.each<[string, unknown]>([
    ['its chunks are in another order', [1, [chunk(1), chunk(0), chunk(2)], null]],
    ['an index is missing', [1, [chunk(0), chunk(1), chunk(3)], null]],
    ['an index occurs twice', [1, [chunk(0), chunk(1), chunk(1)], null]],
    ['it has two chunks', [1, [chunk(0), chunk(1)], null]],
    ['it has no chunks', [1, [], null]],
    ['a chunk is empty', [1, [chunk(0), chunk(1, 0), chunk(2)], null]],
    ['a chunk is larger than any', [1, [chunk(0), chunk(1, limits.largestPartBytes + 1), chunk(2)], null]],
    ['a size is negative', [1, [chunk(0), chunk(1, -5), chunk(2)], null]],
    ['a size is no integer', [1, [chunk(0), chunk(1, 1.5), chunk(2)], null]],
    ['a hash is short', [1, [chunk(0), chunk(1), [2, hash(1).slice(1), hash(1), 5]], null]],
    ['a hash holds what is no byte', [1, [chunk(0), chunk(1), [2, hash(256), hash(1), 5]], null]],
    ['a hash in bin is long', [1, [chunk(0), chunk(1), [2, new Uint8Array(33), hash(1), 5]], null]],
    ['a hash is text', [1, [chunk(0), chunk(1), [2, 'x'.repeat(32), hash(1), 5]], null]],
    ['a chunk has a fifth field', [1, [chunk(0), chunk(1), [...chunk(2), 0]], null]],
    ['its child level is zero', [1, three(), 0]],
    ['its child level is negative', [1, three(), -1]],
    ['it has no child', [1, three()]],
    ['it has a fourth field', [1, three(), null, null]],
    ['it is a map', { version: 1, chunks: three(), child: null }],
    ['its chunks are a map', [1, { 0: chunk(0), 1: chunk(1), 2: chunk(2) }, null]],
  ])('is just bytes when %s', (_, value) => {
    expect(decodeDataMap(encode(value))).toBeUndefined();
  });

  it('is plain bytes if something follows the data map, or its end is missing', () => {
    const record = encode([1, three(), null]);
    expect(decodeDataMap(record)).toBeDefined();
    expect(decodeDataMap(Uint8Array.of(...record, 0xc0))).toBeUndefined();
    expect(decodeDataMap(record.subarray(0, -1))).toBeUndefined();
    expect(decodeDataMap(new Uint8Array())).toBeUndefined();
  });

  it('is plain bytes, a map within the limits, or UNSUPPORTED, for any bytes', () => {
    const record = [...encode([1, three(), null])];
    const damage = fc.array(fc.tuple(fc.nat(record.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(damage, (changes) => {
        const damaged = Uint8Array.from(record);
        for (const [at, value] of changes) damaged[at] = value;
        try {
          const map = decodeDataMap(damaged);
          if (map) expect(map.sizes.every((size) => size > 0 && size <= limits.largestPartBytes)).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({ code: 'UNSUPPORTED' });
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('made to look like a data map of gigabytes costs no memory', () => {
    // Five bytes claim an array of 4,194,304 elements; decoders that believe it reserve 32 MB for each.
    const record = new Uint8Array(limits.chunkBytes - 4);
    record[0] = 0x93;
    for (let at = 1; at + 5 <= record.length; at += 5) record.set([0xdd, 0, 0x40, 0, 0], at);
    const before = process.memoryUsage().rss;
    expect(decodeDataMap(record)).toBeUndefined();
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
  });

  it('as full of chunks as a record can be is read within a second or two', () => {
    const count = 57_000;
    const bin = new Uint8Array(32);
    const record = encode([1, Array.from({ length: count }, (_, i) => [i, bin, bin, 1]), null]);
    expect(record.length).toBeLessThanOrEqual(limits.chunkBytes);
    const startedAt = performance.now();
    expect(decodeDataMap(record)!.count).toBe(count);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

describe('a nested data map', () => {
  const valid = () => encodeBincode(decodeDataMap(encode([1, three(), null]))!);
  const at = (index: number) => 9 + 80 * index;

  it.each<[string, (bytes: Uint8Array, view: DataView) => unknown]>([
    ['is empty', () => new Uint8Array()],
    ['is cut short', (bytes) => bytes.subarray(0, -1)],
    ['goes on after its end', (bytes) => Uint8Array.of(...bytes, 0)],
    ['has two chunks', (_, view) => view.setBigUint64(1, 2n, true)],
    ['claims more chunks than it holds', (_, view) => view.setBigUint64(1, 4n, true)],
    ['claims 2^64−1 chunks', (_, view) => view.setBigUint64(1, 2n ** 64n - 1n, true)],
    ['has indexes out of order', (_, view) => view.setBigUint64(at(1), 2n, true)],
    ['has an empty chunk', (_, view) => view.setBigUint64(at(1) + 72, 0n, true)],
    [
      'has a chunk larger than any',
      (_, view) => view.setBigUint64(at(1) + 72, BigInt(limits.largestPartBytes + 1), true),
    ],
    ['has a chunk of 2^63 bytes', (_, view) => view.setBigUint64(at(1) + 72, 2n ** 63n, true)],
    [
      'has an unknown child marker',
      (bytes) => {
        bytes[at(3)] = 2;
      },
    ],
    [
      'says that a child level follows, and none does',
      (bytes) => {
        bytes[at(3)] = 1;
      },
    ],
    ['says that none follows, and one does', (bytes) => Uint8Array.of(...bytes, 1, 0, 0, 0, 0, 0, 0, 0)],
    ['has the child level zero', (bytes) => Uint8Array.of(...bytes.subarray(0, -1), 1, ...new Uint8Array(8))],
    [
      'has the child level 2^64−1',
      (bytes) => Uint8Array.of(...bytes.subarray(0, -1), 1, ...new Uint8Array(8).fill(255)),
    ],
  ])('is CORRUPT when it %s', (_, damage) => {
    const bytes = valid();
    const damaged = (damage(bytes, new DataView(bytes.buffer)) as Uint8Array | undefined) ?? bytes;
    expect(() => decodeBincode(damaged)).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
  });

  it('of another version is UNSUPPORTED', () => {
    const bytes = valid();
    bytes[0] = 2;
    expect(() => decodeBincode(bytes)).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  });

  it('is read from the middle of a larger buffer too', () => {
    const bytes = valid();
    const frame = new Uint8Array(bytes.length + 20);
    frame.set(bytes, 7);
    expect(decodeBincode(frame.subarray(7, 7 + bytes.length)).count).toBe(3);
  });
});
