import { AntwayError } from '../errors.ts';
import { loadSodium } from './sodium.ts';

/** ChaCha20-Poly1305 (RFC 8439), the tag behind the ciphertext, no associated data. */
export interface Aead {
  readonly name: 'native' | 'sodium';
  /** @returns ciphertext ‖ 16-byte tag. */
  seal(key: Bytes, nonce: Bytes, plaintext: Bytes): Promise<Bytes>;
  /**
   * Makes a key ready to open with. The function has read `sealed` when it returns its promise, so that one buffer can
   * serve many calls; it rejects with AntwayError `CORRUPT` when the tag does not fit.
   */
  opener(key: Bytes): Promise<(nonce: Bytes, sealed: Bytes) => Promise<Bytes>>;
}

type Bytes = Uint8Array<ArrayBuffer>;

export type AeadName = Aead['name'];

/** Gives libsodium's WebAssembly. */
export type SodiumWasm = () => Promise<BufferSource | Response>;

/**
 * The AEAD back end. `native` is WebCrypto's `ChaCha20-Poly1305`, which runs off the calling thread; browsers
 * and Node versions without it get `sodium` (libsodium compiled to WebAssembly).
 *
 * @param name take this one instead of detecting.
 * @param sodiumWasm called only when libsodium is taken; without it the package's own copy is used.
 * @throws AntwayError `UNSUPPORTED` when `native` is asked for and not there.
 */
export async function loadAead(name?: AeadName, sodiumWasm?: SodiumWasm): Promise<Aead> {
  if (name === 'sodium') return sodiumAead(sodiumWasm);
  if (await hasNative()) return native;
  if (name === 'native') {
    throw new AntwayError('UNSUPPORTED', 'This platform has no ChaCha20-Poly1305 in WebCrypto.');
  }
  return sodiumAead(sodiumWasm);
}

const algorithm = 'ChaCha20-Poly1305';
// 'raw-secret' and this algorithm come from the WICG draft "Modern Algorithms in WebCrypto"; TypeScript's
// library does not list the key format yet.
const keyFormat = 'raw-secret' as 'raw';

const native: Aead = {
  name: 'native',
  async seal(key, nonce, plaintext) {
    const secret = await crypto.subtle.importKey(keyFormat, key, algorithm, false, ['encrypt']);
    return new Uint8Array(await crypto.subtle.encrypt({ name: algorithm, iv: nonce }, secret, plaintext));
  },
  async opener(key) {
    const secret = await crypto.subtle.importKey(keyFormat, key, algorithm, false, ['decrypt']);
    return async (nonce, sealed) => {
      try {
        return new Uint8Array(await crypto.subtle.decrypt({ name: algorithm, iv: nonce }, secret, sealed));
      } catch (cause) {
        throw doesNotOpen(cause);
      }
    };
  },
};

/**
 * Seals and opens a byte: a browser that lists the algorithm but cannot run it is not trusted with it. Nor is one that
 * does not take a copy of its input at once, as WebCrypto has to.
 */
async function hasNative(): Promise<boolean> {
  const key = new Uint8Array(32);
  const nonce = new Uint8Array(12);
  try {
    const sealed = await native.seal(key, nonce, new Uint8Array([42]));
    const open = await native.opener(key);
    const opening = open(nonce, sealed);
    sealed.fill(0);
    return (await opening)[0] === 42;
  } catch {
    return false;
  }
}

async function sodiumAead(wasm: SodiumWasm | undefined): Promise<Aead> {
  const sodium = await loadSodium(wasm);
  return {
    name: 'sodium',
    seal: async (key, nonce, plaintext) => sodium.seal(key, nonce, plaintext),
    opener: async (key) => async (nonce, sealed) => {
      const plaintext = sodium.open(key, nonce, sealed);
      if (!plaintext) throw doesNotOpen();
      return plaintext;
    },
  };
}

function doesNotOpen(cause?: unknown): AntwayError {
  return new AntwayError('CORRUPT', 'A chunk does not open with the keys of its data map.', {}, { cause });
}
