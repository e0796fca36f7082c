// @module-tag slow
import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { createBLAKE3 } from 'hash-wasm';
import { describe, expect, it } from 'vitest';
import { compileKernel } from '../../build/compile-kernel.ts';
import { limits } from '../../src/limits.ts';
import { loadKernel } from '../../src/self-encryption/kernel.ts';
import { pieceBytes } from '../../src/self-encryption/kernel-layout.ts';
import { kernelWasm } from '../../src/self-encryption/kernel-wasm.ts';
import { loadSodium } from '../../src/self-encryption/sodium.ts';
import { xorPad } from '../../src/self-encryption/xor.ts';
import { noise } from './support/encrypted-file.ts';

it('the kernel’s WebAssembly matches its sources', async () => {
  const compiled = Buffer.from(await compileKernel()).toString('hex');
  if (process.env.UPDATE_KERNEL) {
    writeFileSync(
      new URL('../../src/self-encryption/kernel-wasm.ts', import.meta.url),
      `// Made by \`build/compile-kernel.ts\`. Compressed, hexadecimal is a fifth smaller than base64.\nexport const kernelWasm =\n  '${compiled}';\n`,
    );
  } else {
    expect(kernelWasm === compiled).toBe(true);
  }
});

const kernel = (await loadKernel())!;

const library = await createBLAKE3();
const blake3 = (bytes: Uint8Array) => library.init().update(bytes).digest('binary');

