import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Member } from '../content/archive.ts';
import { AntwayError } from '../errors.ts';
import { replaceDisruptive } from '../util/sanitize-text.ts';
import { takeOver } from './atomic-file.ts';
import { fileError } from './disk-file.ts';
import type { OpenedFolder } from './open-content.ts';
import { isReservedByWindows } from './sanitize-filename.ts';

/** Files that are fetched at the same time. */
const parallelFiles = 4;

export interface Extracted {
  files: number;
  /** Files that have another path on disk, because of control characters or marks of direction in their path. */
  renamed: number;
  /** In bytes. */
  size: number;
}

/**
 * Writes a folder of an archive to disk, completely or not at all. A hidden folder beside the target gets the files, and
 * takes the target's place at the end, with its mode.
 * @param force replaces a folder with files. Without it, the target must not exist or must be empty.
 * @param onFile called after each file.
 * @throws AntwayError `REFUSED` for a folder with files and for a target that is no folder, `CORRUPT` for paths that cannot
 *   exist together on this disk; as `fileError`; the errors of the content.
 */
export async function extractFolder(
  { archive, folder }: OpenedFolder,
  target: string,
  {
    force,
    signal,
    onFile,
  }: { force: boolean; signal: AbortSignal; onFile?: (done: number, of: number) => void },
): Promise<Extracted> {
  const to = resolve(target);
  const former = await formerFolder(to, target);
  if (former && !force) await requireEmpty(to, target);
  const members = [...archive.members.values()].filter(({ path }) => path.startsWith(folder));
  const temporary = join(dirname(to), `.antway-${randomUUID()}.partial`);
  try {
    // Others may not read the files before the folder has its mode.
    await mkdir(temporary, { mode: former ? 0o700 : 0o777 }).catch((error) => {
      throw fileError(error, target);
    });
    const result = { files: 0, renamed: 0, size: 0 };
    await inLanes(members, async (member) => {
      const { size, isRenamed } = await extractMember(member, folder, temporary, signal);
      result.size += size;
      result.files++;
      if (isRenamed) result.renamed++;
      onFile?.(result.files, members.length);
    });
    if (former) await takeOver(temporary, former);
    await replace(to, temporary);
    return result;
  } finally {
    // After the rename, there is no such folder.
    await rm(temporary, { recursive: true, force: true });
  }
}

/** @returns undefined if nothing is there. @throws AntwayError `REFUSED` if it is neither a folder nor a link to one. */
async function formerFolder(path: string, target: string): Promise<Stats | undefined> {
  const unlessMissing = (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw fileError(error, target);
  };
  if (!(await lstat(path).catch(unlessMissing))) return undefined;
  const found = await stat(path).catch(unlessMissing);
  if (found?.isDirectory()) return found;
  throw new AntwayError('REFUSED', `“${target}” is no folder. Name another one with --output.`, {
    path: target,
  });
}

async function requireEmpty(folder: string, target: string): Promise<void> {
  const names = await readdir(folder).catch((error) => {
    throw fileError(error, target);
  });
  if (names.length === 0) return;
  throw new AntwayError('REFUSED', `“${target}” exists already. To replace it, add --force.`, {
    path: target,
  });
}

async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  let hasFailed = false;
  const lane = async () => {
    for (const item of waiting) {
      if (hasFailed) return;
      await work(item).catch((error) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  // Wait for all lanes, so that no lane writes after the folder is removed.
  const ends = await Promise.allSettled(Array.from({ length: parallelFiles }, lane));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

/** @returns the size in bytes, and whether the file has another path on disk. */
async function extractMember(
  member: Member,
  folder: string,
  temporary: string,
  signal: AbortSignal,
): Promise<{ size: number; isRenamed: boolean }> {
  const path = member.path.slice(folder.length);
  const segments = safePath(path);
  const onDisk = join(temporary, ...segments);
  const source = await member.load(signal);
  try {
    await mkdir(dirname(onDisk), { recursive: true });
    // Security: `wx` follows no link and replaces no file. Two paths can be one file on this disk.
    const file = await open(onDisk, 'wx');
    try {
      for await (const piece of source.stream(0, source.size, signal)) await file.writeFile(piece);
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EEXIST', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG'].includes(code)) {
      throw code && !(error instanceof AntwayError) ? fileError(error, member.path) : error;
    }
    throw new AntwayError(
      'CORRUPT',
      `“${member.path}” cannot be written to this disk: its name is too long, or another file of the archive is in its place.`,
      { path: member.path },
      { cause: error },
    );
  }
  return { size: source.size, isRenamed: segments.join('/') !== path };
}

/**
 * The segments of a path that stays below its folder, as names of files. Control characters and marks of direction become
 * `_`: a list of files must not show another name, or command a terminal.
 * @throws AntwayError `REFUSED` for any other path. Archives are from strangers, so this does not rely on their reader.
 */
export function safePath(path: string, platform = process.platform): string[] {
  const segments = path.split('/');
  const isSafe = (segment: string) =>
    segment !== '' && segment !== '.' && segment !== '..' && !segment.includes('\0');
  const isForeign = platform === 'win32' && segments.some((segment) => isReservedByWindows(segment));
  if (segments.every(isSafe) && !isForeign) return segments.map((name) => replaceDisruptive(name, '_'));
  throw new AntwayError('REFUSED', `The path “${path}” of this archive cannot be written safely.`, { path });
}

/** Puts a complete folder into the place of another, which may exist. */
async function replace(to: string, complete: string): Promise<void> {
  const former = `${complete}.former`;
  await rmdir(to).catch(() => undefined); // an empty folder
  const hasFormer = await rename(to, former).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw fileError(error, to);
    },
  );
  try {
    await rename(complete, to);
  } catch (error) {
    if (hasFormer) await rename(former, to);
    throw fileError(error, to);
  }
  if (hasFormer) await rm(former, { recursive: true, force: true });
}
