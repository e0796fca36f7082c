import { equalBytes } from '../address.ts';
import { limits } from '../limits.ts';
import { layout } from './kernel-layout.ts';
import { kernelWasm } from './kernel-wasm.ts';
import type { ChunkKeys } from './keys.ts';
import { nextTurn } from './turn.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** What `build/kernel/` makes. All numbers are unsigned. */
interface Exports {
  memory: WebAssembly.Memory;
  hash4(
    input: number,
    stride: number,
    blocks: number,
    lastBytes: number,
    flags: number,
    firstFlag: number,
    lastFlag: number,
    counter: number,
    step: number,
    output: number,
  ): void;
  chacha20(data: number, end: number, secret: number, counter: number): void;
  poly1305(data: number, end: number, state: number): void;
  xor(data: number, end: number, pads: number): void;
}

// BLAKE3's.
const hashBytes = 32;
const blockBytes = 64;
const hashedChunkBytes = 1024;
const flags = { chunkStart: 1, chunkEnd: 2, parent: 4, root: 8 } as const;
/** What is hashed at a time. A power of two of chunks, so that a piece is a subtree. */
const pieceChunks = 64;
const pieceBytes = pieceChunks * hashedChunkBytes;

// Poly1305's.
const tagBytes = 16;
const prime = 2n ** 130n - 5n;
const clamp = 0x0ffffffc0ffffffc0ffffffc0fffffffn;
const limbBits = 26n;

let loading: Promise<Kernel | undefined> | undefined;

/** @returns undefined where WebAssembly has no SIMD. */
export function loadKernel(): Promise<Kernel | undefined> {
  const bytes = () => Uint8Array.from(atob(kernelWasm), (character) => character.charCodeAt(0));
  loading ??= WebAssembly.instantiate(bytes()).then(
    ({ instance }) => new Kernel(instance.exports as unknown as Exports),
    () => undefined,
  );
  return loading;
}

/** Chunks of more bytes are opened in several tasks, between which a worker can hand out what it has. */
const severalTasksBytes = 256 * 1024;

/** BLAKE3 and ChaCha20-Poly1305 by WebAssembly with SIMD, in memory of its own. */
export class Kernel {
  readonly #wasm: Exports;
  readonly #memory: Bytes;
  /** Done when `layout.chunk` is free. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(wasm: Exports) {
    this.#wasm = wasm;
    this.#memory = new Uint8Array(wasm.memory.buffer as ArrayBuffer);
  }

  /** BLAKE3-256 of less than 4 TiB. */
  blake3(bytes: Uint8Array): Bytes {
    if (bytes.length <= hashedChunkBytes) {
      this.#hashPartial(bytes, 0, flags.root, layout.values);
      return this.#memory.slice(layout.values, layout.values + hashBytes);
    }
    // The values of pieces, then of 64 of them each, until there is one.
    let values = new Uint8Array(hashBytes * Math.ceil(bytes.length / pieceBytes));
    for (let i = 0; hashBytes * i < values.length; i++) {
      const count = this.#hashPiece(bytes.subarray(i * pieceBytes, (i + 1) * pieceBytes), i * pieceChunks);
      values.set(this.#merge(count, values.length === hashBytes), hashBytes * i);
    }
    const groupBytes = hashBytes * pieceChunks;
    while (values.length > hashBytes) {
      const merged = new Uint8Array(hashBytes * Math.ceil(values.length / groupBytes));
      for (let i = 0; hashBytes * i < merged.length; i++) {
        const group = values.subarray(i * groupBytes, (i + 1) * groupBytes);
        this.#memory.set(group, layout.values);
        merged.set(this.#merge(group.length / hashBytes, merged.length === hashBytes), hashBytes * i);
      }
      values = merged;
    }
    return values;
  }

  /**
   * Takes the pad off, and the cipher (RFC 8439), from a chunk of at most `limits.chunkBytes`; one after the other.
   * @returns undefined when the tag does not fit.
   */
  open({ pad, key, nonce }: ChunkKeys, sealed: Uint8Array): Promise<Bytes | undefined> {
    const size = sealed.length - tagBytes;
    if (size < 0 || sealed.length > limits.chunkBytes) return Promise.resolve(undefined);
    const pause = () => (size > severalTasksBytes ? nextTurn() : undefined);
    return this.#alone(async () => {
      this.#memory.set(sealed, layout.chunk);
      this.#xor(pad, sealed.length);
      const tag = this.#memory.slice(layout.chunk + size, layout.chunk + size + tagBytes);
      if (!equalBytes(this.#authenticate(key, nonce, size), tag)) return undefined;
      await pause();
      this.#cipher(size, 1);
      await pause();
      const plaintext = this.#memory.slice(layout.chunk, layout.chunk + size);
      await pause();
      return plaintext;
    });
  }

  /** What `open` opens. */
  seal({ pad, key, nonce }: ChunkKeys, plaintext: Uint8Array): Promise<Bytes> {
    const { length } = plaintext;
    const end = layout.chunk + length;
    if (length + tagBytes > limits.chunkBytes) throw new RangeError(`${length} bytes are more than a chunk.`);
    return this.#alone(async () => {
      this.#memory.set(plaintext, layout.chunk);
      this.#setSecret(key, nonce);
      this.#cipher(length, 1);
      this.#memory.set(this.#authenticate(key, nonce, length), end);
      this.#xor(pad, length + tagBytes);
      return this.#memory.slice(layout.chunk, end + tagBytes);
    });
  }

