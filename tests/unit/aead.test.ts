// @module-tag isolated
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sodiumWasm } from '../../build/libsodium-wasm.ts';
import { loadAead } from '../../src/self-encryption/aead.ts';
import { randomBytes } from '../support/random.ts';

const bytesOf = (size: number) => new Uint8Array(randomBytes(size));
const keysOf = () => ({ pad: bytesOf(52), key: bytesOf(32), nonce: bytesOf(12) });
const corrupt = expect.objectContaining({ code: 'CORRUPT' });
const cipher = 'chacha20-poly1305';
const tagBytes = 16;

interface Secret {
  key: Uint8Array;
  usages: string[];
}

/** WebCrypto with the cipher that Node 20 lacks. @param readsLate whether it reads its input after it has returned. */
function webCrypto({ readsLate = false } = {}) {
  return {
    getRandomValues: (array: Uint32Array) => array,
    subtle: {
      async importKey(format: string, key: Uint8Array, name: string, _: boolean, usages: string[]) {
        expect([format, name]).toEqual(['raw-secret', 'ChaCha20-Poly1305']);
        return { key, usages };
      },
      async encrypt({ name, iv }: { name: string; iv: Uint8Array }, secret: Secret, plaintext: Uint8Array) {
        expect([name, ...secret.usages]).toEqual(['ChaCha20-Poly1305', 'encrypt']);
        const encrypting = createCipheriv(cipher, secret.key, iv, { authTagLength: tagBytes });
        const parts = [encrypting.update(plaintext), encrypting.final(), encrypting.getAuthTag()];
        return new Uint8Array(Buffer.concat(parts)).buffer;
      },
      async decrypt({ name, iv }: { name: string; iv: Uint8Array }, secret: Secret, encrypted: Uint8Array) {
        if (readsLate) await new Promise((resolve) => setImmediate(resolve));
        expect([name, ...secret.usages]).toEqual(['ChaCha20-Poly1305', 'decrypt']);
        const decrypting = createDecipheriv(cipher, secret.key, iv, { authTagLength: tagBytes });
        decrypting.setAuthTag(encrypted.subarray(-tagBytes));
        const plaintext = decrypting.update(encrypted.subarray(0, -tagBytes));
        return new Uint8Array(Buffer.concat([plaintext, decrypting.final()])).buffer;
      },
    },
  };
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('the cipher of WebCrypto', () => {
  beforeEach(() => {
    vi.stubGlobal('crypto', webCrypto());
  });

  it('encrypts and decrypts as libsodium does', async () => {
    const [native, sodium] = await Promise.all([loadAead('native'), loadAead('sodium')]);
    expect([native.name, sodium.name]).toEqual(['native', 'sodium']);
    for (const size of [0, 1, 51, 52, 53, 1_000]) {
      const [keys, plaintext] = [keysOf(), bytesOf(size)];
      const encrypted = await native.encrypt(keys, plaintext);
      expect(encrypted).toEqual(await sodium.encrypt(keys, plaintext));
      expect(await native.decrypt(keys, encrypted)).toEqual(plaintext);
      expect(await sodium.decrypt(keys, encrypted)).toEqual(plaintext);
    }
  });

  it('does not change its input, and names the cause of a failure', async () => {
    const native = await loadAead('native');
    const keys = keysOf();
    const encrypted = await native.encrypt(keys, bytesOf(100));
    const before = encrypted.slice();
    await native.decrypt(keys, encrypted);
    expect(encrypted).toEqual(before);
    encrypted[0]! ^= 1;
    await expect(native.decrypt(keys, encrypted)).rejects.toMatchObject({
      code: 'CORRUPT',
      cause: expect.any(Error),
    });
  });

  it('decrypts a short chunk after a long one, and a long one after a short one', async () => {
    for (const name of ['native', 'sodium'] as const) {
      const aead = await loadAead(name);
      for (const size of [10, 300, 20, 300]) {
        const [keys, plaintext] = [keysOf(), bytesOf(size)];
        expect(await aead.decrypt(keys, await aead.encrypt(keys, plaintext))).toEqual(plaintext);
      }
    }
  });
});

describe('a back end that is named', () => {
  it.each(['kernel', 'sodium'] as const)('%s is used', async (name) => {
    const aead = await loadAead(name);
    expect(aead.name).toBe(name);
    const keys = keysOf();
    const encrypted = await aead.encrypt(keys, Uint8Array.of(1, 2, 3));
    expect(await aead.decrypt(keys, encrypted)).toEqual(Uint8Array.of(1, 2, 3));
    encrypted[3]! ^= 1;
    await expect(aead.decrypt(keys, encrypted)).rejects.toEqual(corrupt);
  });

  it.each<[string, () => object]>([
    [
      'lacks the cipher',
      () => ({ subtle: { importKey: async () => Promise.reject(new Error('unknown algorithm')) } }),
    ],
    ['reads its input late', () => webCrypto({ readsLate: true })],
    [
      'decrypts to other bytes',
      () => {
        const platform = webCrypto();
        platform.subtle.decrypt = async () => Uint8Array.of(42).buffer;
        return platform;
      },
    ],
  ])('native is UNSUPPORTED if WebCrypto %s', async (_, platform) => {
    vi.stubGlobal('crypto', platform());
    await expect(loadAead('native')).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });
});

describe('without SIMD in WebAssembly', () => {
  /** New modules, because the kernel is loaded once. */
  beforeEach(() => {
    vi.resetModules();
    const instantiate = WebAssembly.instantiate.bind(WebAssembly);
    let calls = 0;
    vi.spyOn(WebAssembly, 'instantiate').mockImplementation(((...args: Parameters<typeof instantiate>) =>
      ++calls === 1 ? Promise.reject(new WebAssembly.CompileError('SIMD')) : instantiate(...args)) as never);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('WebCrypto is used if it has the cipher, else libsodium', async () => {
    const { loadAead } = await import('../../src/self-encryption/aead.ts');
    await expect(loadAead('kernel')).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    vi.stubGlobal('crypto', webCrypto());
    expect((await loadAead()).name).toBe('native');
    vi.stubGlobal('crypto', webCrypto({ readsLate: true }));
    expect((await loadAead()).name).toBe('sodium');
  });

  it('BLAKE3 is computed in script', async () => {
    const { hashInTurns, loadBlake3 } = await import('../../src/self-encryption/blake3.ts');
    const empty = 'af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262';
    expect(Buffer.from((await loadBlake3())(new Uint8Array())).toString('hex')).toBe(empty);
    expect(Buffer.from(await hashInTurns(new Uint8Array())).toString('hex')).toBe(empty);
  });
});

it('without a name, the kernel is used if there is SIMD', async () => {
  expect((await loadAead()).name).toBe('kernel');
});

describe('libsodium from a separate file', () => {
  it.each<[string, (wasm: Uint8Array<ArrayBuffer>) => BufferSource | Response]>([
    ['bytes', (wasm) => wasm],
    [
      'a response of its type',
      (wasm) => new Response(wasm, { headers: { 'Content-Type': 'application/wasm' } }),
    ],
    [
      'a response of another type',
      (wasm) => new Response(wasm, { headers: { 'Content-Type': 'text/plain' } }),
    ],
  ])('works as %s', async (_, wrap) => {
    const file = wrap(new Uint8Array(await sodiumWasm()));
    let loads = 0;
    const own = await loadAead('sodium', async () => {
      loads++;
      return file;
    });
    expect(loads).toBe(1);
    const keys = keysOf();
    const encrypted = await own.encrypt(keys, Uint8Array.of(7));
    expect(encrypted).toEqual(await (await loadAead('sodium')).encrypt(keys, Uint8Array.of(7)));
    expect(await own.decrypt(keys, encrypted)).toEqual(Uint8Array.of(7));
  });

  it('fails instead of waiting for an instance that cannot be created', async () => {
    // A module that imports a function “y” of “x”.
    const module = Uint8Array.of(
      ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      ...[1, 4, 1, 0x60, 0, 0],
      ...[2, 7, 1, 1, 0x78, 1, 0x79, 0, 0],
    );
    await expect(loadAead('sodium', async () => module)).rejects.toThrow(/import/i);
  });

  it('is not loaded for another back end', async () => {
    const load = () => expect.fail('libsodium was loaded.');
    expect((await loadAead('kernel', load)).name).toBe('kernel');
  });
});
