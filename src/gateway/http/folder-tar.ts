import type { Archive, Member } from '../../content/archive.ts';
import { type ByteSource, randomAccessSource } from '../../content/byte-source.ts';
import { AntwayError } from '../../errors.ts';
import { createTarchive } from '../../publish/tarchive.ts';

/** Each file whose size the archive does not tell costs a request before the first byte of the tar. */
const mostUnsized = 1_000;

/**
 * A folder of an archive as a tarchive of its own, with paths from that folder; made as it is read.
 *
 * @param folder `''` for the whole archive, else with a slash at its end.
 * @throws AntwayError `NOT_FOUND` when there is no such folder; as `createTarchive`.
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
  return randomAccessSource(await createTarchive(entries));
}

/** The layout needs sizes only; a member is opened when its bytes are needed, unless only that tells its size. */
async function lazily(member: Member, signal: AbortSignal): Promise<Pick<ByteSource, 'size' | 'read'>> {
  if (member.size === undefined) return member.load(signal);
  const { size } = member;
  return {
    size,
    async read(start, end) {
      const source = await member.load(signal);
      if (source.size !== size) {
        throw new AntwayError(
          'CORRUPT',
          `“${member.path}” has ${source.size} bytes, its archive says ${size}.`,
        );
      }
      return source.read(start, end, signal);
    },
  };
}