  /** Does something with `layout.chunk` when nobody else does. Hashing goes on meanwhile: it uses other memory. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** Leaves the chaining values of a piece's chunks in `layout.values`. @returns how many they are. */
  #hashPiece(bytes: Uint8Array, counter: number): number {
    this.#memory.set(bytes, layout.piece);
    const whole = Math.floor(bytes.length / hashedChunkBytes);
    const { chunkStart, chunkEnd } = flags;
    // Four at a time; the values of those past the end are overwritten.
    for (let i = 0; i < whole; i += 4) {
      this.#wasm.hash4(
        layout.piece + hashedChunkBytes * i,
        hashedChunkBytes,
        hashedChunkBytes / blockBytes,
        blockBytes,
        0,
        chunkStart,
        chunkEnd,
        counter + i,
        1,
        layout.values + hashBytes * i,
      );
    }
    const rest = bytes.subarray(whole * hashedChunkBytes);
    if (rest.length === 0) return whole;
    this.#hashPartial(rest, counter + whole, 0, layout.values + hashBytes * whole);
    return whole + 1;
  }

  /** One BLAKE3 chunk that need not be whole. */
  #hashPartial(bytes: Uint8Array, counter: number, rootFlag: number, output: number): void {
    this.#memory.fill(0, layout.partial, layout.partial + hashedChunkBytes).set(bytes, layout.partial);
    const blocks = Math.max(Math.ceil(bytes.length / blockBytes), 1);
    const lastBytes = bytes.length - blockBytes * (blocks - 1);
    const { chunkStart, chunkEnd } = flags;
    this.#wasm.hash4(
      layout.partial,
      0,
      blocks,
      lastBytes,
      0,
      chunkStart,
      chunkEnd | rootFlag,
      counter,
      0,
      output,
    );
  }

  /** Merges the values in `layout.values`, two by two, into one. @param isRoot whether that is the hash. */
  #merge(values: number, isRoot: boolean): Bytes {
    for (let count = values; count > 1; count = Math.ceil(count / 2)) {
      const lastFlag = isRoot && count === 2 ? flags.root : 0;
      const pairs = count >> 1;
      // What has no partner is merged with what comes of the others.
      const odd = this.#memory.slice(layout.values + 64 * pairs, layout.values + 64 * pairs + hashBytes);
      for (let i = 0; i < pairs; i += 4) {
        const input = layout.values + blockBytes * i;
        const output = layout.values + hashBytes * i;
        this.#wasm.hash4(input, blockBytes, 1, blockBytes, flags.parent, 0, lastFlag, 0, 0, output);
      }
      if (count % 2 === 1) this.#memory.set(odd, layout.values + hashBytes * pairs);
    }
    return this.#memory.slice(layout.values, layout.values + hashBytes);
  }

  #xor(pad: Uint8Array, length: number): void {
    for (let i = 0; i < 4; i++) this.#memory.set(pad, layout.pads + pad.length * i);
    this.#wasm.xor(layout.chunk, layout.chunk + length, layout.pads);
  }

  #setSecret(key: Uint8Array, nonce: Uint8Array): void {
    this.#memory.set(key, layout.secret);
    this.#memory.set(nonce, layout.secret + key.length);
  }

  /** The key stream over the chunk's bytes, or, for the authenticator's key, over zeros. */
  #cipher(length: number, counter: number, at: number = layout.chunk): void {
    if (length > 0) this.#wasm.chacha20(at, at + length, layout.secret, counter);
  }

  /** Poly1305 over the ciphertext in `layout.chunk`; what is behind it is overwritten. @returns its tag. */
  #authenticate(key: Uint8Array, nonce: Uint8Array, length: number): Bytes {
    this.#setSecret(key, nonce);
    this.#memory.fill(0, layout.piece, layout.piece + 256);
    this.#cipher(hashBytes, 0, layout.piece);
    const view = new DataView(this.#memory.buffer);
    const factor = number128(view, layout.piece) & clamp;
    const offset = number128(view, layout.piece + 16);
    for (let i = 0; i < 5; i++) {
      view.setBigUint64(layout.authenticator + 8 * i, 0n, true);
      const limb = (factor >> (limbBits * BigInt(i))) & (2n ** limbBits - 1n);
      view.setBigUint64(layout.authenticator + 40 + 8 * i, limb, true);
    }
    // Zeros up to a whole block, then the lengths: of what is only authenticated, which is nothing, and of this.
    const end = layout.chunk + Math.ceil(length / 16) * 16;
    this.#memory.fill(0, layout.chunk + length, end + 16);
    view.setUint32(end + 8, length, true);
    this.#wasm.poly1305(layout.chunk, end + 16, layout.authenticator);
    let sum = 0n;
    for (let i = 4; i >= 0; i--) {
      sum = (sum << limbBits) + view.getBigUint64(layout.authenticator + 8 * i, true);
    }
    const tag = new DataView(new ArrayBuffer(tagBytes));
    const value = (sum % prime) + offset;
    tag.setBigUint64(0, BigInt.asUintN(64, value), true);
    tag.setBigUint64(8, BigInt.asUintN(64, value >> 64n), true);
    return new Uint8Array(tag.buffer);
  }
}

function number128(view: DataView, at: number): bigint {
  return view.getBigUint64(at, true) | (view.getBigUint64(at + 8, true) << 64n);
}
