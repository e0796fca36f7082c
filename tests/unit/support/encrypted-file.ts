import { Address } from '../../../src/address.ts';
import { nodePlatform } from '../../../src/cli/platform.ts';
import { Codec } from '../../../src/self-encryption/codec.ts';
import {
  type DataMap,
  encodeBincode,
  encodeDataMap,
  MapBuilder,
} from '../../../src/self-encryption/data-map.ts';
import { encryptFile, partBoundaries } from '../../../src/self-encryption/file.ts';
import { deriveKeys } from '../../../src/self-encryption/keys.ts';
import { bufferAccess } from '../../../src/util/random-access.ts';

/** One codec for all tests of a file: loading its WebAssembly takes longer than most of them. */
export const codec = new Codec({ ...nodePlatform, aead: 'sodium' });

/** Records by address, as a network would hold them. */
export type Records = Map<string, Uint8Array<ArrayBuffer>>;

/** Self-encrypts a file into `records`. */
export async function encryptedFile(
  bytes: Uint8Array,
  records: Records = new Map(),
): Promise<{ address: Address; map: DataMap; records: Records }> {
  const { address, map } = await encryptFile(codec, bufferAccess(bytes), {
    emit: async (chunk) => void records.set(chunk.address.hex, chunk.bytes),
  });
  return { address, map, records };
}

/** Shrinks a map into another one, as is done with long ones: its record is at the address that is given back. */
export async function shrink(
  map: DataMap,
  records: Records,
): Promise<{ address: Address; map: DataMap; records: Records }> {
  const blake3 = await codec.blake3();
  const store = (bytes: Uint8Array<ArrayBuffer>) => {
    const address = Address.fromBytes(blake3(bytes));
    records.set(address.hex, bytes);
    return address;
  };
  const level = map.childLevel + 1;
  const serialised = encodeBincode(map);
  const boundaries = partBoundaries(serialised.length);
  const parts = boundaries.slice(1).map((end, i) => serialised.subarray(boundaries[i], end));
  const hashes = parts.map((part) => blake3(part));
  const builder = new MapBuilder(parts.length);
  for (const [i, part] of parts.entries()) {
    const keys = deriveKeys(Uint8Array.from(Buffer.concat(hashes)), i, level);
    builder.set(i, store(await codec.encrypt(part, keys)).bytes, hashes[i]!, part.length);
  }
  const outer = builder.build(level);
  return { address: store(encodeDataMap(outer)), map: outer, records };
}

/** Bytes without a pattern that compression could use, the same every time. */
export function noise(length: number, seed = 1): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  const words = new Uint32Array(bytes.buffer, 0, length >>> 2);
  let state = seed * 2654435769 || 1;
  for (let i = 0; i < words.length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[i] = state;
  }
  return bytes;
}
