import { limits } from '../limits.ts';
import type { LinkMeasure } from '../peers/selection/pool.ts';

/**
 * How many chunks a reader should have under way. All of them share the link, and none is of use before it is whole:
 * where the link is slow, more at once only make each one late. Where it is fast or long, fewer leave it idle.
 *
 * @param link undefined before anything was measured.
 */
export function readAheadChunks(link: LinkMeasure | undefined): number {
  const { first, least, most, slowChunkMs, openMs, idleShare } = limits.readAhead;
  if (!link) return first;
  const { bytesPerSecond, delayMs } = link;
  const chunkMs = (1000 * limits.plaintextChunkBytes) / bytesPerSecond;
  // One after the other, the link is idle from a chunk's last byte to the next one's first.
  if (delayMs + openMs <= idleShare * chunkMs) return 1;
  if (chunkMs >= slowChunkMs) return 2;
  // Twice what the link holds, so that the next begins while the last still comes in, and one that is being opened.
  return Math.min(Math.max(Math.ceil((2 * delayMs) / chunkMs) + 1, least), most);
}
