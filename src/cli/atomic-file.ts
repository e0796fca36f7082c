import { randomUUID } from 'node:crypto';
import { access, constants, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AntwayError } from '../errors.ts';
import { syncFolder } from '../node-peer/sync-folder.ts';
import { fileError } from './disk-file.ts';

/**
 * Writes a file completely or not at all: a hidden file in the same folder replaces the target once it is on disk.
 * @throws AntwayError as `fileError`, and the errors of `pieces`.
 */
export async function writeAtomically(
  path: string,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const temporary = join(dirname(path), `.antway-${randomUUID()}.partial`);
  let isWritten = false;
  try {
    const file = await open(temporary, 'wx').catch((error) => {
      throw fileError(error, path);
    });
    try {
      for await (const piece of pieces) {
        await file.writeFile(piece).catch((error) => {
          throw fileError(error, path);
        });
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path).catch((error) => {
      throw fileError(error, path);
    });
    isWritten = true;
    await syncFolder(dirname(path));
  } finally {
    if (!isWritten) await rm(temporary, { force: true });
  }
}

/**
 * Checks that `writeAtomically` can write a file, before work that cannot be undone.
 * @throws AntwayError `NOT_FOUND` or `REFUSED` for its folder, `BAD_CONFIG` if the path is a folder.
 */
export async function requireWritable(path: string): Promise<void> {
  const folder = dirname(path);
  await access(folder, constants.W_OK).catch((error) => {
    throw fileError(error, folder);
  });
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) throw new AntwayError('BAD_CONFIG', `“${path}” is a folder.`, { path });
}
