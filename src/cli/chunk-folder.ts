import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { equalBytes } from '../address.ts';
import { AntwayError } from '../errors.ts';
import type { ChunkPeers } from '../peers/chunk-peers.ts';
import type { ChunkSink } from '../publish/upload.ts';
import { writeAtomically } from './atomic-file.ts';
import { fileError } from './disk-file.ts';

/**
 * Writes one file per chunk, named by its address. Creates the folder if necessary. @throws AntwayError as `fileError`.
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
      // The name alone does not prove that the file is intact. A damaged file is replaced.
      if (there && equalBytes(there, bytes)) return 'present';
      await writeAtomically(path, [bytes]);
      return 'stored';
    },
  };
}

/** Reads chunks from a folder of `chunkFolderSink`. Verifies the bytes of each file like the bytes of a peer. */
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
