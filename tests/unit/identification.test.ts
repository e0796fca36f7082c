import { expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { DataMaps } from '../../src/content/data-maps.ts';
import { takeInventory } from '../../src/content/inventory.ts';
import { encodeManifest, type ManifestSource } from '../../src/content/manifest.ts';
import { Resolver } from '../../src/content/resolver.ts';
import { decodeDataMap } from '../../src/self-encryption/data-map.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { makeZip } from '../support/zip.ts';
import { codec, encryptedFile, type Records } from './support/encrypted-file.ts';
import { chunksOver } from './support/fake-network.ts';

const text = new TextEncoder().encode('Neither a tar nor a manifest. '.repeat(20));

interface Form {
  name: string;
  kind: 'file' | 'archive' | 'record';
  address: Address;
  records: Records;
  /** Where the address is that of a manifest on this device. */
  manifest?: Uint8Array;
}

async function forms(): Promise<Form[]> {
  const blake3 = await codec.blake3();
  const file = await encryptedFile(text);
  const tar = await encryptedFile(new Uint8Array(await makeTarchive({ 'index.html': 'home' })));
  const zip = await encryptedFile(makeZip([{ path: 'index.html', data: 'home' }]));
  const office = await encryptedFile(makeZip([{ path: '[Content_Types].xml', data: '<Types/>' }]));
  const epub = await encryptedFile(
    makeZip([
      { path: 'mimetype', data: 'application/epub+zip', method: 0 },
      { path: 'index.html', data: 'home' },
    ]),
  );
  const cutZip = await encryptedFile(makeZip([{ path: 'index.html', data: 'home' }]).subarray(0, -1));
  const listed = await encryptedFile(
    encodeManifest({ entries: [{ path: 'a.txt', source: { kind: 'public', address: file.address } }] }),
    new Map(file.records),
  );
  const record = new TextEncoder().encode('no data map');
  const local = (name: string, kind: Form['kind'], sources: { path?: string; source: ManifestSource }[]) => {
    const manifest = encodeManifest({ entries: sources.map((each) => ({ ...each, size: text.length })) });
    const records: Records = new Map([file, tar, zip, office, listed].flatMap(({ records }) => [...records]));
    return { name, kind, address: Address.fromBytes(blake3(manifest)), records, manifest };
  };
  const embedded = ({ records, address }: typeof file): ManifestSource => ({
    kind: 'embedded',
    map: decodeDataMap(records.get(address.hex)!)!,
  });
  return [
    { name: 'a file', kind: 'file', address: file.address, records: file.records },
    { name: 'a tar', kind: 'archive', address: tar.address, records: tar.records },
    { name: 'a ZIP', kind: 'archive', address: zip.address, records: zip.records },
    { name: 'an Office document', kind: 'file', address: office.address, records: office.records },
    { name: 'an EPUB', kind: 'file', address: epub.address, records: epub.records },
    { name: 'a ZIP without its end', kind: 'file', address: cutZip.address, records: cutZip.records },
    { name: 'a public manifest', kind: 'archive', address: listed.address, records: listed.records },
    {
      name: 'a record',
      kind: 'record',
      address: Address.fromBytes(blake3(record)),
      records: new Map([[Address.fromBytes(blake3(record)).hex, record]]),
    },
    local('a manifest of a named file', 'archive', [{ path: 'a.txt', source: embedded(file) }]),
    local('a manifest of one file without a name', 'file', [{ source: embedded(file) }]),
    local('a manifest of one tar without a name', 'archive', [{ source: embedded(tar) }]),
    local('a manifest of one ZIP without a name', 'archive', [{ source: embedded(zip) }]),
    local('a manifest of one document without a name', 'file', [{ source: embedded(office) }]),
    local('a manifest of one manifest without a name', 'file', [{ source: embedded(listed) }]),
    local('a manifest of one public file', 'file', [{ source: { kind: 'public', address: file.address } }]),
  ];
}

it('is the same for a reader and for the library', async () => {
  for (const { name, kind, address, records, manifest } of await forms()) {
    const { chunks, decrypted, peers } = chunksOver(records);
    const manifests = { get: async () => manifest };
    const resolver = new Resolver({ chunks, decrypted, peers, manifests });
    expect((await resolver.resolve(address)).kind, name).toBe(kind);
    const inventory = await takeInventory(address, {
      maps: new DataMaps(),
      manifests,
      denied: new Set(),
      blake3: await codec.blake3(),
      record: async (at) => {
        const { bytes } = await chunks.record(at);
        return { bytes: bytes.length, map: decodeDataMap(bytes) };
      },
      read: (map, index) => decrypted.read(map, index),
    });
    expect(inventory.kind, name).toBe(kind);
  }
});

it('of a ZIP needs its end, but the inventory is whole without it', async () => {
  const zip = makeZip([{ path: 'index.html', data: 'home '.repeat(600), method: 0 }]);
  const { address, map, records } = await encryptedFile(zip);
  const missing = [async () => undefined, () => Promise.reject(new Error('no peer has it'))];
  for (const instead of missing) {
    const inventory = await takeInventory(address, {
      maps: new DataMaps(),
      manifests: { get: async () => undefined },
      denied: new Set(),
      blake3: await codec.blake3(),
      record: async () => ({ bytes: records.get(address.hex)!.length, map }),
      read: async (of, i) =>
        i === map.count - 1 ? instead() : codec.decrypt(of, i, records.get(of.address(i).hex)!),
    });
    expect(inventory).toMatchObject({ kind: undefined, isWhole: true });
    expect(inventory.sizes).toHaveLength(1 + map.count);
  }
});

it('of a manifest of one file needs none of the file’s chunks to know them all', async () => {
  const blake3 = await codec.blake3();
  const file = await encryptedFile(text);
  const map = decodeDataMap(file.records.get(file.address.hex)!)!;
  const manifest = encodeManifest({ entries: [{ source: { kind: 'embedded', map } }] });
  const missing = [async () => undefined, () => Promise.reject(new Error('no peer has it'))];
  for (const read of missing) {
    const inventory = await takeInventory(Address.fromBytes(blake3(manifest)), {
      maps: new DataMaps(),
      manifests: { get: async () => manifest },
      denied: new Set(),
      blake3,
      record: async () => undefined,
      read,
    });
    // The file's first chunk would tell whether the file is an archive.
    expect(inventory).toMatchObject({ kind: undefined, isWhole: true });
    expect(inventory.sizes).toHaveLength(map.count);
  }
});
