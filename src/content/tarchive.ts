import { listTar } from '../archive/list-tar.ts';
import { Archive } from './archive.ts';
import { slice } from './byte-source.ts';
import type { ContentFile } from './file.ts';

/**
 * Loads a tar as an archive.
 * @throws AntwayError `TOO_LARGE` past the limits of an archive.
 */
export async function loadTarchive(tar: ContentFile, signal?: AbortSignal): Promise<Archive> {
  // The end of the tar is in its last chunk, so the whole chunk is loaded anyway. Search all of it for an index before
  // reading more.
  const { members, refused } = await listTar(tar, tar.size - tar.lastChunkStart, signal);
  const list = members.map(({ path, offset, size, modified }) => ({
    path,
    size,
    modified,
    load: async () => slice(tar, offset, size),
  }));
  return Archive.load(list, { refused }, signal);
}
