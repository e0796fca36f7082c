import { encode } from '@msgpack/msgpack';
import { Address } from '../../src/address.ts';
import type { PeerProcess } from './peer-process.ts';
import { noise, publish } from './publish.ts';

/** Chunks of a small file: its record and three parts. */
const chunksPerFile = 4;

export interface ManyChunks {
  /** Of a manifest of small files. */
  address: string;
  chunks: number;
  /** Every address of all of it. */
  addresses: Set<string>;
  /** Of its files, by their place in the manifest. */
  files: string[];
}

/** Stores a site of many small chunks at a peer: a manifest whose files are public. @param seed another one, other files. */
export async function publishManyChunks(
  peer: PeerProcess,
  chunks: number,
  { seed = 1, bytesPerFile = 1_200 } = {},
): Promise<ManyChunks> {
  const count = chunks / chunksPerFile - 1;
  const addresses = new Set<string>();
  const sink = {
    async put(address: string, bytes: Uint8Array) {
      addresses.add(address);
      await peer.put(address, bytes);
    },
  };
  const content = noise(seed, count * bytesPerFile);
  const entries = [];
  const files = [];
  for (let i = 0; i < count; i++) {
    const address = await publish(content.subarray(i * bytesPerFile, (i + 1) * bytesPerFile), sink);
    files.push(address);
    const source = { Public: { address: Address.fromHex(address).bytes } };
    entries.push({ path: `files/${i}.bin`, size: bytesPerFile, source });
  }
  const body = Buffer.from(encode({ name: `Many ${seed}`, entries }));
  const manifest = Buffer.concat([Buffer.from([0xc1, 0x41, 0x4e, 0x54, 1]), body]);
  const address = await publish(manifest, sink);
  if (addresses.size !== chunks) throw new Error(`${addresses.size} chunks, not ${chunks}`);
  return { address, chunks, addresses, files };
}
