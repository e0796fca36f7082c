import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import ignore from 'ignore';
import { AntwayError } from '../errors.ts';
import type { TarchiveEntry } from '../publish/tarchive.ts';
import { fileError, openDiskFile } from './disk-file.ts';

export interface FolderListing {
  entries: TarchiveEntry[];
  /** What is in the folder and not in `entries`; a folder stands for all that is in it, and ends in `/`. */
  leftOut: { path: string; why: string }[];
}

/**
 * All files of a folder. Links are followed as long as they stay inside of it.
 *
 * @param ignorePatterns as in a `.gitignore` at the folder's root.
 * @throws AntwayError `REFUSED` for a link that leads out of the folder, or a file that may not be read;
 *   `NOT_FOUND` for a link that leads nowhere.
 */
export async function listFolder(folder: string, ignorePatterns: readonly string[]): Promise<FolderListing> {
  const root = await realpath(folder);
  const ignored = ignore().add([...ignorePatterns]);
  const listing: FolderListing = { entries: [], leftOut: [] };

  /** @param ancestors real paths of the folders on the way here, this one included. */
  async function walk(path: string, ancestors: readonly string[]): Promise<void> {
    const names = (await readdir(join(root, path))).sort();
    if (names.length === 0 && path) listing.leftOut.push({ path, why: 'it is empty' });
    for (const name of names) await visit(path + name, ancestors);
  }

  async function visit(path: string, ancestors: readonly string[]): Promise<void> {
    const onDisk = join(root, path);
    // A pattern that ends in "/" is for folders only, so what it is has to be known first; but what is left out
    // must not fail because it is a link to nowhere.
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
