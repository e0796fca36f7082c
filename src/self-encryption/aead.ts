import { AntwayError } from '../errors.ts';
import { type Kernel, loadKernel } from './kernel.ts';
import type { ChunkKeys } from './keys.ts';
import { loadSodium } from './sodium.ts';
import { xorPad } from './xor.ts';

/** ChaCha20-Poly1305 (RFC 8439), tag last, no associated data. The pad is XORed over ciphertext and tag. */
export interface Aead {
  readonly name: 'kernel' | 'native' | 'sodium';
  /** @returns (ciphertext ‖ 16-byte tag) XOR pad. */
  encrypt(keys: ChunkKeys, plaintext: Bytes): Promise<Bytes>;
  /** @param target may be `encrypted` itself. @throws AntwayError `CORRUPT` if the tag does not match. */
  decrypt(keys: ChunkKeys, encrypted: Uint8Array, target?: Bytes): Promise<Bytes>;
}

type Bytes = Uint8Array<ArrayBuffer>;

export type AeadName = Aead['name'];

export type SodiumWasm = () => Promise<BufferSource | Response>;

/**
 * Loads the AEAD back end. `kernel` is our own WebAssembly, with SIMD. WebCrypto's `ChaCha20-Poly1305` (`native`) runs
 * off the calling thread, but copies its input and output on that thread, which takes longer than decrypting. Browsers
 * without SIMD get `native`. Browsers that lack both get `sodium`, libsodium compiled to WebAssembly.
 * @param name use this back end instead of detecting one.
 * @param sodiumWasm called only if libsodium is used. Without it, the package's own copy is used.
 * @throws AntwayError `UNSUPPORTED` if the named back end is not available.
 */
export async function loadAead(name?: AeadName, sodiumWasm?: SodiumWasm): Promise<Aead> {
  const unsupported = (what: string) => new AntwayError('UNSUPPORTED', `This platform has no ${what}.`);
  if (name === undefined || name === 'kernel') {
    const kernel = await loadKernel();
    if (kernel) return kernelAead(kernel);
    if (name) throw unsupported('SIMD in WebAssembly');
  }
  if (name === undefined || name === 'native') {
    if (await hasNative()) return nativeAead();
    if (name) throw unsupported('ChaCha20-Poly1305 in WebCrypto');
  }
  return sodiumAead(sodiumWasm);
}

function kernelAead(kernel: Kernel): Aead {
  return {
    name: 'kernel',
    encrypt: async (keys, plaintext) => kernel.encrypt(keys, plaintext),
    async decrypt(keys, encrypted, target) {
      const plaintext = await kernel.decrypt(keys, encrypted, target);
      if (!plaintext) throw cannotDecrypt();
      return plaintext;
    },
  };
}

const algorithm = 'ChaCha20-Poly1305';
// From the WICG draft "Modern Algorithms in WebCrypto". TypeScript's library does not list the key format yet.
const keyFormat = 'raw-secret' as 'raw';

function nativeAead(): Aead {
  const scratch = new Scratch();
  return {
    name: 'native',
    async encrypt({ pad, key, nonce }, plaintext) {
      const secret = await crypto.subtle.importKey(keyFormat, key, algorithm, false, ['encrypt']);
      const encrypted = new Uint8Array(
        await crypto.subtle.encrypt({ name: algorithm, iv: nonce }, secret, plaintext),
      );
      return xorPad(encrypted, pad, encrypted);
    },
    async decrypt({ pad, key, nonce }, encrypted) {
      const secret = await crypto.subtle.importKey(keyFormat, key, algorithm, false, ['decrypt']);
      try {
        const bytes = xorPad(encrypted, pad, scratch.take(encrypted.length));
        // WebCrypto must copy its input before it returns, so the scratch buffer can be reused.
        return new Uint8Array(await crypto.subtle.decrypt({ name: algorithm, iv: nonce }, secret, bytes));
      } catch (cause) {
        throw cannotDecrypt(cause);
      }
    },
  };
}

/**
 * Tries a byte, because a browser may list the algorithm but fail to run it. The two concurrent decryptions share the
 * scratch buffer, so a browser that does not copy its input at once fails too.
 */
async function hasNative(): Promise<boolean> {
  const keys = { pad: new Uint8Array(52), key: new Uint8Array(32), nonce: new Uint8Array(12) };
  try {
    const native = nativeAead();
    const encrypted = await native.encrypt(keys, new Uint8Array([42]));
    const other = await native.encrypt(keys, new Uint8Array([43]));
    const decrypted = await Promise.all([native.decrypt(keys, encrypted), native.decrypt(keys, other)]);
    return decrypted[0][0] === 42 && decrypted[1][0] === 43;
  } catch {
    return false;
  }
}

async function sodiumAead(wasm: SodiumWasm | undefined): Promise<Aead> {
  const sodium = await loadSodium(wasm);
  const scratch = new Scratch();
  return {
    name: 'sodium',
    async encrypt({ pad, key, nonce }, plaintext) {
      const encrypted = sodium.encrypt(key, nonce, plaintext);
      return xorPad(encrypted, pad, encrypted);
    },
    async decrypt({ pad, key, nonce }, encrypted) {
      const plaintext = sodium.decrypt(key, nonce, xorPad(encrypted, pad, scratch.take(encrypted.length)));
      if (!plaintext) throw cannotDecrypt();
      return plaintext;
    },
  };
}

/** For input that is consumed synchronously. Reused because new memory is expensive. */
class Scratch {
  #buffer = new Uint8Array();

  take(size: number): Bytes {
    if (this.#buffer.length < size) this.#buffer = new Uint8Array(size);
    return this.#buffer;
  }
}

function cannotDecrypt(cause?: unknown): AntwayError {
  return new AntwayError('CORRUPT', 'A chunk cannot be decrypted with its data map.', {}, { cause });
}
