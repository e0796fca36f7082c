import { equalBytes } from '../address.ts';
import { layout, pieceBytes } from './kernel-layout.ts';
import { kernelWasm } from './kernel-wasm.ts';
import type { ChunkKeys } from './keys.ts';
import { inTurns } from './turn.ts';

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
/** What is hashed at a time: a power of two of chunks. */
const subtreeChunks = 64;
const subtreeBytes = subtreeChunks * hashedChunkBytes;

// Poly1305's.
const tagBytes = 16;
const prime = 2n ** 130n - 5n;
const clamp = 0x0ffffffc0ffffffc0ffffffc0fffffffn;
const limbBits = 26n;

/** Bytes that are hashed in one task: it takes as long as to open a piece. */
const hashedInTurn = 2 * subtreeBytes;

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

/** BLAKE3 and ChaCha20-Poly1305 by WebAssembly with SIMD, in memory of its own. */
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

  /** The same, with other tasks of the thread between. */
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
   * Takes the pad off, and the cipher (RFC 8439). A piece at a time, with other tasks of the thread between them.
   * @param target where the plaintext is put; `sealed` itself, for one.
   * @returns undefined when the tag does not fit. Something is in `target` then, all the same.
   */
  decrypt(keys: ChunkKeys, sealed: Uint8Array, target?: Bytes): Promise<Bytes | undefined> {
    return inTurns(async (nextTurn) => {
      const size = sealed.length - tagBytes;
      if (size < 0) return undefined;
      const plaintext = target?.subarray(0, size) ?? new Uint8Array(size);
      const authenticator = this.#authenticator(keys);
      for (let at = 0; ; at += pieceBytes) {
        const isLast = size - at <= pieceBytes;
        const length = isLast ? size - at : pieceBytes;
        const end = layout.piece + length;
        this.#memory.set(sealed.subarray(at, at + length + (isLast ? tagBytes : 0)), layout.piece);
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

  /** What `open` opens. */
  encrypt(keys: ChunkKeys, plaintext: Uint8Array): Bytes {
    const size = plaintext.length;
    const sealed = new Uint8Array(size + tagBytes);
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
      sealed.set(this.#memory.subarray(layout.piece, isLast ? end + tagBytes : end), at);
      if (isLast) return sealed;
    }
  }

  #hashShort(bytes: Uint8Array): Bytes {
    this.#hashPartial(bytes, 0, flags.root, layout.values);
    return this.#memory.slice(layout.values, layout.values + hashBytes);
  }

  /** Puts the value of the subtree that begins at `at` to its place among those of all. */
  #hashSubtree(bytes: Uint8Array, at: number, values: Bytes): void {
    const count = this.#hashChunks(bytes.subarray(at, at + subtreeBytes), at / hashedChunkBytes);
    values.set(this.#merge(count, values.length === hashBytes), hashBytes * (at / subtreeBytes));
  }

  /** Merges the values of subtrees, and then of 64 of those each, until there is one. */
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

  /** Leaves the chaining values of a subtree's chunks in `layout.values`. @returns how many they are. */
  #hashChunks(bytes: Uint8Array, counter: number): number {
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

  /** The pad over the first bytes in `layout.piece`, which begins where a pad does. */
  #xor(pad: Uint8Array, length: number): void {
    for (let i = 0; i < 4; i++) this.#memory.set(pad, layout.pads + pad.length * i);
    this.#wasm.xor(layout.piece, layout.piece + length, layout.pads);
  }

  /** The key stream over the first bytes in `layout.piece`, from a block of it on. */
  #cipher({ key, nonce }: ChunkKeys, length: number, block: number): void {
    if (length === 0) return;
    this.#memory.set(key, layout.secret);
    this.#memory.set(nonce, layout.secret + key.length);
    this.#wasm.chacha20(layout.piece, layout.piece + length, layout.secret, block);
  }

  /** With the key that comes first in the key stream. */
  #authenticator(keys: ChunkKeys): Authenticator {
    this.#memory.fill(0, layout.piece, layout.piece + 256);
    this.#cipher(keys, 2 * tagBytes, 0);
    const factor = number128(this.#view, layout.piece) & clamp;
    const state = new BigUint64Array(10);
    for (let i = 0; i < 5; i++) state[5 + i] = (factor >> (limbBits * BigInt(i))) & (2n ** limbBits - 1n);
    return { state: new Uint8Array(state.buffer), offset: number128(this.#view, layout.piece + tagBytes) };
  }

  /**
   * Poly1305 over the first bytes of ciphertext in `layout.piece`; of the last ones what is behind them is overwritten.
   * @param size of all the ciphertext, if these are its last bytes.
   */
  #authenticate({ state }: Authenticator, length: number, size: number | undefined): void {
    let end = layout.piece + length;
    if (size !== undefined) {
      // Zeros up to a whole block, then the lengths: of what is only authenticated, which is nothing, and of this.
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

/** Poly1305 on its way: what the kernel makes of each piece, and what is added in the end. */
interface Authenticator {
  /** As `poly1305` of the kernel has it. */
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
