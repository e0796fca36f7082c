import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ByteSource } from './byte-source.ts';
import { blockBytes, parseTarHeader } from './tar-header.ts';

export const indexName = 'archive.tar.idx';

/** A line of the index that can be served. */
export interface IndexEntry {
  path: string;
  /** Position of the member's data in the tar. */
  offset: number;
  size: number;
}

/** A line that cannot, and why. */
export interface RefusedEntry {
  path: string;
  reason: string;
}

export interface ParsedIndex {
  /** By path; of several lines with one path the last. */
  entries: Map<string, IndexEntry>;
  refused: RefusedEntry[];
}

/**
 * Finds the index of a tarchive: the member `archive.tar.idx` at the very end of the tar.
 *
 * The end of the tar is read first, and more of it as long as what is there looks like the rest of an index.
 * @returns undefined when the tar has no index, or one of over 64 MiB.
 */
export async function readIndex(
  tar: ByteSource,
  firstRead: number,
  signal?: AbortSignal,
): Promise<Uint8Array | undefined> {
  // An index of the largest size, its header, and the zeros after it.
  const most = limits.indexBytes + limits.indexTailBytes;
  for (let wanted = Math.min(firstRead, most); ; wanted = Math.min(4 * wanted, most)) {
    // From the start of a block, so that headers can be found at block boundaries.
    const start = Math.max(0, Math.floor((tar.size - wanted) / blockBytes) * blockBytes);
    const tail = await tar.read(start, tar.size, signal);
    const end = contentEnd(tail);
    const index = findIndex(tail, end);
    const isAll = start === 0 || wanted === most;
    // Nothing but zeros tells nothing: writers fill tars up to large blocks.
    if (index || isAll || (end > 0 && !endsLikeIndex(tail.subarray(0, end), tar.size))) return index;
  }
}

/** The last header of an index whose data reaches just to the end of the tar's content. */
function findIndex(tail: Uint8Array, end: number): Uint8Array | undefined {
  for (let at = Math.floor((end - 1) / blockBytes) * blockBytes; at >= 0; at -= blockBytes) {
    // Cheap test first: every block of an index of megabytes is looked at.
    if (tail[at] !== 0x61 && tail[at] !== 0x2e) continue;
    const header = parseTarHeader(tail.subarray(at, at + blockBytes));
    if (header?.type !== '0' || normalisePath(header.name) !== indexName) continue;
    const data = at + blockBytes;
    const isLast =
      data + header.size <= tail.length && end <= data + Math.ceil(header.size / blockBytes) * blockBytes;
    return isLast ? tail.subarray(data, data + header.size) : undefined;
  }
  return undefined;
}

/** Where the zero blocks at the end of a tar begin, rounded to what comes before them. */
function contentEnd(tail: Uint8Array): number {
  let end = tail.length;
  while (end > 0 && tail[end - 1] === 0) end--;
  return end;
}

/** Whether text can be the end of an index and not, say, of a log: a member's data begins at a block's edge. */
function endsLikeIndex(content: Uint8Array, tarSize: number): boolean {
  // A signature is 6,618 characters long, so the last line may be.
  const text = new TextDecoder().decode(content.subarray(-16_384)).trimEnd();
  const [, offset, size] = / (\d+) (\d+)(?: [0-9a-f]{64} [0-9a-f]+)?$/i.exec(text) ?? [];
  if (offset === undefined) return /^[0-9a-f ]+$/i.test(text);
  return (
    Number(offset) % blockBytes === 0 && refusalOfRange(Number(offset), Number(size), tarSize) === undefined
  );
}

const line = /^(.+) (-?\d+) (-?\d+)(?: ([0-9a-f]{64}) ([0-9a-f]+))?$/is;

/**
 * Reads index lines `path offset size [xorname signature]`. Split from the right, because paths may hold blanks.
 *
 * @param tarSize entries that reach past it are refused.
 * @throws AntwayError `TOO_LARGE` for more than 100,000 entries.
 */
export function parseIndex(index: Uint8Array, tarSize: number): ParsedIndex {
  const entries = new Map<string, IndexEntry>();
  const refused: RefusedEntry[] = [];
  let count = 0;
  for (const text of new TextDecoder().decode(index).split('\n')) {
    const trimmed = text.endsWith('\r') ? text.slice(0, -1) : text;
    if (trimmed === '') continue;
    if (++count > limits.archiveEntries) {
      throw new AntwayError('TOO_LARGE', `The archive has more than ${limits.archiveEntries} entries.`);
    }
    const match = line.exec(trimmed);
    if (!match) {
      refused.push({ path: trimmed.slice(0, 200), reason: 'the line is not “path offset size”' });
      continue;
    }
    const path = normalisePath(match[1]!);
    const offset = Number(match[2]);
    const size = Number(match[3]);
    const reason = refusalOfPath(path) ?? refusalOfRange(offset, size, tarSize);
    if (reason) refused.push({ path: path.slice(0, 1000), reason });
    else if (path !== indexName) entries.set(path, { path, offset, size });
  }
  dropFolders(entries);
  return { entries, refused };
}

/** `tarindexer` writes a line for each folder too, with a size of 0 and without a slash. */
function dropFolders(entries: Map<string, IndexEntry>): void {
  for (const path of [...entries.keys()]) {
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
      const folder = path.slice(0, slash);
      if (entries.get(folder)?.size === 0) entries.delete(folder);
    }
  }
}

/** Drops `./`, which `tar` writes when it is given a folder as `.`: URLs cannot name it. */
export function normalisePath(path: string): string {
  return path.replace(/(?<=^|\/)(\.\/)+/g, '');
}

/** Why a path cannot be a member's, or undefined when it can. */
export function refusalOfPath(path: string): string | undefined {
  if (path === '' || /(^|\/)\.?$/.test(path)) return 'it names no file';
  if (path.length > limits.pathCharacters) return 'its path is too long';
  if (path.startsWith('/')) return 'its path is absolute';
  if (path.includes('\0')) return 'its path holds a NUL';
  if (path.split('/').includes('..')) return 'its path leads out of the archive';
  return undefined;
}

function refusalOfRange(offset: number, size: number, tarSize: number): string | undefined {
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(size)) return 'its offset or size is absurd';
  if (offset < 0 || size < 0) return 'its offset or size is negative';
  if (offset + size > tarSize) return 'it lies outside the archive';
  return undefined;
}
