import { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { forEachInParallel } from '../util/parallel.ts';
import { bufferAccess, type RandomAccess } from '../util/random-access.ts';
import { loadBlake3 } from './blake3.ts';
import {
  bincodeBytes,
  type DataMap,
  decodeBincode,
  encodeBincode,
  encodeDataMap,
  MapBuilder,
} from './data-map.ts';
import type { Encrypter } from './encrypter.ts';
import { deriveKeys } from './keys.ts';

export interface EncryptedChunk {
  address: Address;
  bytes: Uint8Array<ArrayBuffer>;
}

/** `address` is the file's public address: the address of the record of `map`, which may be shrunk. */
export interface EncryptedFile {
  address: Address;
  map: DataMap;
  /** The map's record. It was passed to `emit` unless the file is private. */
  record: Uint8Array<ArrayBuffer>;
  size: number;
}

export interface EncryptOptions {
  /** Receives the chunks in order, the next one when the returned promise has resolved. */
  emit(chunk: EncryptedChunk): Promise<void>;
  /** Both go from 0 to the file's size. */
  progress?(hashedBytes: number, encryptedBytes: number): void;
  /** Do not emit the data map's record: only a user who has the record can decrypt the file. */
  isPrivate?: boolean;
  signal?: AbortSignal;
}

/** Returns the number of a file's chunks, including those of shrunk maps, but without the data map's record. */
export function chunkCount(size: number): number {
  let total = partBoundaries(size).length - 1;
  for (let count = total, level = 0; count > limits.publishedMapChunks; level++) {
    count = partBoundaries(bincodeBytes(count, level)).length - 1;
    total += count;
  }
  return total;
}

/** Returns the plaintext boundaries of the chunks of a file of `size` bytes: `count + 1` positions. */
export function partBoundaries(size: number): number[] {
  const max = limits.plaintextChunkBytes;
  if (size < limits.minChunks * max) {
    const third = Math.floor(size / 3);
    return [0, third, 2 * third, size];
  }
  const boundaries = [];
  for (let at = 0; at < size; at += max) boundaries.push(at);
  boundaries.push(size);
  return boundaries;
}

/**
 * Self-encrypts a file in two passes over `source`: every chunk's key needs its neighbours' hashes, and the first chunk
 * needs the last two. Only as many chunks as the encrypter takes are in memory at a time. The same bytes always give the
 * same address.
 * @throws AntwayError `UNSUPPORTED` for fewer than 3 bytes, which the scheme cannot encrypt, `TOO_LARGE` for a file
 *   whose data map would itself exceed three chunks (about 650 GB).
 */
export async function encryptFile(
  encrypter: Encrypter,
  source: RandomAccess,
  options: EncryptOptions,
): Promise<EncryptedFile> {
  if (source.size < limits.minFileBytes) {
    throw new AntwayError(
      'UNSUPPORTED',
      `Files of fewer than ${limits.minFileBytes} bytes cannot be self-encrypted (this one has ${source.size}).`,
    );
  }
  let map = await encryptParts(encrypter, source, 0, options);
  for (let level = 1; map.count > limits.publishedMapChunks; level++) {
    const serialised = encodeBincode(map);
    if (level > 1 || serialised.length > limits.publishedMapChunks * limits.plaintextChunkBytes) {
      throw new AntwayError(
        'TOO_LARGE',
        `A file of ${source.size} bytes needs more nested data maps than are defined.`,
      );
    }
    const { progress: _, ...quiet } = options;
    map = await encryptParts(encrypter, bufferAccess(serialised), level, quiet);
  }
  const record = encodeDataMap(map);
  const blake3 = await loadBlake3();
  const address = Address.fromBytes(blake3(record));
  if (!options.isPrivate) await options.emit({ address, bytes: record });
  return { address, map, record, size: source.size };
}

async function encryptParts(
  encrypter: Encrypter,
  source: RandomAccess,
  childLevel: number,
  { emit, progress, signal }: EncryptOptions,
): Promise<DataMap> {
  const blake3 = await loadBlake3();
  const boundaries = partBoundaries(source.size);
  const count = boundaries.length - 1;
  const part = async (i: number) => {
    signal?.throwIfAborted();
    return source.read(boundaries[i]!, boundaries[i + 1]!);
  };

  const srcHashes = new Uint8Array(32 * count);
  for (let i = 0; i < count; i++) {
    srcHashes.set(blake3(await part(i)), 32 * i);
    progress?.(boundaries[i + 1]!, 0);
  }
  const encrypt = async (i: number) => encrypter.encrypt(await part(i), deriveKeys(srcHashes, i, childLevel));
  const builder = new MapBuilder(count);
  const encrypting: Promise<Uint8Array<ArrayBuffer>>[] = [];
  for (let i = 0, next = 0; i < count; i++) {
    for (; next < count && encrypting.length < (encrypter.parallel ?? 1); next++) {
      const chunk = encrypt(next);
      // It may fail while an earlier one is still awaited.
      chunk.catch(() => undefined);
      encrypting.push(chunk);
    }
    const bytes = await encrypting.shift()!;
    signal?.throwIfAborted();
    const address = Address.fromBytes(blake3(bytes));
    const srcHash = srcHashes.subarray(32 * i, 32 * i + 32);
    builder.set(i, address.bytes, srcHash, boundaries[i + 1]! - boundaries[i]!);
    await emit({ address, bytes });
    progress?.(source.size, boundaries[i + 1]!);
  }
  return builder.build(childLevel);
}

/**
 * Resolves shrunk data maps down to the map of the file itself. @param innerOf as `readInnerMap`.
 * @throws AntwayError `TOO_LARGE` past 8 levels, or 64 MiB or 1,024 chunks for one of them, and the errors of `innerOf`.
 */
export async function unshrink(
  map: DataMap,
  innerOf: (nested: DataMap) => Promise<DataMap>,
): Promise<DataMap> {
  let current = map;
  for (let depth = 0; current.childLevel > 0; depth++) {
    if (depth === limits.mapDepth) {
      throw new AntwayError('TOO_LARGE', `This data map is nested more than ${limits.mapDepth} levels deep.`);
    }
    if (current.size > limits.indexBytes) {
      throw new AntwayError('TOO_LARGE', `A nested data map of ${current.size} bytes is over the limit.`);
    }
    if (current.count > limits.nestedMapChunks) {
      throw new AntwayError('TOO_LARGE', `A nested data map of ${current.count} chunks is over the limit.`);
    }
    current = await innerOf(current);
  }
  return current;
}

/**
 * Returns the map that the chunks of a shrunk map contain. @param decryptChunk returns a chunk's plaintext.
 * @throws AntwayError `CORRUPT` for a map that does not parse.
 */
export async function readInnerMap(
  nested: DataMap,
  decryptChunk: (map: DataMap, index: number) => Promise<Uint8Array>,
): Promise<DataMap> {
  const parts: Uint8Array[] = [];
  await forEachInParallel([...nested.sizes], limits.parallelMapChunks, async (_, i) => {
    parts[i] = await decryptChunk(nested, i);
  });
  // The size is only a claim until all chunks are here.
  const serialised = new Uint8Array(nested.size);
  for (const [i, part] of parts.entries()) serialised.set(part, nested.offsets[i]!);
  return decodeBincode(serialised);
}
