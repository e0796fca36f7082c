import { AntwayError } from '../errors.ts';
import { type Aead, type AeadName, loadAead, type SodiumWasm } from './aead.ts';
import { type Blake3, hashInTurns, loadBlake3 } from './blake3.ts';
import { type BrotliDecoder, type BrotliEncoder, loadBrotliDecoder } from './brotli.ts';
import type { DataMap } from './data-map.ts';
import { type ChunkKeys, keysOf } from './keys.ts';
import { takeStored } from './stored.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** How a service worker, a page or Node loads the WebAssembly. */
export interface CodecPlatform {
  /** `brotli-dec-wasm/web/bg.wasm`. Called on first use, and again only if it failed. */
  brotliDecoderWasm(): Promise<BufferSource | Response>;
  /** Package `brotli-wasm`. Only publishing needs it. */
  brotliEncoder?(): Promise<BrotliEncoder>;
  /** Called only if WebAssembly has no SIMD and WebCrypto has no ChaCha20-Poly1305. Default: the package's own copy. */
  sodiumWasm?: SodiumWasm;
  aead?: AeadName;
}

/** How long after a failure the decoder is not loaded ahead, in milliseconds. */
const prepareAgainMs = 10_000;

/** Crate `self_encryption` 0.36: Brotli → ChaCha20-Poly1305 → XOR pad, and back. No I/O but loading WebAssembly. */
export class Codec {
  readonly #platform: CodecPlatform;
  #aead: Promise<Aead> | undefined;
  #decoder: Promise<BrotliDecoder> | undefined;
  #encoder: Promise<BrotliEncoder> | undefined;
  /** As `performance.now()`. */
  #unpreparedUntil = 0;

  constructor(platform: CodecPlatform) {
    this.#platform = platform;
  }

  aead(): Promise<Aead> {
    this.#aead ??= forgetRejected(loadAead(this.#platform.aead, this.#platform.sodiumWasm), () => {
      this.#aead = undefined;
    });
    return this.#aead;
  }

  blake3(): Promise<Blake3> {
    return loadBlake3();
  }

  /**
   * Loads the decoder, which the next chunks will probably need. They can arrive meanwhile. Does nothing soon after a
   * failure. Never rejects.
   */
  async prepare(): Promise<void> {
    if (performance.now() < this.#unpreparedUntil) return;
    await this.#brotliDecoder().catch(() => {
      this.#unpreparedUntil = performance.now() + prepareAgainMs;
    });
  }

  /** BLAKE3-256. Yields to other tasks of the thread in between. */
  hash(bytes: Uint8Array): Promise<Uint8Array> {
    return hashInTurns(bytes);
  }

  /**
   * @param encrypted must be verified against its address: the plaintext is not hashed.
   * @param target buffer for the plaintext; may be `encrypted` itself. Allocating memory costs more than decrypting.
   * @returns exactly `map.sizes[index]` bytes.
   * @throws AntwayError `CORRUPT` if the tag, the compressed data or the size does not match.
   */
  async decrypt(map: DataMap, index: number, encrypted: Uint8Array, target?: Bytes): Promise<Bytes> {
    const size = map.sizes[index]!;
    const aead = await this.aead();
    const compressed = await aead.decrypt(keysOf(map, index), encrypted, target);
    // Most chunks are parts of already compressed files, and need no decoder or its WebAssembly.
    const plaintext = takeStored(compressed, size) ?? (await this.#brotliDecoder())(compressed, size);
    if (plaintext.length !== size) {
      throw new AntwayError('CORRUPT', 'A chunk decrypted to another size than its data map says.', {
        address: map.address(index).hex,
      });
    }
    return plaintext;
  }

  /** @returns the bytes whose BLAKE3 is the chunk's address. */
  async encrypt(plaintext: Uint8Array, keys: ChunkKeys): Promise<Uint8Array<ArrayBuffer>> {
    const [aead, encode] = await Promise.all([this.aead(), this.#brotliEncoder()]);
    return aead.encrypt(keys, encode(plaintext) as Uint8Array<ArrayBuffer>);
  }

  #brotliDecoder(): Promise<BrotliDecoder> {
    this.#decoder ??= forgetRejected(
      this.#platform.brotliDecoderWasm().then((wasm) => loadBrotliDecoder(wasm)),
      () => {
        this.#decoder = undefined;
      },
    );
    return this.#decoder;
  }

  #brotliEncoder(): Promise<BrotliEncoder> {
    if (!this.#platform.brotliEncoder) {
      throw new AntwayError('UNSUPPORTED', 'This part of Antway reads only: it has no Brotli encoder.');
    }
    this.#encoder ??= forgetRejected(this.#platform.brotliEncoder(), () => {
      this.#encoder = undefined;
    });
    return this.#encoder;
  }
}

/** Forgets a failed load (for example a network error), so that the next call tries again. */
function forgetRejected<T>(loading: Promise<T>, forget: () => void): Promise<T> {
  loading.catch(forget);
  return loading;
}
