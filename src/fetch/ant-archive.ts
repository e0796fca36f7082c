import type { Archive } from '../content/archive.ts';
import { AntError, publicError } from './ant-error.ts';
import { createFile, type FileParts } from './ant-file.ts';
import { refuseUnknown } from './options.ts';
import type { AntArchive } from './types.ts';

/** @param folder `''` for the root, otherwise with a slash at its end. */
export function createArchive(
  archive: Archive,
  folder: string,
  { address, until }: Pick<FileParts, 'address' | 'until'>,
): AntArchive {
  return Object.freeze<AntArchive>({
    kind: 'archive',
    address,
    name: archive.name,
    entries: () =>
      Array.from(archive.members.values())
        .filter(({ path }) => path.startsWith(folder))
        .map(({ path, size, modified }) => ({
          path: path.slice(folder.length),
          size,
          modified: modified === 0 ? undefined : new Date(modified * 1000),
        })),
    async get(path, init = {}) {
      refuseUnknown('get', init, ['signal']);
      const signal = until(init.signal);
      try {
        signal.throwIfAborted();
        const member = archive.member(folder + path);
        if (!member) throw new AntError('NOT_FOUND', `There is no “${path}” in this archive.`);
        const source = await member.load(signal);
        const name = member.path.slice(member.path.lastIndexOf('/') + 1);
        return await createFile({ address, name, source, until }, signal);
      } catch (error) {
        throw publicError(error, signal);
      }
    },
  });
}
