import { describe, expect, it } from 'vitest';
import { nodePlatform } from '../../src/cli/platform.ts';
import { limits } from '../../src/limits.ts';
import { Codec } from '../../src/self-encryption/codec.ts';
import { chunkCount, encryptFile } from '../../src/self-encryption/file.ts';

describe('the chunks that a file will have', () => {
  it.each([
    3,
    1000,
    3 * limits.plaintextChunkBytes - 1,
    3 * limits.plaintextChunkBytes + 1,
    5 * limits.plaintextChunkBytes,
  ])('are as many as encryption makes of %i bytes', async (size) => {
    let made = 0;
    const source = { size, read: async (start: number, end: number) => new Uint8Array(end - start) };
    await encryptFile(new Codec(nodePlatform), source, {
      isPrivate: true,
      emit: async () => {
        made++;
      },
    });
    expect(chunkCount(size)).toBe(made);
  });

  it('count the maps of a map that is too long for one', () => {
    // 100 chunks; their map of some 8 kB is cut in three.
    expect(chunkCount(100 * limits.plaintextChunkBytes)).toBe(103);
  });
});
