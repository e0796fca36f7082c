import { AntwayError } from '../errors.ts';
import type { ChunkPeers } from './chunk-peers.ts';

/** For readers of stored chunks only. */
export const noPeers: ChunkPeers = {
  fetch: async ({ hex }) => {
    throw new AntwayError('NOT_FOUND', 'This is not stored on this device.', { address: hex });
  },
};
