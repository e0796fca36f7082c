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

/** Whether a file begins as a tar does. @param start its first 512 bytes. */
export function isTar(start: Uint8Array): boolean {
  return parseTarHeader(start) !== undefined;
}

/**
 * Opens a tar as an archive: by its index where it has one that fits, else by its headers.
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
  // All of the last chunk is there once its end is: look at it whole before asking for more.
  const firstRead = tar.size - tar.lastChunkStart;
  const index = await readIndex(tar, firstRead, signal);
  if (!index) return undefined;
  const { entries, refused }: ParsedIndex = parseIndex(index, tar.size);
  const first = entries.values().next().value;
  // A tar that holds a tarchive as its last member ends with an index too, but with that one's positions.
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
  // A name that is long or not plain ASCII stands in a pax or GNU header before, and here only something like it.
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
