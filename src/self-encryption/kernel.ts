import { equalBytes } from '../address.ts';
import { layout, pieceBytes } from './kernel-layout.ts';
import { kernelWasm } from './kernel-wasm.ts';
import type { ChunkKeys } from './keys.ts';
import { inTurns } from './turn.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** The exports of `build/kernel/`, with its documentation. All numbers are unsigned. */
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

const hashBytes = 32;
const blockBytes = 64;
const hashedChunkBytes = 1024;
const flags = { chunkStart: 1, chunkEnd: 2, parent: 4, root: 8 } as const;
/** Chunks that are hashed at a time: a power of two. */
const subtreeChunks = 64;
const subtreeBytes = subtreeChunks * hashedChunkBytes;

const tagBytes = 16;
const prime = 2n ** 130n - 5n;
const clamp = 0x0ffffffc0ffffffc0ffffffc0fffffffn;
const limbBits = 26n;

/** Hashing these bytes takes as long as decrypting a piece. */
const hashedInTurn = 2 * subtreeBytes;

let loading: Promise<Kernel | undefined> | undefined;

/** @returns undefined if WebAssembly has no SIMD. */
export function loadKernel(): Promise<Kernel | undefined> {
  const bytes = () => Uint8Array.from(kernelWasm.match(/../g)!, (hex) => Number.parseInt(hex, 16));
  loading ??= WebAssembly.instantiate(bytes()).then(
    ({ instance }) => new Kernel(instance.exports as unknown as Exports),
    () => undefined,
  );
  return loading;
}

/** BLAKE3 and ChaCha20-Poly1305 in WebAssembly with SIMD, with separate memory. */
export class Kernel {
  readonly #wasm: Exports;
  readonly #memory: Bytes;
  readonly #view: DataView;

  constructor(wasm: Exports) {
    this.#wasm = wasm;
    this.#memory = new Uint8Array(wasm.memory.buffer as ArrayBuffer);
    this.#view = new DataView(this.#memory.buffer);
  }

  /** BLAKE3-256 of less than 4 TiB. */
  blake3(bytes: Uint8Array): Bytes {
    if (bytes.length <= hashedChunkBytes) return this.#hashShort(bytes);
    const values = new Uint8Array(hashBytes * Math.ceil(bytes.length / subtreeBytes));
    for (let at = 0; at < bytes.length; at += subtreeBytes) this.#hashSubtree(bytes, at, values);
    return this.#mergeSubtrees(values);
  }

  /** Yields to other tasks of the thread in between. */
  blake3InTurns(bytes: Uint8Array): Promise<Bytes> {
    return inTurns(async (nextTurn) => {
      if (bytes.length <= hashedChunkBytes) return this.#hashShort(bytes);
      const values = new Uint8Array(hashBytes * Math.ceil(bytes.length / subtreeBytes));
      for (let at = 0; at < bytes.length; at += subtreeBytes) {
        if (at > 0 && at % hashedInTurn === 0) await nextTurn();
        this.#hashSubtree(bytes, at, values);
      }
      return this.#mergeSubtrees(values);
    });
  }

