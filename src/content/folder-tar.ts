import { createTarchive } from '../archive/create-tar.ts';
import { AntwayError } from '../errors.ts';
import type { RandomAccess } from '../util/random-access.ts';
import type { Archive, Member } from './archive.ts';
import { type ByteSource, randomAccessSource } from './byte-source.ts';

/** Each file without a known size costs a request before the first byte of the tar. */
const mostUnsized = 1_000;

/**
 * Returns a folder of an archive as a new tarchive, with paths relative to the folder, generated while it is read.
 * @param folder `''` for the whole archive, otherwise a path with a slash at its end.
 * @throws AntwayError `NOT_FOUND` if there is no such folder, and the errors of `createTarchive`.
 */
export async function folderTar(archive: Archive, folder: string, signal: AbortSignal): Promise<ByteSource> {
  if (!archive.folder(folder))
    throw new AntwayError('NOT_FOUND', `There is no folder “${folder}” to make a tar of.`);
  const members = Array.from(archive.members.values()).filter(({ path }) => path.startsWith(folder));
  const unsized = members.filter(({ size }) => size === undefined).length;
  if (unsized > mostUnsized) {
    throw new AntwayError(
      'TOO_LARGE',
      `A tar needs every size first, and ${unsized} files do not tell theirs.`,
    );
  }
  const entries = [];
  for (const member of members) {
    entries.push({ path: member.path.slice(folder.length), source: await lazily(member, signal) });
  }
  return randomAccessSource(createTarchive(entries));
}

/** Loads a member when its bytes are needed, or at once if its size is unknown: the layout needs only sizes. */
async function lazily(member: Member, signal: AbortSignal): Promise<RandomAccess> {
  if (member.size === undefined) return member.load(signal);
  const { size } = member;
  return {
    size,
    async read(start, end, reading) {
      const source = await member.load(reading);
      if (source.size !== size) {
        throw new AntwayError(
          'CORRUPT',
          `“${member.path}” has ${source.size} bytes, its archive says ${size}.`,
        );
      }
      return source.read(start, end, reading);
    },
  };
}
