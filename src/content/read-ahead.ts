import { limits } from '../limits.ts';
import type { LinkMeasure } from '../peers/chunk-peers.ts';

/**
 * Returns how many chunks a reader should request ahead. A chunk is useful only when it is complete: on a slow link,
 * parallel chunks delay each other. On a fast or long link, too few chunks leave it idle.
 * @param link undefined before the first measurement.
 */
export function readAheadChunks(link: LinkMeasure | undefined): number {
  const { first, least, most, slowChunkMs, decryptMs, idleShare } = limits.readAhead;
  if (!link) return first;
  const { bytesPerSecond, delayMs } = link;
  const chunkMs = (1000 * limits.plaintextChunkBytes) / bytesPerSecond;
  // With one chunk at a time, the link is idle from a chunk's last byte to the next chunk's first byte.
  if (delayMs + decryptMs <= idleShare * chunkMs) return 1;
  if (chunkMs >= slowChunkMs) return 2;
  // Twice the bandwidth-delay product, so that the next chunk starts before the last one ends, and one in decryption.
  return Math.min(Math.max(Math.ceil((2 * delayMs) / chunkMs) + 1, least), most);
}
