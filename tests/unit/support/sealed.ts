import type { Address } from '../../../src/address.ts';
import { nodePlatform } from '../../../src/cli/platform.ts';
import { Codec } from '../../../src/self-encryption/codec.ts';
import type { DataMap } from '../../../src/self-encryption/data-map.ts';
import { bufferAccess, sealFile } from '../../../src/self-encryption/file.ts';

/** One codec for all tests of a file: loading its WebAssembly takes longer than most of them. */
export const codec = new Codec({ ...nodePlatform, aead: 'sodium' });

/** Records by address, as a network would hold them. */
export type Records = Map<string, Uint8Array<ArrayBuffer>>;

/** Self-encrypts a file into `records`. */
export async function seal(
  bytes: Uint8Array,
  records: Records = new Map(),
): Promise<{ address: Address; map: DataMap; records: Records }> {
  const { address, map } = await sealFile(codec, bufferAccess(bytes), {
    emit: async (chunk) => void records.set(chunk.address.hex, chunk.bytes),
  });
  return { address, map, records };
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