/** Views of random or uniform bytes at random offsets in larger buffers. */
const content = (maxLength: number) =>
  fc
    .record({
      length: fc.oneof(fc.nat(600), fc.nat(maxLength)),
      offset: fc.nat(70),
      seed: fc.integer({ min: 1 }),
      uniform: fc.option(fc.constantFrom(0x00, 0x80, 0xff), { freq: 4 }),
    })
    .map(({ length, offset, seed, uniform }) => {
      const buffer = noise(offset + length + 70, seed);
      if (uniform !== null) buffer.fill(uniform);
      return buffer.subarray(offset, offset + length);
    });

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

  it('is that of hash-wasm, for all lengths around whole blocks, chunks, subtrees and groups of those', async () => {
    const bytes = noise(64 * 65_536 + 200_000, 3);
    const near = [64, 1_024, 4_096, 65_536, 131_072, 5 * 65_536, 63 * 65_536, 64 * 65_536, 65 * 65_536];
    for (const length of near.flatMap((size) => [size - 1, size, size + 1, size + 1_500])) {
      const part = bytes.subarray(0, length);
      expect(Buffer.compare(kernel.blake3(part), blake3(part)), `${length} bytes`).toBe(0);
      expect(Buffer.compare(await kernel.blake3InTurns(part), blake3(part)), `${length} bytes`).toBe(0);
    }
  });

  it('is that of hash-wasm, for random contents, lengths and offsets', () => {
    fc.assert(
      fc.property(content(150_000), (bytes) => {
        expect(Buffer.compare(kernel.blake3(bytes), blake3(bytes))).toBe(0);
      }),
      { numRuns: 200 },
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

  it('encrypts as libsodium does, for random keys, contents, lengths and offsets', async () => {
    const sodium = await loadSodium();
    fc.assert(
      fc.property(secret, content(200_000), (keys, plain) => {
        const expected = xorPad(sodium.encrypt(keys.key, keys.nonce, plain), keys.pad);
        expect(Buffer.compare(kernel.encrypt(keys, plain), expected)).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  it('decrypts what libsodium encrypted, into a new buffer, another one or the same, and writes nothing else', async () => {
    const sodium = await loadSodium();
    await fc.assert(
      fc.asyncProperty(
        secret,
        content(200_000),
        fc.constantFrom('new', 'other', 'same'),
        fc.nat(70),
        async (keys, plain, target, offset) => {
          const encrypted = xorPad(sodium.encrypt(keys.key, keys.nonce, plain), keys.pad);
          const input = noise(encrypted.length + 140, 9);
          input.set(encrypted, offset);
          const output = target === 'other' ? noise(input.length, 10) : input;
          const expectedOutput = output.slice();
          if (target !== 'new') expectedOutput.set(plain, offset);
          const part = (buffer: typeof input) => buffer.subarray(offset, offset + encrypted.length);
          const decrypted = await kernel.decrypt(
            keys,
            part(input),
            target === 'new' ? undefined : part(output),
          );
          expect(Buffer.compare(decrypted!, plain)).toBe(0);
          expect(decrypted!.buffer === output.buffer).toBe(target !== 'new');
          expect(Buffer.compare(output, expectedOutput)).toBe(0);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('rejects a changed tag, a changed ciphertext and another length, as libsodium does', async () => {
    const sodium = await loadSodium();
    await fc.assert(
      fc.asyncProperty(
        secret,
        content(140_000),
        fc.constantFrom('nothing', 'tag', 'ciphertext', 'cut', 'longer'),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (keys, plain, change, at, flip) => {
          const whole = kernel.encrypt(keys, plain);
          let changed = whole.slice();
          if (change === 'tag') changed[plain.length + (at % 16)]! ^= flip;
          else if (change === 'ciphertext') changed[at % whole.length]! ^= flip;
          else if (change === 'cut') changed = changed.slice(0, at % whole.length);
          else if (change === 'longer') changed = new Uint8Array([...changed, ...noise(flip)]);
          const byLibsodium = sodium.decrypt(keys.key, keys.nonce, xorPad(changed, keys.pad));
          expect(byLibsodium !== undefined).toBe(change === 'nothing');
          expect((await kernel.decrypt(keys, changed)) !== undefined).toBe(change === 'nothing');
        },
      ),
      { numRuns: 200 },
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
      const encrypted = kernel.encrypt(keys, plain);
      const expected = xorPad(sodium.encrypt(keys.key, keys.nonce, plain), keys.pad);
      expect(Buffer.compare(encrypted, expected), `${length} bytes`).toBe(0);
      expect(Buffer.compare((await kernel.decrypt(keys, encrypted))!, plain), `${length} bytes`).toBe(0);
    }
  });

  it('decrypts several at the same time, each in its own buffer or in another', async () => {
    const many = [1, 2, 3, 4].map((seed) => ({
      keys: { pad: noise(52, seed), key: noise(32, seed), nonce: noise(12, seed) },
      plain: noise(4 * pieceBytes + 1000 * seed, seed),
    }));
    const encrypted = many.map(({ keys, plain }) => kernel.encrypt(keys, plain));
    const decrypted = await Promise.all(
      many.map(({ keys }, i) => kernel.decrypt(keys, encrypted[i]!, i % 2 === 0 ? encrypted[i] : undefined)),
    );
    for (const [i, { plain }] of many.entries()) expect(Buffer.compare(decrypted[i]!, plain)).toBe(0);
    expect(decrypted.map((each, i) => each!.buffer === encrypted[i]!.buffer)).toEqual([
      true,
      false,
      true,
      false,
    ]);
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
    const encrypted = await Promise.all(texts.map((text, i) => kernel.encrypt(keys[i]!, text)));
    const decrypting = encrypted.map((each, i) => kernel.decrypt(keys[i]!, each));
    const again = texts.map((text, i) => kernel.encrypt(keys[i]!, text));
    for (const text of texts) expect(Buffer.compare(kernel.blake3(text), blake3(text))).toBe(0);
    const same = (some: readonly (Uint8Array | undefined)[], others: readonly Uint8Array[]) =>
      some.every((each, i) => Buffer.compare(each!, others[i]!) === 0);
    expect(same(await Promise.all(decrypting), texts)).toBe(true);
    expect(same(await Promise.all(again), encrypted)).toBe(true);
  });
});
