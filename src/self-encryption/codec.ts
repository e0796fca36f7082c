import { AntwayError } from '../errors.ts';
import { type Aead, type AeadName, loadAead, type SodiumWasm } from './aead.ts';
import { type Blake3, hashInTurns, loadBlake3 } from './blake3.ts';
import { type BrotliDecoder, type BrotliEncoder, loadBrotliDecoder } from './brotli.ts';
import type { DataMap } from './data-map.ts';
import { type ChunkKeys, keysOf } from './keys.ts';
import { takeStored } from './stored.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** What differs between a service worker, a page and Node: where the WebAssembly comes from. */
export interface CodecPlatform {
  /** Gives the bytes of `brotli-dec-wasm/web/bg.wasm`. Called at most once, when first needed. */
  brotliDecoderWasm(): Promise<BufferSource | Response>;
  /** Gives the compressor of package `brotli-wasm`; only publishing needs it. */
  brotliEncoder?(): Promise<BrotliEncoder>;
  /**
   * Gives libsodium's WebAssembly, where the build keeps that apart. Called at most once, and only where WebAssembly has
   * no SIMD and WebCrypto lacks ChaCha20-Poly1305.
   */
  sodiumWasm?: SodiumWasm;
  /** Overrides the choice of the AEAD back end. */
  aead?: AeadName;
}

/**
 * Seals and opens single chunks (crate `self_encryption` 0.36): Brotli → ChaCha20-Poly1305 → XOR pad, and
 * back. No I/O beyond loading its own WebAssembly, which happens when it is first needed.
 */
export class Codec {
  readonly #platform: CodecPlatform;
  #aead: Promise<Aead> | undefined;
  #decoder: Promise<BrotliDecoder> | undefined;
  #encoder: Promise<BrotliEncoder> | undefined;

  constructor(platform: CodecPlatform) {
    this.#platform = platform;
  }

  /** The AEAD back end in use. */
  aead(): Promise<Aead> {
    this.#aead ??= forgetRejected(loadAead(this.#platform.aead, this.#platform.sodiumWasm), () => {
      this.#aead = undefined;
    });
    return this.#aead;
  }

  blake3(): Promise<Blake3> {
    return loadBlake3();
  }

  /** BLAKE3-256 of much at once: other tasks of the thread come between. */
  hash(bytes: Uint8Array): Promise<Uint8Array> {
    return hashInTurns(bytes);
  }

  /**
   * Opens chunk `index` of `map`.
   *
   * @param sealed checked against its address: the plaintext is a function of that and of the map, and is not hashed.
   * @param target where the plaintext may be put; `sealed` itself, for one. New memory costs more than what is done in it.
   * @returns exactly `map.sizes[index]` bytes.
   * @throws AntwayError `CORRUPT` when the tag, the compressed data or the size does not fit.
   */
  async decrypt(map: DataMap, index: number, sealed: Uint8Array, target?: Bytes): Promise<Bytes> {
    const size = map.sizes[index]!;
    const aead = await this.aead();
    const compressed = await aead.decrypt(keysOf(map, index), sealed, target);
    // Most chunks are parts of what was compressed before, and need no decoder, nor its WebAssembly.
    const plaintext = takeStored(compressed, size) ?? (await this.#brotliDecoder())(compressed, size);
    if (plaintext.length !== size) {
      throw new AntwayError('CORRUPT', 'A chunk opened to another size than its data map says.', {
        address: map.address(index).hex,
      });
    }
    return plaintext;
  }

  /** Seals one plaintext part. @returns the bytes whose BLAKE3 is the chunk's address. */
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

/** A failed load (a network hiccup while fetching wasm) must not be remembered for ever. */
function forgetRejected<T>(loading: Promise<T>, forget: () => void): Promise<T> {
  loading.catch(forget);
  return loading;
}
