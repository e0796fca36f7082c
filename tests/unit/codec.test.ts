// @module-tag slow
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodePlatform } from '../../src/cli/platform.ts';
import { limits } from '../../src/limits.ts';
import { loadAead } from '../../src/self-encryption/aead.ts';
import { loadBrotliDecoder } from '../../src/self-encryption/brotli.ts';
import { Codec } from '../../src/self-encryption/codec.ts';
import { DataMap, encodeBincode } from '../../src/self-encryption/data-map.ts';
import { encryptFile, partBoundaries, readInnerMap, unshrink } from '../../src/self-encryption/file.ts';
import { keysOf } from '../../src/self-encryption/keys.ts';
import { takeStored } from '../../src/self-encryption/stored.ts';
import { xorPad } from '../../src/self-encryption/xor.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { codec, encryptedFile, noise } from './support/encrypted-file.ts';

const corrupt = expect.objectContaining({ code: 'CORRUPT' });
const compress = await nodePlatform.brotliEncoder!();
const decompress = await loadBrotliDecoder(nodePlatform.brotliDecoderWasm());

/**
 * A chunk of a hostile publisher: a chunk of a valid map that opens with the map's keys to any compressed
 * bytes, whatever the map says of them.
 */
async function forge(
  compressed: Uint8Array,
  { src = new Uint8Array(96), sizes = [10, 10, 10] } = {},
): Promise<{ map: DataMap; encrypted: Uint8Array<ArrayBuffer> }> {
  const map = new DataMap(new Uint8Array(96), src, Uint32Array.from(sizes));
  const aead = await loadAead('sodium');
  return { map, encrypted: await aead.encrypt(keysOf(map, 0), new Uint8Array(compressed)) };
}

describe('an encrypted file', () => {
  const max = limits.plaintextChunkBytes;
  const anySize = fc.oneof(fc.integer({ min: 3, max: 60 }), fc.integer({ min: 3, max: 100_000 }));

  async function roundTrip(size: number, seed: number) {
    const bytes = noise(size, seed);
    const { map, records } = await encryptedFile(bytes);
    const decryptChunk = (of: DataMap, i: number) => codec.decrypt(of, i, records.get(of.address(i).hex)!);
    const root = await unshrink(map, (nested) => readInnerMap(nested, decryptChunk));
    expect(root.size).toBe(size);
    for (let i = 0; i < root.count; i++) {
      const part = bytes.subarray(root.offsets[i], root.offsets[i + 1]);
      expect(Buffer.compare(await decryptChunk(root, i), part)).toBe(0);
    }
    return { map, root };
  }

  it('decrypts to the same bytes, for sizes of all kinds', async () => {
    await fc.assert(
      fc.asyncProperty(anySize, fc.integer({ min: 1, max: 1000 }), async (size, seed) => {
        const { root } = await roundTrip(size, seed);
        expect(root.count).toBe(3);
      }),
      { numRuns: 15, endOnFailure: true },
    );
  });

  it.each([
    [max, 3, 0],
    [3 * max + 1, 4, 1],
  ])('of %i bytes has %i chunks, and a map nested %i deep', hasMap);
  it.each([[3 * max - 1, 3, 0]])(
    'of %i bytes has %i chunks, and a map nested %i deep',
    { tags: 'full' },
    hasMap,
  );

  async function hasMap(size: number, count: number, level: number): Promise<void> {
    const { map, root } = await roundTrip(size, 7);
    expect(root.count).toBe(count);
    expect(map.childLevel).toBe(level);
    expect(map.count).toBe(3);
  }

  it('has parts that cover it without gaps, none empty and none larger than the largest that occurs', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 40 * max }), (size) => {
        const boundaries = partBoundaries(size);
        expect(boundaries[0]).toBe(0);
        expect(boundaries.at(-1)).toBe(size);
        expect(boundaries.length).toBeGreaterThanOrEqual(4);
        for (let i = 1; i < boundaries.length; i++) {
          const length = boundaries[i]! - boundaries[i - 1]!;
          expect(length).toBeGreaterThan(0);
          expect(length).toBeLessThanOrEqual(limits.largestPartBytes);
        }
      }),
    );
  });

  it('that is private does not emit its map', async () => {
    const emitted: string[] = [];
    const { address, record } = await encryptFile(codec, bufferAccess(noise(100)), {
      isPrivate: true,
      emit: async (chunk) => void emitted.push(chunk.address.hex),
    });
    expect(record.length).toBeGreaterThan(0);
    expect(emitted).toHaveLength(3);
    expect(emitted).not.toContain(address.hex);
  });

  it('is not encrypted any further once the signal aborts', async () => {
    const controller = new AbortController();
    let emitted = 0;
    const encrypting = encryptFile(codec, bufferAccess(noise(1000)), {
      signal: controller.signal,
      emit: async () => {
        emitted++;
        controller.abort(new Error('enough'));
      },
    });
    await expect(encrypting).rejects.toThrow('enough');
    expect(emitted).toBe(1);
  });
});

