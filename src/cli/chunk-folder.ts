import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { equalBytes } from '../address.ts';
import { AntwayError } from '../errors.ts';
import type { ChunkPeers } from '../peers/selection/pool.ts';
import type { ChunkSink } from '../publish/upload.ts';
import { writeAtomically } from './atomic-file.ts';
import { fileError } from './disk-file.ts';

/**
 * Writes chunks into a folder, each into a file that is named by its address. The folder is made when it is not
 * there.
 * @throws AntwayError as `fileError`.
 */
export async function chunkFolderSink(folder: string): Promise<ChunkSink> {
  await mkdir(folder, { recursive: true }).catch((error) => {
    throw fileError(error, folder);
  });
  return {
    async store({ address, bytes }, signal) {
      signal.throwIfAborted();
      const path = join(folder, address.hex);
      const there = await readFile(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw fileError(error, path);
      });
      // Its name alone does not make it the chunk: a damaged file is replaced.
      if (there && equalBytes(there, bytes)) return 'present';
      await writeAtomically(path, [bytes]);
      return 'stored';
    },
  };
}

/** Reads chunks from such a folder. What is in a file is checked as if a peer had sent it. */
export function chunkFolderSource(folder: string): ChunkPeers {
  return {
    async fetch(address, { signal, verify }) {
      signal.throwIfAborted();
      const path = join(folder, address.hex);
      const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw fileError(error, path);
        throw new AntwayError('NOT_FOUND', `“${folder}” does not hold the record ${address}.`, {
          address: address.hex,
        });
      });
      return verify(new Uint8Array(bytes));
    },
  };
}