  /**
   * Removes the pad and decrypts (RFC 8439). Yields to other tasks of the thread in between.
   * @param target buffer for the plaintext; may be `encrypted` itself.
   * @returns undefined if the tag does not match. `target` has been overwritten even then.
   */
  decrypt(keys: ChunkKeys, encrypted: Uint8Array, target?: Bytes): Promise<Bytes | undefined> {
    return inTurns(async (nextTurn) => {
      const size = encrypted.length - tagBytes;
      if (size < 0) return undefined;
      const plaintext = target?.subarray(0, size) ?? new Uint8Array(size);
      const authenticator = this.#authenticator(keys);
      for (let at = 0; ; at += pieceBytes) {
        const isLast = size - at <= pieceBytes;
        const length = isLast ? size - at : pieceBytes;
        const end = layout.piece + length;
        this.#memory.set(encrypted.subarray(at, at + length + (isLast ? tagBytes : 0)), layout.piece);
        this.#xor(keys.pad, isLast ? length + tagBytes : length);
        const tag = this.#memory.slice(end, end + tagBytes);
        this.#authenticate(authenticator, length, isLast ? size : undefined);
        if (isLast && !equalBytes(tag, tagOf(authenticator))) return undefined;
        this.#cipher(keys, length, 1 + at / blockBytes);
        plaintext.set(this.#memory.subarray(layout.piece, end), at);
        if (isLast) return plaintext;
        await nextTurn();
      }
    });
  }

  encrypt(keys: ChunkKeys, plaintext: Uint8Array): Bytes {
    const size = plaintext.length;
    const encrypted = new Uint8Array(size + tagBytes);
    const authenticator = this.#authenticator(keys);
    for (let at = 0; ; at += pieceBytes) {
      const isLast = size - at <= pieceBytes;
      const length = isLast ? size - at : pieceBytes;
      const end = layout.piece + length;
      this.#memory.set(plaintext.subarray(at, at + length), layout.piece);
      this.#cipher(keys, length, 1 + at / blockBytes);
      this.#authenticate(authenticator, length, isLast ? size : undefined);
      if (isLast) this.#memory.set(tagOf(authenticator), end);
      this.#xor(keys.pad, isLast ? length + tagBytes : length);
      encrypted.set(this.#memory.subarray(layout.piece, isLast ? end + tagBytes : end), at);
      if (isLast) return encrypted;
    }
  }

  #hashShort(bytes: Uint8Array): Bytes {
    this.#hashPartial(bytes, 0, flags.root, layout.values);
    return this.#memory.slice(layout.values, layout.values + hashBytes);
  }

  /** Writes the chaining value of the subtree that begins at `at` to its place in `values`. */
  #hashSubtree(bytes: Uint8Array, at: number, values: Bytes): void {
    const count = this.#hashChunks(bytes.subarray(at, at + subtreeBytes), at / hashedChunkBytes);
    values.set(this.#merge(count, values.length === hashBytes), hashBytes * (at / subtreeBytes));
  }

  /** Merges the values of subtrees in groups of 64, repeatedly, until one value is left. */
  #mergeSubtrees(values: Bytes): Bytes {
    const groupBytes = hashBytes * subtreeChunks;
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

  /** Writes the chaining values of a subtree's chunks to `layout.values`. @returns their number. */
  #hashChunks(bytes: Uint8Array, counter: number): number {
    this.#memory.set(bytes, layout.piece);
    const whole = Math.floor(bytes.length / hashedChunkBytes);
    const { chunkStart, chunkEnd } = flags;
    // Four at a time. The values past the end are overwritten later.
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

  /** Hashes one BLAKE3 chunk, which may be incomplete. */
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

  /** Merges the values in `layout.values` pairwise into one. @param isRoot whether the result is the hash. */
  #merge(values: number, isRoot: boolean): Bytes {
    for (let count = values; count > 1; count = Math.ceil(count / 2)) {
      const lastFlag = isRoot && count === 2 ? flags.root : 0;
      const pairs = count >> 1;
      // A value without a partner moves up to the next level.
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

  /** XORs the pad over the first bytes in `layout.piece`. The piece must begin at a multiple of the pad. */
  #xor(pad: Uint8Array, length: number): void {
    for (let i = 0; i < 4; i++) this.#memory.set(pad, layout.pads + pad.length * i);
    this.#wasm.xor(layout.piece, layout.piece + length, layout.pads);
  }

  /** XORs the key stream over the first bytes in `layout.piece`, starting at block `block`. */
  #cipher({ key, nonce }: ChunkKeys, length: number, block: number): void {
    if (length === 0) return;
    this.#memory.set(key, layout.secret);
    this.#memory.set(nonce, layout.secret + key.length);
    this.#wasm.chacha20(layout.piece, layout.piece + length, layout.secret, block);
  }

  /** Creates the authenticator with the one-time key from the first block of the key stream. */
  #authenticator(keys: ChunkKeys): Authenticator {
    this.#memory.fill(0, layout.piece, layout.piece + 256);
    this.#cipher(keys, 2 * tagBytes, 0);
    const factor = number128(this.#view, layout.piece) & clamp;
    const state = new BigUint64Array(10);
    for (let i = 0; i < 5; i++) state[5 + i] = (factor >> (limbBits * BigInt(i))) & (2n ** limbBits - 1n);
    return { state: new Uint8Array(state.buffer), offset: number128(this.#view, layout.piece + tagBytes) };
  }

  /**
   * Runs Poly1305 over the ciphertext in `layout.piece`. For the last piece, the bytes after it are overwritten.
   * @param size length of the whole ciphertext, if this is its last piece.
   */
  #authenticate({ state }: Authenticator, length: number, size: number | undefined): void {
    let end = layout.piece + length;
    if (size !== undefined) {
      // Zeros up to a whole block, then the lengths of the associated data (none) and of the ciphertext.
      const lengths = layout.piece + Math.ceil(length / tagBytes) * tagBytes;
      this.#memory.fill(0, end, lengths + tagBytes);
      this.#view.setUint32(lengths + 8, size, true);
      end = lengths + tagBytes;
    }
    this.#memory.set(state, layout.authenticator);
    this.#wasm.poly1305(layout.piece, end, layout.authenticator);
    state.set(this.#memory.subarray(layout.authenticator, layout.authenticator + state.length));
  }
}

/** A Poly1305 computation in progress: the accumulator, and the number that is added at the end. */
interface Authenticator {
  /** In the layout of the kernel's `poly1305`. */
  state: Bytes;
  offset: bigint;
}

function tagOf({ state, offset }: Authenticator): Bytes {
  const limbs = new DataView(state.buffer);
  let sum = 0n;
  for (let i = 4; i >= 0; i--) sum = (sum << limbBits) + limbs.getBigUint64(8 * i, true);
  const tag = new DataView(new ArrayBuffer(tagBytes));
  const value = (sum % prime) + offset;
  tag.setBigUint64(0, BigInt.asUintN(64, value), true);
  tag.setBigUint64(8, BigInt.asUintN(64, value >> 64n), true);
  return new Uint8Array(tag.buffer);
}

function number128(view: DataView, at: number): bigint {
  return view.getBigUint64(at, true) | (view.getBigUint64(at + 8, true) << 64n);
}
