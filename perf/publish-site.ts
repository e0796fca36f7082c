import { createTarchive, type TarEntry } from '../src/archive/create-tar.ts';
import { type Published, publishFile } from '../src/publish/publish.ts';
import type { PeerProcess } from '../tests/support/peer-process.ts';
import { codec } from '../tests/support/publish.ts';

/** Stores files at a peer as one tarchive. */
export function publishSite(peer: PeerProcess, entries: readonly TarEntry[]): Promise<Published> {
  return publishFile(createTarchive(entries), {
    codec,
    sink: {
      async store({ address, bytes }) {
        await peer.put(address.hex, bytes);
        return 'stored';
      },
    },
  });
}
