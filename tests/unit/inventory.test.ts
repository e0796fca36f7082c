import { expect, test } from 'vitest';
import { Address } from '../../src/address.ts';
import { DataMaps } from '../../src/content/data-maps.ts';
import { takeInventory } from '../../src/content/inventory.ts';
import { encodeManifest } from '../../src/content/manifest.ts';
import { codec } from './support/encrypted-file.ts';

test('an inventory that fails has ended: nothing is read or reported after that', async () => {
  const blake3 = await codec.blake3();
  const addresses = Array.from({ length: 20 }, (_, i) => Address.fromBytes(blake3(Uint8Array.of(i))));
  const manifest = encodeManifest({
    entries: addresses.map((address, i) => ({ path: `${i}.txt`, source: { kind: 'public', address } })),
  });
  let running = 0;
  let calls = 0;
  const taking = takeInventory(Address.fromBytes(blake3(manifest)), {
    maps: new DataMaps(),
    manifests: { get: async () => manifest },
    denied: new Set(),
    blake3,
    async record(address) {
      calls++;
      if (address.equals(addresses[0]!)) throw new Error('the disk is full');
      running++;
      await new Promise((resolve) => setTimeout(resolve, 50));
      running--;
      return { bytes: 1, map: undefined };
    },
    read: async () => undefined,
    async onFound() {
      calls++;
    },
  });
  await expect(taking).rejects.toThrow('the disk is full');
  expect(running).toBe(0);
  const callsAtEnd = calls;
  expect(callsAtEnd).toBeLessThan(addresses.length);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(calls).toBe(callsAtEnd);
});
