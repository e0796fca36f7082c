import { limits } from '../limits.ts';
import { Archive, type Member } from './archive.ts';
import { slice } from './byte-source.ts';
import type { ContentFile } from './file.ts';
import { blockBytes, parseTarHeader, scanTar } from './tar-header.ts';
import {
  type IndexEntry,
  indexName,
  normalisePath,
  type ParsedIndex,
  parseIndex,
  type RefusedEntry,
  readIndex,
  refusalOfPath,
} from './tarchive-index.ts';

/** Whether a file begins with a tar header. @param start its first 512 bytes. */
export function isTar(start: Uint8Array): boolean {
  return parseTarHeader(start) !== undefined;
}

/**
 * Loads a tar as an archive: by its index if it has a valid one, otherwise by its headers.
 * @throws AntwayError `TOO_LARGE` past the limits of an archive.
 */
export async function loadTarchive(tar: ContentFile, signal?: AbortSignal): Promise<Archive> {
  const members = (await indexed(tar, signal)) ?? (await scanned(tar, signal));
  return Archive.load(members.list, { refused: members.refused }, signal);
}

interface Members {
  list: Member[];
  refused: RefusedEntry[];
}

async function indexed(tar: ContentFile, signal?: AbortSignal): Promise<Members | undefined> {
  // The end of the tar is in its last chunk, so the whole chunk is loaded anyway. Search all of it before reading more.
  const firstRead = tar.size - tar.lastChunkStart;
  const index = await readIndex(tar, firstRead, signal);
  if (!index) return undefined;
  const { entries, refused }: ParsedIndex = parseIndex(index, tar.size);
  const first = entries.values().next().value;
  // If the last member of a tar is a tarchive, the tar also ends with an index, but with positions in the inner
  // tarchive.
  if (first && !(await hasHeader(tar, first, signal))) return undefined;
  const list = Array.from(entries.values(), ({ path, offset, size }) => ({
    path,
    size,
    modified: 0,
    load: async () => slice(tar, offset, size),
  }));
  return { list, refused };
}

async function hasHeader(
  tar: ContentFile,
  { path, offset, size }: IndexEntry,
  signal?: AbortSignal,
): Promise<boolean> {
  if (offset < blockBytes) return false;
  const header = parseTarHeader(await tar.read(offset - blockBytes, offset, signal));
  if (header?.type !== '0' || header.size !== size) return false;
  // A long or non-ASCII name is in a preceding pax or GNU header, and this header has only an approximation.
  const isPlain = path.length <= 100 && /^[\x20-\x7e]*$/.test(path);
  return !isPlain || normalisePath(header.name) === path;
}

async function scanned(tar: ContentFile, signal?: AbortSignal): Promise<Members> {
  const { members, damage } = await scanTar(tar, limits.archiveEntries, signal);
  const refused: RefusedEntry[] = damage
    ? [{ path: '', reason: `the tar could not be read to its end: ${damage}` }]
    : [];
  const byPath = new Map<string, Member>();
  for (const { path: written, offset, size, modified } of members) {
    const path = normalisePath(written);
    const reason = refusalOfPath(path);
    if (reason) refused.push({ path, reason });
    else if (path !== indexName)
      byPath.set(path, { path, size, modified, load: async () => slice(tar, offset, size) });
  }
  return { list: [...byPath.values()], refused };
}
