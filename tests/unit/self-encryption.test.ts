// @module-tag slow
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type Address, toHex } from '../../src/address.ts';
import { nodePlatform } from '../../src/cli/platform.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { Codec, type CodecPlatform } from '../../src/self-encryption/codec.ts';
import {
  type DataMap,
  decodeBincode,
  decodeDataMap,
  encodeBincode,
  encodeDataMap,
} from '../../src/self-encryption/data-map.ts';
import { encryptFile, readInnerMap, unshrink } from '../../src/self-encryption/file.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { fromHex, storedChunk, vectorDetail, vectorInput, vectors } from '../support/vectors.ts';

const encryptable = vectors.filter((vector) => !vector.encrypt_error);

/** Compresses each part once for all back ends: that takes most of the time. */
const platform: CodecPlatform = {
  ...nodePlatform,
  brotliEncoder: async () => {
    const encode = await nodePlatform.brotliEncoder!();
    return (bytes) => {
      const key = createHash('sha256').update(bytes).digest('hex');
      const known = compressed.get(key) ?? encode(bytes);
      compressed.set(key, known);
      return known;
    };
  },
};
const compressed = new Map<string, Uint8Array>();

async function openAll(
  codec: Codec,
  map: DataMap,
  chunk: (address: Address) => Uint8Array,
): Promise<Uint8Array> {
  const decryptChunk = (of: DataMap, i: number) => codec.decrypt(of, i, chunk(of.address(i)));
  const root = await unshrink(map, (nested) => readInnerMap(nested, decryptChunk));
  const plain = new Uint8Array(root.size);
  for (let i = 0; i < root.count; i++) plain.set(await decryptChunk(root, i), root.offsets[i]!);
  return plain;
}

describe.each(['kernel', 'sodium'] as const)(
  'self-encryption by %s against the vectors of the network’s own crate',
  (aead) => {
    const codec = new Codec({ ...platform, aead });

    // One file of several chunks is enough to notice a change. The others have sizes around the boundaries of chunks.
    const isLong = ({ name, size }: { name: string; size: number }) =>
      aead === 'sodium' || (size > 5_000_000 && name !== 'rand3max1');
    for (const vector of encryptable) {
      const tags = isLong(vector) ? 'full' : [];
      it(`${vector.name} encrypts to the recorded addresses and decrypts again`, {
        tags,
        timeout: 180_000,
      }, async () => {
        const input = vectorInput(vector);
        const detail = vectorDetail(vector.name);
        const encrypted = new Map<string, Uint8Array>();
        const order: { address: string; len: number }[] = [];
        const file = await encryptFile(codec, bufferAccess(input), {
          emit: async ({ address, bytes }) => {
            encrypted.set(address.hex, bytes);
            order.push({ address: address.hex, len: bytes.length });
          },
        });
        expect(file.address.hex).toBe(vector.address);
        expect(toHex(file.record)).toBe(detail.data_map.msgpack_hex);
        expect(order.slice(0, -1)).toEqual(detail.encrypted_chunks);

        const plain = await openAll(codec, file.map, (address) => encrypted.get(address.hex)!);
        const blake3 = await loadBlake3();
        expect(toHex(blake3(plain))).toBe(detail.input.blake3);
      });
    }

    it.each(encryptable.filter((vector) => vector.stored))(
      '$name: the recorded chunks decrypt to the plaintext',
      async (vector) => {
        const map = decodeDataMap(storedChunk(vector.address))!;
        const plain = await openAll(codec, map, (address) => storedChunk(address.hex));
        expect(Buffer.compare(plain, vectorInput(vector))).toBe(0);
      },
    );

    it.each(vectors.filter((vector) => vector.encrypt_error))(
      '$name is refused, as by the crate',
      async ({ size }) => {
        await expect(
          encryptFile(codec, bufferAccess(new Uint8Array(size)), { emit: async () => {} }),
        ).rejects.toMatchObject({ code: 'UNSUPPORTED' });
      },
    );

    it.each(encryptable)('$name: data map codecs round-trip the recorded bytes', ({ name }) => {
      const { data_map, child_levels } = vectorDetail(name);
      const map = decodeDataMap(fromHex(data_map.msgpack_hex))!;
      expect(toHex(encodeDataMap(map))).toBe(data_map.msgpack_hex);
      expect(toHex(encodeBincode(map))).toBe(data_map.bincode_hex);
      expect(decodeBincode(fromHex(data_map.bincode_hex)).equals(map)).toBe(true);
      for (const level of child_levels) {
        expect(toHex(encodeBincode(decodeBincode(fromHex(level.plain_bincode_hex))))).toBe(
          level.plain_bincode_hex,
        );
      }
    });
  },
);