describe.each(['kernel', 'sodium'] as const)('an encrypted chunk, decrypted by %s', (aead) => {
  const codec = new Codec({ ...nodePlatform, aead });

  it('that was changed anywhere is CORRUPT', async () => {
    const { map, records } = await encryptedFile(noise(3000));
    const encrypted = records.get(map.address(0).hex)!;
    await expect(codec.decrypt(map, 0, encrypted)).resolves.toHaveLength(1000);
    await fc.assert(
      fc.asyncProperty(fc.nat(encrypted.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const changed = encrypted.slice();
        changed[at]! ^= flip;
        await expect(codec.decrypt(map, 0, changed)).rejects.toEqual(corrupt);
      }),
    );
  });

  it('that is cut short, down to nothing, is CORRUPT', async () => {
    const { map, records } = await encryptedFile(noise(3000));
    const encrypted = records.get(map.address(0).hex)!;
    for (const length of [0, 1, 15, 16, 17, encrypted.length - 1]) {
      await expect(codec.decrypt(map, 0, encrypted.subarray(0, length))).rejects.toEqual(corrupt);
    }
  });

  it('does not decrypt as another chunk of its map, nor at another level', async () => {
    const { map, records } = await encryptedFile(noise(3000));
    const encrypted = records.get(map.address(0).hex)!;
    await expect(codec.decrypt(map, 1, encrypted)).rejects.toEqual(corrupt);
    const nested = new DataMap(map.dstHashes, map.srcHashes, map.sizes, 1);
    await expect(codec.decrypt(nested, 0, encrypted)).rejects.toEqual(corrupt);
  });

  it('decrypts from the middle of a larger buffer, at any alignment', async () => {
    const bytes = noise(3000);
    const { map, records } = await encryptedFile(bytes);
    const encrypted = records.get(map.address(0).hex)!;
    for (const offset of [1, 2, 3, 4]) {
      const frame = new Uint8Array(encrypted.length + 8);
      frame.set(encrypted, offset);
      const opened = await codec.decrypt(map, 0, frame.subarray(offset, offset + encrypted.length));
      expect(Buffer.compare(opened, bytes.subarray(0, 1000))).toBe(0);
    }
  });

  it('that holds more than its map says (a Brotli bomb) is CORRUPT, and costs no more than the map says', async () => {
    const bomb = compress(new Uint8Array(60e6));
    expect(bomb.length).toBeLessThan(1000);
    const { map, encrypted } = await forge(bomb);
    const before = process.memoryUsage().rss;
    await expect(codec.decrypt(map, 0, encrypted)).rejects.toEqual(corrupt);
    expect(process.memoryUsage().rss - before).toBeLessThan(40e6);
  });

  it('that holds one byte more than its map says is CORRUPT', async () => {
    const { map, encrypted } = await forge(compress(new Uint8Array(11)));
    await expect(codec.decrypt(map, 0, encrypted)).rejects.toEqual(corrupt);
  });

  it('that holds fewer bytes than its map says is CORRUPT', async () => {
    const { map, encrypted } = await forge(compress(new Uint8Array(9)));
    await expect(codec.decrypt(map, 0, encrypted)).rejects.toEqual(corrupt);
  });

  it('whose compressed data ends early is CORRUPT', async () => {
    const compressed = compress(noise(4000));
    const { map, encrypted } = await forge(compressed.subarray(0, -10), { sizes: [4000, 10, 10] });
    await expect(codec.decrypt(map, 0, encrypted)).rejects.toEqual(corrupt);
  });

  it('whose compressed data is empty is CORRUPT', async () => {
    const { map, encrypted } = await forge(new Uint8Array());
    await expect(codec.decrypt(map, 0, encrypted)).rejects.toEqual(corrupt);
  });

  it('that decrypts to another size than the map says is CORRUPT', async () => {
    const right = await forge(compress(noise(10)));
    await expect(codec.decrypt(right.map, 0, right.encrypted)).resolves.toEqual(noise(10));
    for (const size of [9, 11]) {
      const { map, encrypted } = await forge(compress(noise(size)));
      await expect(codec.decrypt(map, 0, encrypted)).rejects.toEqual(corrupt);
    }
  });

  it('decrypts into a given buffer, and otherwise does not change its input', async () => {
    const plain = noise(1_500_000);
    const { map, records } = await encryptedFile(plain);
    const encrypted = records.get(map.address(0).hex)!;
    const before = encrypted.slice();
    const apart = await codec.decrypt(map, 0, encrypted);
    expect(Buffer.compare(encrypted, before)).toBe(0);
    const inPlace = await codec.decrypt(map, 0, encrypted, encrypted);
    expect(inPlace.buffer === encrypted.buffer).toBe(aead === 'kernel');
    expect(Buffer.compare(inPlace, plain.subarray(0, 500_000))).toBe(0);
    expect(Buffer.compare(apart, inPlace)).toBe(0);
  });
});

