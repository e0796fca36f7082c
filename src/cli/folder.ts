import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import ignore from 'ignore';
import type { TarEntry } from '../archive/create-tar.ts';
import { AntwayError } from '../errors.ts';
import { fileError, openDiskFile } from './disk-file.ts';

export interface FolderListing {
  entries: TarEntry[];
  /** The other parts of the folder. A path that ends in `/` stands for all files of that folder. */
  leftOut: { path: string; why: string }[];
}

/**
 * Lists all files of a folder, and follows symbolic links whose targets are inside the folder.
 * @param ignorePatterns patterns in the syntax of a `.gitignore` at the folder's root.
 * @throws AntwayError `REFUSED` for a link out of the folder, or for a file without read permission; `NOT_FOUND` for a
 *   link without a target.
 */
export async function listFolder(folder: string, ignorePatterns: readonly string[]): Promise<FolderListing> {
  const root = await realpath(folder);
  const ignored = ignore().add([...ignorePatterns]);
  const listing: FolderListing = { entries: [], leftOut: [] };

  /** @param ancestors real paths of all parent folders, including this folder. */
  async function walk(path: string, ancestors: readonly string[]): Promise<void> {
    const names = (await readdir(join(root, path))).sort();
    if (names.length === 0 && path) listing.leftOut.push({ path, why: 'it is empty' });
    for (const name of names) await visit(path + name, ancestors);
  }

  async function visit(path: string, ancestors: readonly string[]): Promise<void> {
    const onDisk = join(root, path);
    // Folder patterns end in "/", so they need `stat` first. An ignored link without a target must not cause an error.
    const isLink = (await lstat(onDisk)).isSymbolicLink();
    const kind = await stat(onDisk).catch((error) => {
      if (isLink) return undefined;
      throw error;
    });
    const shown = kind?.isDirectory() ? `${path}/` : path;
    if (path.split('/').at(-1) === '.git') {
      listing.leftOut.push({ path: shown, why: 'it belongs to git' });
      return;
    }
    if (ignored.ignores(shown)) {
      listing.leftOut.push({ path: shown, why: 'it matches --ignore' });
      return;
    }
    const real = isLink ? await linkTarget(onDisk, root, path) : onDisk;
    if (kind?.isFile()) {
      listing.entries.push({ path, source: await openDiskFile(real) });
    } else if (!kind?.isDirectory()) {
      listing.leftOut.push({ path, why: 'it is neither a file nor a folder' });
    } else if (ancestors.includes(real)) {
      listing.leftOut.push({ path: shown, why: 'it is a link to a folder that it is in' });
    } else {
      await walk(shown, [...ancestors, real]);
    }
  }

  try {
    await walk('', [root]);
  } catch (error) {
    throw fileError(error, folder);
  }
  return listing;
}

async function linkTarget(link: string, root: string, path: string): Promise<string> {
  const target = await realpath(link).catch((cause) => {
    const message = `“${path}” is a link that leads nowhere. Leave it out with --ignore, or repair it.`;
    throw new AntwayError('NOT_FOUND', message, { path }, { cause });
  });
  const inside = relative(root, target);
  if (inside === '..' || inside.startsWith(`..${sep}`)) {
    throw new AntwayError(
      'REFUSED',
      `“${path}” is a link out of the folder, to “${target}”. Leave it out with --ignore, or copy what it shows.`,
      { path },
    );
  }
  return target;
}
