import { expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import type { Chunks } from '../../src/chunks/chunks.ts';
import type { DecryptedChunks } from '../../src/content/decrypted-chunks.ts';
import { Resolver } from '../../src/content/resolver.ts';
import { noPeers } from '../../src/peers/no-peers.ts';
import { DataMap, encodeBincode, encodeDataMap } from '../../src/self-encryption/data-map.ts';

/** A map of a file whose first chunk has the bytes that show its format. About 80 bytes of memory for each chunk. */
function mapOf(count: number): DataMap {
  const sizes = new Uint32Array(count).fill(1);
  sizes[0] = 1000;
  return new DataMap(new Uint8Array(32 * count), new Uint8Array(32 * count), sizes);
}

/** A resolver of files with such a map. Each address has a nested map of its own. */
function resolverOf(inner: DataMap) {
  const bytes = encodeBincode(inner);
  const third = Math.ceil(bytes.length / 3);
  const parts = [0, 1, 2].map((i) => bytes.subarray(i * third, (i + 1) * third));
  const nested = new DataMap(
    new Uint8Array(96),
    new Uint8Array(96),
    Uint32Array.from(parts, ({ length }) => length),
    1,
  );
  const requested: string[] = [];
  const chunks = {
    async record({ hex }: Address) {
      requested.push(hex);
      return { bytes: encodeDataMap(nested) };
    },
  } as unknown as Chunks;
  const decrypted = {
    readAhead: 1,
    read: async (map: DataMap, index: number) =>
      map.childLevel > 0 ? parts[index]! : new Uint8Array(map.sizes[index]!),
  } as unknown as DecryptedChunks;
  return { requested, resolver: new Resolver({ chunks, decrypted, peers: noPeers }) };
}

const addressAt = (index: number) => Address.fromBytes(new Uint8Array(32).fill(index + 1));

it.each([
  ['small maps stay in memory', 100, false],
  ['large maps do not fill the memory: the resolver forgets the file used least recently', 100_000, true],
])('%s', async (_, count, forgets) => {
  const { requested, resolver } = resolverOf(mapOf(count));
  const addresses = Array.from({ length: 9 }, (_, i) => addressAt(i));
  for (const address of addresses) {
    expect((await resolver.resolve(address)).kind).toBe('file');
  }
  expect(requested).toHaveLength(9);
  await resolver.resolve(addresses[8]!);
  expect(requested).toHaveLength(9);
  await resolver.resolve(addresses[0]!);
  expect(requested).toHaveLength(forgets ? 10 : 9);
});