describe('the Brotli decoder', () => {
  it('returns the original bytes or CORRUPT, and works on after any damage', () => {
    const text = new TextEncoder().encode('The quick brown fox jumps over the lazy dog. '.repeat(100));
    const compressed = compress(text);
    const damage = fc.array(fc.tuple(fc.nat(compressed.length - 1), fc.nat(255)), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(damage, (changes) => {
        const damaged = compressed.slice();
        for (const [at, value] of changes) damaged[at] = value;
        try {
          expect(decompress(damaged, text.length).length).toBeLessThanOrEqual(text.length);
        } catch (error) {
          expect(error).toEqual(corrupt);
        }
      }),
      { numRuns: 500 },
    );
    expect(decompress(compressed, text.length)).toEqual(text);
  });

  it('gives CORRUPT or few bytes for random input', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          expect(decompress(bytes, 1000).length).toBeLessThanOrEqual(1000);
        } catch (error) {
          expect(error).toEqual(corrupt);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('a Brotli stream that only stores its bytes', () => {
  const taken = (stream: Uint8Array, maxBytes: number) => takeStored(stream.slice(), maxBytes);

  it('is the encoder’s output for noise, and decodes to the same bytes', () => {
    for (const length of [200, 1_000, 65_536, 300_001, limits.plaintextChunkBytes, limits.largestPartBytes]) {
      const plain = noise(length, 9);
      const opened = taken(compress(plain), length);
      expect(opened, `${length} bytes`).toBeDefined();
      expect(Buffer.compare(opened!, plain)).toBe(0);
    }
  });

  it('is left to the decoder if it holds more than its limit', () => {
    expect(taken(compress(noise(1_000)), 1_000)).toBeDefined();
    expect(taken(compress(noise(1_000)), 999)).toBeUndefined();
  });

  it('is left to the decoder if a part is compressed or bytes follow it', () => {
    expect(taken(compress(new TextEncoder().encode('again and '.repeat(1_000))), 10_000)).toBeUndefined();
    const mixed = new Uint8Array(5_000_000);
    mixed.set(noise(2_000_000));
    expect(taken(compress(mixed), mixed.length)).toBeUndefined();
    expect(taken(Uint8Array.of(...compress(noise(1_000)), 0), 1_000)).toBeUndefined();
    expect(taken(new Uint8Array(), 10)).toBeUndefined();
  });

  it('never returns other bytes than the decoder, after any damage', () => {
    const plain = noise(300, 3);
    const compressed = compress(plain);
    const damage = fc.array(fc.tuple(fc.oneof(fc.nat(5), fc.nat(compressed.length - 1)), fc.nat(255)), {
      minLength: 1,
      maxLength: 3,
    });
    let agreed = 0;
    fc.assert(
      fc.property(damage, fc.nat(compressed.length), (changes, cut) => {
        const damaged = compressed.slice(0, cut % 3 === 0 ? cut : undefined);
        for (const [at, value] of changes) if (at < damaged.length) damaged[at] = value;
        const opened = taken(damaged, plain.length);
        if (!opened) return;
        agreed++;
        expect(Buffer.compare(opened, decompress(damaged, plain.length))).toBe(0);
      }),
      { numRuns: 2_000 },
    );
    expect(agreed).toBeGreaterThan(10);
  });
});

describe('a nested map', () => {
  const nested = new DataMap(new Uint8Array(96), new Uint8Array(96), Uint32Array.of(10, 10, 10), 1);

  it('with endless nesting is TOO_LARGE after eight levels', async () => {
    const inner = encodeBincode(nested);
    const sizes = Uint32Array.of(100, 100, inner.length - 200);
    const outer = new DataMap(new Uint8Array(96), new Uint8Array(96), sizes, 1);
    // Each level holds a map that says it is nested, of the right size to hold the like again.
    const again = encodeBincode(outer);
    expect(again.length).toBe(inner.length);
    let levels = 0;
    const decryptChunk = async (_: DataMap, i: number) => {
      if (i === 0) levels++;
      return again.subarray(outer.offsets[i], outer.offsets[i + 1]);
    };
    const opening = unshrink(outer, (map) => readInnerMap(map, decryptChunk));
    await expect(opening).rejects.toMatchObject({ code: 'TOO_LARGE' });
    expect(levels).toBe(limits.mapDepth);
  });

  it('that claims gigabytes is TOO_LARGE before any of it is fetched', async () => {
    const count = 100;
    const sizes = new Uint32Array(count).fill(limits.plaintextChunkBytes);
    const huge = new DataMap(new Uint8Array(32 * count), new Uint8Array(32 * count), sizes, 1);
    let opened = 0;
    const opening = unshrink(huge, async () => {
      opened++;
      return huge;
    });
    await expect(opening).rejects.toMatchObject({ code: 'TOO_LARGE' });
    expect(opened).toBe(0);
  });

  it('that holds no map is CORRUPT', async () => {
    await expect(readInnerMap(nested, async () => new Uint8Array(10))).rejects.toEqual(
      expect.objectContaining({ code: expect.stringMatching('CORRUPT|UNSUPPORTED') }),
    );
  });
});

describe('a codec', () => {
  it('tries to load its decoder again after a failure', async () => {
    // Compressed chunks need the decoder.
    const { map, records } = await encryptedFile(new Uint8Array(3_000));
    let tries = 0;
    const flaky = new Codec({
      aead: 'sodium',
      brotliDecoderWasm: async () => {
        if (++tries === 1) throw new TypeError('Failed to fetch');
        return nodePlatform.brotliDecoderWasm();
      },
    });
    const encrypted = records.get(map.address(0).hex)!;
    await expect(flaky.decrypt(map, 0, encrypted)).rejects.toThrow('Failed to fetch');
    await expect(flaky.decrypt(map, 0, encrypted)).resolves.toHaveLength(1_000);
    await flaky.decrypt(map, 1, records.get(map.address(1).hex)!);
    expect(tries).toBe(2);
  });

  it('without a compressor refuses to encrypt', async () => {
    const reader = new Codec({ aead: 'sodium', brotliDecoderWasm: nodePlatform.brotliDecoderWasm });
    await expect(
      encryptFile(reader, bufferAccess(noise(30)), { emit: async () => {} }),
    ).rejects.toMatchObject({
      code: 'UNSUPPORTED',
    });
  });
});

describe.each(['kernel', 'sodium'] as const)('a codec that decrypts many chunks at once by %s', (aead) => {
  it.each([
    ['stored', noise(60_000)],
    ['compressed', new TextEncoder().encode('this and that, '.repeat(4_000))],
  ])('keeps them apart, though they share a buffer: %s ones', async (_, bytes) => {
    const codec = new Codec({ ...nodePlatform, aead });
    const { map, records } = await encryptedFile(bytes);
    const opened = await Promise.all(
      [0, 1, 2, 2, 1, 0].map((i) => codec.decrypt(map, i, records.get(map.address(i).hex)!)),
    );
    for (const [at, i] of [0, 1, 2, 2, 1, 0].entries()) {
      expect(Buffer.compare(opened[at]!, bytes.subarray(map.offsets[i], map.offsets[i + 1]))).toBe(0);
    }
  });
});

describe('the pad', () => {
  it('is XORed over any number of bytes, at any alignment, and twice gives the input', () => {
    const padding = fc.uint8Array({ minLength: 52, maxLength: 52 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), padding, fc.nat(7), (bytes, pad, offset) => {
        const frame = new Uint8Array(bytes.length + offset);
        frame.set(bytes, offset);
        const once = xorPad(frame.subarray(offset), pad);
        expect(once).toEqual(bytes.map((byte, i) => byte ^ pad[i % 52]!));
        expect(xorPad(once, pad)).toEqual(bytes);
        // Into a buffer that was used before, and in place.
        const used = new Uint8Array(500).fill(9);
        expect(xorPad(frame.subarray(offset), pad, used)).toEqual(once);
        expect(used.subarray(bytes.length).every((byte) => byte === 9)).toBe(true);
        expect(xorPad(once, pad, once)).toEqual(bytes);
      }),
    );
  });
});
