import { encode } from '@msgpack/msgpack';
import { type DataMap, decodeDataMap } from '../../src/self-encryption/data-map.ts';
import { encryptFile } from '../../src/self-encryption/file.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { type ChunkSink, codec, publish } from './publish.ts';

/** The first bytes of every manifest, with its version. */
export const manifestHeader = Buffer.from([0xc1, 0x41, 0x4e, 0x54, 1]);

/** A manifest with any body, valid or not. */
export function encodeManifest(body: unknown): Buffer {
  return Buffer.concat([manifestHeader, encode(body)]);
}

/**
 * Makes a manifest of private files, as the network's own tools write it: the peer gets their chunks, and the
 * data maps are only in the manifest.
 */
export async function makePrivateManifest(
  name: string,
  files: Record<string, string>,
  peer: ChunkSink,
): Promise<Buffer> {
  return encodeManifest({ name, entries: await privateEntries(files, peer) });
}

/** Makes a manifest with the name “Private”, of the private file `folder/secret.txt` and the public file `public.txt`. */
export async function makeMixedManifest(secret: string, peer: ChunkSink): Promise<Buffer> {
  const address = Buffer.from(await publish(Buffer.from('a public file'), peer), 'hex');
  const entries = await privateEntries({ 'folder/secret.txt': secret }, peer);
  return encodeManifest({
    name: 'Private',
    entries: [...entries, { path: 'public.txt', source: { Public: { address } } }],
  });
}

async function privateEntries(files: Record<string, string>, peer: ChunkSink): Promise<object[]> {
  const entries = [];
  for (const [path, text] of Object.entries(files)) {
    const bytes = Buffer.from(text);
    const { record } = await encryptFile(codec, bufferAccess(bytes), {
      isPrivate: true,
      emit: ({ address, bytes }) => peer.put(address.hex, bytes),
    });
    const map = { chunks: chunksOf(decodeDataMap(record)!) };
    entries.push({ path, size: bytes.length, source: { Embedded: { data_map: map } } });
  }
  return entries;
}

/** Address, source hash and big-endian size of each chunk. */
function chunksOf(map: DataMap): Uint8Array {
  const chunks = Array.from(map.sizes, (size, i) => {
    const bigEndian = Buffer.alloc(4);
    bigEndian.writeUInt32BE(size);
    return Buffer.concat([map.address(i).bytes, map.srcHash(i), bigEndian]);
  });
  return Buffer.concat(chunks);
}

export function linkOf(manifest: Buffer): string {
  return `ant://manifest/${manifest.toString('base64url')}`;
}

/** Everything that the gateway remembers besides chunks, as text: bytes in Latin-1. It also runs in a page. */
export async function dumpSettings(): Promise<string> {
  const done = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const database = await done(indexedDB.open('antway'));
  const store = database.transaction('settings').objectStore('settings');
  const [keys, values] = await Promise.all([done(store.getAllKeys()), done(store.getAll())]);
  database.close();
  const asText = (value: unknown): unknown => {
    if (value instanceof ArrayBuffer) return asText(new Uint8Array(value));
    return value instanceof Uint8Array ? String.fromCharCode(...value) : value;
  };
  return JSON.stringify([keys, values], (_, value) => asText(value));
}
