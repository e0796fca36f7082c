import { nodePlatform } from '../../src/cli/platform.ts';
import { Codec } from '../../src/self-encryption/codec.ts';
import { bufferAccess, type RandomAccess, sealFile } from '../../src/self-encryption/file.ts';
import type { PeerProcess } from './peer.ts';

const codec = new Codec(nodePlatform);

/** Seals a file and stores its chunks at the peers. @returns its address. */
export async function publish(content: Uint8Array | RandomAccess, ...peers: PeerProcess[]): Promise<string> {
  const source = content instanceof Uint8Array ? bufferAccess(content) : content;
  const { address } = await sealFile(codec, source, {
    emit: async ({ address, bytes }) => {
      await Promise.all(peers.map((peer) => peer.put(address.hex, bytes)));
    },
  });
  return address.hex;
}
