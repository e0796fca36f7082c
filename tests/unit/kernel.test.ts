import { writeFileSync } from 'node:fs';
import { blake3 } from '@noble/hashes/blake3.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kernel as makeKernel } from '../../build/kernel/kernel.ts';
import { limits } from '../../src/limits.ts';
import { loadKernel } from '../../src/self-encryption/kernel.ts';
import { pieceBytes } from '../../src/self-encryption/kernel-layout.ts';
import { kernelWasm } from '../../src/self-encryption/kernel-wasm.ts';
import { loadSodium } from '../../src/self-encryption/sodium.ts';
import { xorPad } from '../../src/self-encryption/xor.ts';
import { noise } from './support/sealed.ts';

const generated = new URL('../../src/self-encryption/kernel-wasm.ts', import.meta.url);

const made = Buffer.from(makeKernel()).toString('base64');

if (process.env.UPDATE_KERNEL) {
  const source = `// Made by \`build/kernel/\`, see there.\nexport const kernelWasm =\n  '${made}';\n`;
  writeFileSync(generated, source);
}

it('the kernel’s WebAssembly matches its sources', () => {
  expect(kernelWasm === made).toBe(true);
});

const kernel = (await loadKernel())!;

describe('BLAKE3 of the kernel', () => {
  /** The input of BLAKE3's official test vectors. */
  const counting = (length: number) => Uint8Array.from({ length }, (_, i) => i % 251);

  it.each([
    [0, 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262'],
    [1, '2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213'],
    [1023, '10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11'],
    [1024, '42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7'],
    [1025, 'd00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444'],
    [2048, 'e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a'],
    [8193, 'bab6c09cb8ce8cf459261398d2e7aef35700bf488116ceb94a36d0f5f1b7bc3b'],
    [31744, '62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47'],
    [102400, 'bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085'],
  ])('of the official vector of %i bytes', (length, hex) => {
    expect(Buffer.from(kernel.blake3(counting(length))).toString('hex')).toBe(hex);
  });

  it('is that of the library, for all lengths around whole blocks, chunks, subtrees and groups of those', async () => {
    const bytes = noise(64 * 65_536 + 200_000, 3);
    const near = [64, 1_024, 4_096, 65_536, 131_072, 5 * 65_536, 63 * 65_536, 64 * 65_536, 65 * 65_536];
    for (const length of near.flatMap((size) => [size - 1, size, size + 1, size + 1_500])) {
      const part = bytes.subarray(0, length);
      expect(Buffer.compare(kernel.blake3(part), blake3(part)), `${length} bytes`).toBe(0);
      expect(Buffer.compare(await kernel.blake3InTurns(part), blake3(part)), `${length} bytes`).toBe(0);
    }
  });

  it('is that of the library, whatever the bytes and wherever they lie', () => {
    const bytes = noise(300_000, 4);
    fc.assert(
      fc.property(fc.nat(150_000), fc.nat(150_000), (from, length) => {
        const part = bytes.subarray(from, from + length);
        expect(Buffer.compare(kernel.blake3(part), blake3(part))).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});

describe('the cipher of the kernel', () => {
  const none = new Uint8Array(52);
  const secret = fc.record({
    pad: fc.uint8Array({ minLength: 52, maxLength: 52 }),
    key: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    nonce: fc.uint8Array({ minLength: 12, maxLength: 12 }),
  }) as fc.Arbitrary<Record<'pad' | 'key' | 'nonce', Uint8Array<ArrayBuffer>>>;

  it('encrypts and decrypts as libsodium does, and XORs the pad', async () => {
    const sodium = await loadSodium();
    const lengths = fc.oneof(fc.nat(600), fc.nat(70_000));
    await fc.assert(
      fc.asyncProperty(secret, lengths, fc.nat(7), async (keys, length, offset) => {
        const plain = noise(length + offset, 5).subarray(offset) as Uint8Array<ArrayBuffer>;
        const sealed = xorPad(sodium.encrypt(keys.key, keys.nonce, plain), keys.pad);
        expect(Buffer.compare(await kernel.encrypt(keys, plain), sealed)).toBe(0);
        expect(Buffer.compare((await kernel.decrypt(keys, sealed))!, plain)).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  it('takes all lengths around whole pieces, and the largest chunk', async () => {
    const keys = { pad: noise(52, 1), key: noise(32, 2), nonce: noise(12, 3) };
    const sodium = await loadSodium();
    const near = [pieceBytes, 2 * pieceBytes].flatMap((size) =>
      [-17, -16, -1, 0, 1, 15, 16, 300].map((by) => size + by),
    );
    for (const length of [0, 1, ...near, limits.chunkBytes - 16]) {
      const plain = noise(length, 6);
      const sealed = kernel.encrypt(keys, plain);
      const expected = xorPad(sodium.encrypt(keys.key, keys.nonce, plain), keys.pad);
      expect(Buffer.compare(sealed, expected), `${length} bytes`).toBe(0);
      expect(Buffer.compare((await kernel.decrypt(keys, sealed))!, plain), `${length} bytes`).toBe(0);
    }
  });

  it('opens several at the same time, each in its own buffer or in another', async () => {
    const many = [1, 2, 3, 4].map((seed) => ({
      keys: { pad: noise(52, seed), key: noise(32, seed), nonce: noise(12, seed) },
      plain: noise(4 * pieceBytes + 1000 * seed, seed),
    }));
    const sealed = many.map(({ keys, plain }) => kernel.encrypt(keys, plain));
    const opened = await Promise.all(
      many.map(({ keys }, i) => kernel.decrypt(keys, sealed[i]!, i % 2 === 0 ? sealed[i] : undefined)),
    );
    for (const [i, { plain }] of many.entries()) expect(Buffer.compare(opened[i]!, plain)).toBe(0);
    expect(opened.map((each, i) => each!.buffer === sealed[i]!.buffer)).toEqual([true, false, true, false]);
  });

  it('carries as far as a sum can, with a key and a text of all ones', async () => {
    const sodium = await loadSodium();
    for (const byte of [0xff, 0x00, 0x80]) {
      const keys = { pad: none, key: new Uint8Array(32).fill(byte), nonce: new Uint8Array(12).fill(byte) };
      // The ciphertext, which is what is summed up, is all ones then.
      const stream = sodium.encrypt(keys.key, keys.nonce, new Uint8Array(5_000)).subarray(0, 5_000);
      for (const text of [stream.map((each) => each ^ 0xff), stream, new Uint8Array(5_000).fill(0xff)]) {
        const plain = new Uint8Array(text);
        expect(
          Buffer.compare(await kernel.encrypt(keys, plain), sodium.encrypt(keys.key, keys.nonce, plain)),
        ).toBe(0);
      }
    }
  });

  it('separates chunks that are decrypted, encrypted and hashed at the same time', async () => {
    const texts = [noise(600_000, 1), noise(100, 2), noise(1_000_000, 3)];
    const keys = texts.map((_, i) => ({ pad: noise(52, i), key: noise(32, i), nonce: noise(12, i) }));
    const sealed = await Promise.all(texts.map((text, i) => kernel.encrypt(keys[i]!, text)));
    const opening = sealed.map((each, i) => kernel.decrypt(keys[i]!, each));
    const again = texts.map((text, i) => kernel.encrypt(keys[i]!, text));
    for (const text of texts) expect(Buffer.compare(kernel.blake3(text), blake3(text))).toBe(0);
    const same = (some: readonly (Uint8Array | undefined)[], others: readonly Uint8Array[]) =>
      some.every((each, i) => Buffer.compare(each!, others[i]!) === 0);
    expect(same(await Promise.all(opening), texts)).toBe(true);
    expect(same(await Promise.all(again), sealed)).toBe(true);
  });

  it('refuses to decrypt changed or truncated bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        secret,
        fc.nat(3_000),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (keys, length, at, flip) => {
          const sealed = await kernel.encrypt(keys, noise(length, 8));
          const changed = sealed.slice();
          changed[at % changed.length]! ^= flip;
          expect(await kernel.decrypt(keys, changed)).toBeUndefined();
          expect(await kernel.decrypt(keys, sealed.subarray(0, at % sealed.length))).toBeUndefined();
          expect(await kernel.decrypt(keys, sealed)).toBeDefined();
        },
      ),
    );
  });
});
