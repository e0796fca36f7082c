import { describe, expect, it } from 'vitest';
import { readAheadChunks } from '../../src/content/read-ahead.ts';
import { limits } from '../../src/limits.ts';

const link = (mbitPerSecond: number, delayMs: number) => ({
  bytesPerSecond: (mbitPerSecond * 1e6) / 8,
  delayMs,
});

describe('the chunks that a reader has under way', () => {
  it('are a few before anything is known of the link', () => {
    expect(readAheadChunks(undefined)).toBe(limits.readAhead.first);
  });

  it.each([
    ['one where a chunk takes so long that the pause after it is nothing', 1, 50, 1],
    ['one at the rate of a lossy link', 6, 50, 1],
    ['two where the pause would show', 6, 300, 2],
    ['two where a chunk takes more than a second', 20, 50, 2],
    ['two on such a link of a long way', 20, 100, 2],
    ['three on a fast link', 100, 50, 3],
    ['three nearby, where a processor is the limit', 2_000, 1, 3],
    ['more on a fast link of a long way', 500, 100, 4],
    ['no more than are allowed to be in memory', 10_000, 200, 6],
  ])('are %s', (_, mbitPerSecond, delayMs, chunks) => {
    expect(readAheadChunks(link(mbitPerSecond, delayMs))).toBe(chunks);
  });

  it('never leave a link idle for more than a fiftieth of its time', () => {
    const { decryptMs } = limits.readAhead;
    for (const mbitPerSecond of [0.5, 1, 2, 5, 10, 20, 50, 100, 200]) {
      for (const delayMs of [1, 20, 50, 100, 300]) {
        const chunkMs = (limits.plaintextChunkBytes * 8) / (mbitPerSecond * 1000);
        const underWay = readAheadChunks(link(mbitPerSecond, delayMs));
        // Those that are under way beside the one that has just come keep the link busy until the next begins.
        const idleMs = Math.max(delayMs + decryptMs - (underWay - 1) * chunkMs, 0);
        expect(idleMs / (underWay * chunkMs), `${mbitPerSecond} Mbit/s, ${delayMs} ms`).toBeLessThanOrEqual(
          0.02,
        );
      }
    }
  });
});
