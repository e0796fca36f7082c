import { listTar } from '../archive/list-tar.ts';
import { blockBytes } from '../archive/tar-header.ts';
import { Archive } from './archive.ts';
import { slice } from './byte-source.ts';
import type { ContentFile } from './content-file.ts';

/** @throws AntwayError `TOO_LARGE` past the limits of an archive. */
export async function loadTarchive(tar: ContentFile, signal?: AbortSignal): Promise<Archive> {
  // Search all of the last chunk for an index first: the end of the tar is in it, so it is loaded anyway. Only its whole
  // blocks: `listTar` rounds up to blocks, and the first bytes of a divided block are in the chunk before.
  const wholeBlocks = Math.max(tar.size - Math.ceil(tar.lastChunkStart / blockBytes) * blockBytes, 0);
  const { members, refused } = await listTar(tar, wholeBlocks, signal);
  const list = members.map(({ path, offset, size, modified }) => ({
    path,
    size,
    modified,
    load: async () => slice(tar, offset, size),
  }));
  return Archive.load(list, { refused }, signal);
}
