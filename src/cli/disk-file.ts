import { type FileHandle, open } from 'node:fs/promises';
import { AntwayError } from '../errors.ts';
import type { RandomAccess } from '../util/random-access.ts';

/**
 * A file on disk. Each read opens and closes it, so a folder with any number of files needs only a few file handles.
 * Self-encryption reads every file twice, and derives the keys from the first pass. If the file has changed since this
 * call, `read` throws, because the chunks could never be decrypted.
 * @throws AntwayError as `fileError`.
 */
export async function openDiskFile(path: string): Promise<RandomAccess> {
  const first = await withFile(path, fingerprint);
  return {
    size: first.size,
    read: (start, end) =>
      withFile(path, async (file) => {
        const bytes = new Uint8Array(end - start);
        let filled = 0;
        while (filled < bytes.length) {
          const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, start + filled);
          if (bytesRead === 0) throw changed(path);
          filled += bytesRead;
        }
        // Compare after the read: a write before or during the read changes the time or the size.
        const now = await fingerprint(file);
        if (now.size !== first.size || now.modified !== first.modified) throw changed(path);
        return bytes;
      }),
  };
}

/**
 * Converts the error of a file operation: `NOT_FOUND`, `REFUSED` (permissions), `TOO_LARGE` (no space, or a limit),
 * `INTERNAL`.
 */
export function fileError(error: unknown, path: string): AntwayError {
  if (error instanceof AntwayError) return error;
  const options = { cause: error };
  switch ((error as NodeJS.ErrnoException | undefined)?.code) {
    case 'ENOENT':
      return new AntwayError('NOT_FOUND', `There is no “${path}”.`, { path }, options);
    case 'EACCES':
    case 'EPERM':
      return new AntwayError('REFUSED', `The permissions of “${path}” do not allow this.`, { path }, options);
    case 'ENOSPC':
    case 'EDQUOT':
      return new AntwayError('TOO_LARGE', `The disk has no room for “${path}”.`, { path }, options);
    case 'EFBIG':
      return new AntwayError('TOO_LARGE', `“${path}” may not become larger here.`, { path }, options);
    default: {
      const message = error instanceof Error ? error.message : String(error);
      return new AntwayError('INTERNAL', `“${path}”: ${message}`, { path }, options);
    }
  }
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  try {
    const file = await open(path);
    try {
      return await use(file);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw fileError(error, path);
  }
}

async function fingerprint(file: FileHandle): Promise<{ size: number; modified: bigint }> {
  const { size, mtimeNs } = await file.stat({ bigint: true });
  return { size: Number(size), modified: mtimeNs };
}

function changed(path: string): AntwayError {
  return new AntwayError('CORRUPT', `“${path}” was changed while it was published. Publish it again.`, {
    path,
  });
}
