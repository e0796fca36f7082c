import { encode } from '@msgpack/msgpack';
import { nodePlatform } from '../../src/cli/platform.ts';
import { Codec } from '../../src/self-encryption/codec.ts';
import { type DataMap, decodeDataMap } from '../../src/self-encryption/data-map.ts';
import { encryptFile } from '../../src/self-encryption/file.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import type { ChunkSink } from './publish.ts';

const codec = new Codec(nodePlatform);

/**
 * Makes a manifest of private files, as the network's own tools write it: the peer gets their chunks, and the
 * data maps are only in the manifest.
 */
export async function makePrivateManifest(
  name: string,
  files: Record<string, string>,
  peer: ChunkSink,
): Promise<Buffer> {
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
  return Buffer.concat([Buffer.from([0xc1, 0x41, 0x4e, 0x54, 1]), encode({ name, entries })]);
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
