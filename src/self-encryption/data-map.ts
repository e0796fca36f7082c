import { Address, equalBytes } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { decodeUntrusted, encode } from './message-pack.ts';

const version = 1;

/**
 * The list of a file's chunks. `childLevel` is 0 for the map of a file, the nesting level for a shrunk map, whose
 * chunks contain another (bincode-serialised) map. Flat arrays: 100,000 chunks take 8 MB and no objects.
 */
export class DataMap {
  /** Plaintext position of each chunk's first byte, and the total at the end: `count + 1` numbers. */
  readonly offsets: Float64Array;

  /**
   * @param dstHashes `count × 32` bytes: the chunks' addresses.
   * @param srcHashes `count × 32` bytes: BLAKE3 of each plaintext part.
   * @param sizes plaintext length of each part, in bytes.
   */
  constructor(
    readonly dstHashes: Uint8Array,
    readonly srcHashes: Uint8Array,
    readonly sizes: Uint32Array,
    readonly childLevel = 0,
  ) {
    this.offsets = new Float64Array(sizes.length + 1);
    for (let i = 0; i < sizes.length; i++) this.offsets[i + 1] = this.offsets[i]! + sizes[i]!;
  }

  get count(): number {
    return this.sizes.length;
  }

  get size(): number {
    return this.offsets[this.count]!;
  }

  /** Estimated memory, in bytes. */
  get memoryBytes(): number {
    return (this.count + 1) * 80;
  }

  address(index: number): Address {
    return Address.fromBytes(this.dstHashes.subarray(32 * index, 32 * index + 32));
  }

  srcHash(index: number): Uint8Array {
    return this.srcHashes.subarray(32 * index, 32 * index + 32);
  }

  /** @param position must be inside the file. */
  chunkAt(position: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.offsets[middle]! <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  equals(other: DataMap): boolean {
    return (
      this.childLevel === other.childLevel &&
      equalBytes(this.dstHashes, other.dstHashes) &&
      equalBytes(this.srcHashes, other.srcHashes) &&
      this.sizes.length === other.sizes.length &&
      this.sizes.every((size, i) => size === other.sizes[i])
    );
  }
}

/**
 * Encodes a data map as a record: MessagePack `[1, [[index, dst, src, size], …], child]`, hashes as arrays of integers,
 * as crate `rmp-serde` writes it. The record's BLAKE3 is the file's address.
 */
export function encodeDataMap(map: DataMap): Uint8Array<ArrayBuffer> {
  const chunks = Array.from(map.sizes, (size, i) => [
    i,
    Array.from(map.dstHashes.subarray(32 * i, 32 * i + 32)),
    Array.from(map.srcHash(i)),
    size,
  ]);
  return encode([version, chunks, map.childLevel === 0 ? null : map.childLevel]);
}

/**
 * Decodes a record as a data map. Hashes may be integer arrays or `bin`.
 * @returns undefined if the record is not a data map: then its bytes are the content.
 * @throws AntwayError `UNSUPPORTED` for a data map of another version than 1.
 */
export function decodeDataMap(record: Uint8Array): DataMap | undefined {
  // This check avoids decoding megabytes of records that are no data map.
  if (record[0] !== 0x93) return undefined;
  let value: unknown;
  try {
    // Four levels: the map, its list of chunks, a chunk, a hash.
    value = decodeUntrusted(record, { maxDepth: 4, maxValues: limits.chunkBytes });
  } catch {
    return undefined; // not MessagePack, or more than one value: a raw record
  }
  if (!Array.isArray(value) || value.length !== 3) return undefined;
  const [mapVersion, chunks, child] = value as unknown[];
  if (!Array.isArray(chunks) || chunks.length < limits.minChunks) return undefined;
  if (child !== null && !isPositiveInteger(child)) return undefined;

  const builder = new MapBuilder(chunks.length);
  for (const [i, chunk] of chunks.entries()) {
    if (!Array.isArray(chunk) || chunk.length !== 4) return undefined;
    const [index, dst, src, size] = chunk as unknown[];
    const dstHash = asHash(dst);
    const srcHash = asHash(src);
    if (index !== i || !dstHash || !srcHash || !isPlaintextSize(size)) return undefined;
    builder.set(i, dstHash, srcHash, size);
  }
  if (mapVersion !== version) {
    const named = typeof mapVersion === 'number' ? `version ${mapVersion}` : 'an unknown version';
    throw new AntwayError('UNSUPPORTED', `This is a data map of ${named}; version 1 is known here.`);
  }
  return builder.build(child === null ? 0 : child);
}

const bincodeHeaderBytes = 1 + 8;
const bincodeChunkBytes = 8 + 32 + 32 + 8;

export function bincodeBytes(count: number, childLevel: number): number {
  return bincodeHeaderBytes + bincodeChunkBytes * count + (childLevel > 0 ? 9 : 1);
}

/**
 * Encodes a map for shrinking, in the form that is self-encrypted: crate `bincode` 1.3, little-endian with fixed
 * integers: u8 version, u64 count, per chunk u64 index, dst, src, u64 size, then u8 0 or (u8 1, u64 child).
 */
export function encodeBincode(map: DataMap): Uint8Array<ArrayBuffer> {
  const hasChild = map.childLevel > 0;
  const bytes = new Uint8Array(bincodeBytes(map.count, map.childLevel));
  const view = new DataView(bytes.buffer);
  bytes[0] = version;
  view.setBigUint64(1, BigInt(map.count), true);
  let at = bincodeHeaderBytes;
  for (let i = 0; i < map.count; i++, at += bincodeChunkBytes) {
    view.setBigUint64(at, BigInt(i), true);
    bytes.set(map.dstHashes.subarray(32 * i, 32 * i + 32), at + 8);
    bytes.set(map.srcHash(i), at + 40);
    view.setBigUint64(at + 72, BigInt(map.sizes[i]!), true);
  }
  if (hasChild) {
    bytes[at] = 1;
    view.setBigUint64(at + 1, BigInt(map.childLevel), true);
  }
  return bytes;
}

/**
 * Decodes the output of `encodeBincode`, from an untrusted source.
 * @throws AntwayError `CORRUPT` if the layout or a limit is violated, `UNSUPPORTED` for another version.
 */
export function decodeBincode(bytes: Uint8Array): DataMap {
  const corrupt = (why: string) => new AntwayError('CORRUPT', `A nested data map is damaged: ${why}.`);
  if (bytes.length < bincodeHeaderBytes + 1) throw corrupt('it is too short');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes[0] !== version) {
    throw new AntwayError(
      'UNSUPPORTED',
      `A nested data map has version ${bytes[0]}; version 1 is known here.`,
    );
  }
  const count = Number(view.getBigUint64(1, true));
  if (count < limits.minChunks) throw corrupt('it has too few chunks');
  const end = bincodeHeaderBytes + bincodeChunkBytes * count;
  if (bytes.length !== end + 1 && bytes.length !== end + 9)
    throw corrupt('its length does not fit its count');

