import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import {
  type DataMap,
  encodeBincode,
  encodeDataMap,
  MapBuilder,
} from '../../src/self-encryption/data-map.ts';
import { partBoundaries } from '../../src/self-encryption/file.ts';
import { deriveKeys } from '../../src/self-encryption/keys.ts';
import { type ChunkSink, codec } from './publish.ts';

const part = limits.plaintextChunkBytes;
const parts = 1_100;

/** Its end, which tells where it is. */
export const hugeEnd = 'the end of a file of more than four gibibytes';
export const hugeSize = (parts - 1) * part + hugeEnd.length;

/** Position of the one chunk in the middle that exists; it begins past 4 GiB. */
export const hugeMiddle = 1_050 * part;

/** The content of every part but the last. It tells its own position in it, every 64 bytes. */
const filler = Buffer.alloc(part, '|');
for (let at = 0; at + 64 <= part; at += 64) filler.write(String(at).padStart(10, '0'), at);

/** Bytes of the file, not past its last part. */
export function hugeBytes(start: number, end: number): Buffer {
  const from = start % part;
  return from + end - start <= part
    ? filler.subarray(from, from + end - start)
    : Buffer.concat([filler.subarray(from), hugeBytes(start + part - from, end)]);
}

/**
 * A file of 4.6 GB of which only the data map, the first chunk, two in the middle and the last are stored: what
 * needs another chunk fails.
 */
export async function publishHugeFile(sink: ChunkSink): Promise<string> {
  const blake3 = await loadBlake3();
  const [fillerHash, end] = [blake3(filler), Buffer.from(hugeEnd)];
  const srcHashes = new Uint8Array(32 * parts);
  for (let i = 0; i < parts; i++) srcHashes.set(i < parts - 1 ? fillerHash : blake3(end), 32 * i);
  const middle = hugeMiddle / part;
  const builder = new MapBuilder(parts);
  for (let i = 0; i < parts; i++) {
    const plaintext = i < parts - 1 ? filler : end;
    const isStored = [0, middle - 1, middle, parts - 1].includes(i);
    const address = isStored
      ? await putEncrypted(plaintext, srcHashes, i, 0, sink)
      : Address.fromBytes(blake3(Buffer.from(`chunk ${i} that does not exist`)));
    builder.set(i, address.bytes, srcHashes.subarray(32 * i, 32 * i + 32), plaintext.length);
  }
  // As every map of more than three chunks, it is self-encrypted itself.
  return publishMap(await encryptAt(1, encodeBincode(builder.build(0)), sink), sink);
}

/** Stores a data map. @returns the address that opens it. */
export async function publishMap(map: DataMap, sink: ChunkSink): Promise<string> {
  const record = encodeDataMap(map);
  const { hex } = Address.fromBytes((await loadBlake3())(record));
  await sink.put(hex, record);
  return hex;
}

/** Encrypts bytes with a nesting level in their keys. */
export async function encryptAt(level: number, content: Uint8Array, sink: ChunkSink): Promise<DataMap> {
  const blake3 = await loadBlake3();
  const boundaries = partBoundaries(content.length);
  const plaintexts = boundaries.slice(1).map((end, i) => content.subarray(boundaries[i], end));
  const srcHashes = Buffer.concat(plaintexts.map((plaintext) => blake3(plaintext)));
  const builder = new MapBuilder(plaintexts.length);
  for (const [i, plaintext] of plaintexts.entries()) {
    const address = await putEncrypted(plaintext, srcHashes, i, level, sink);
    builder.set(i, address.bytes, srcHashes.subarray(32 * i, 32 * i + 32), plaintext.length);
  }
  return builder.build(level);
}

async function putEncrypted(
  plaintext: Uint8Array,
  srcHashes: Uint8Array,
  index: number,
  level: number,
  sink: ChunkSink,
): Promise<Address> {
  const encrypted = await codec.encrypt(plaintext, deriveKeys(srcHashes, index, level));
  const address = Address.fromBytes((await loadBlake3())(encrypted));
  await sink.put(address.hex, encrypted);
  return address;
}