  const builder = new MapBuilder(count);
  for (let i = 0, at = bincodeHeaderBytes; i < count; i++, at += bincodeChunkBytes) {
    if (view.getBigUint64(at, true) !== BigInt(i)) throw corrupt('its indexes are not contiguous');
    const size = Number(view.getBigUint64(at + 72, true));
    if (!isPlaintextSize(size)) throw corrupt(`chunk ${i} has an impossible size`);
    builder.set(i, bytes.subarray(at + 8, at + 40), bytes.subarray(at + 40, at + 72), size);
  }
  const hasChild = bytes[end] === 1;
  if (bytes[end]! > 1 || hasChild !== (bytes.length === end + 9)) throw corrupt('its child marker is wrong');
  const childLevel = hasChild ? Number(view.getBigUint64(end + 1, true)) : 0;
  if (hasChild && !isPositiveInteger(childLevel)) throw corrupt('its child level is impossible');
  return builder.build(childLevel);
}

export class MapBuilder {
  readonly #dst: Uint8Array;
  readonly #src: Uint8Array;
  readonly #sizes: Uint32Array;

  constructor(count: number) {
    this.#dst = new Uint8Array(32 * count);
    this.#src = new Uint8Array(32 * count);
    this.#sizes = new Uint32Array(count);
  }

  set(index: number, dst: ArrayLike<number>, src: ArrayLike<number>, size: number): void {
    this.#dst.set(dst, 32 * index);
    this.#src.set(src, 32 * index);
    this.#sizes[index] = size;
  }

  build(childLevel: number): DataMap {
    return new DataMap(this.#dst, this.#src, this.#sizes, childLevel);
  }
}

function asHash(value: unknown): ArrayLike<number> | undefined {
  if (value instanceof Uint8Array) return value.length === 32 ? value : undefined;
  if (!Array.isArray(value) || value.length !== 32) return undefined;
  return value.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255) ? value : undefined;
}

export function isPlaintextSize(value: unknown): value is number {
  return isPositiveInteger(value) && value <= limits.largestPartBytes;
}

function isPositiveInteger(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
