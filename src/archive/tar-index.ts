import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { RandomAccess } from '../util/random-access.ts';
import { indexName, normalisePath, refusalOfPath } from './member-path.ts';
import { blockBytes, paddedToBlock, parseTarHeader } from './tar-header.ts';

/** The last two fields of a line, in hex, as they are written. Parsing checks nothing of them. */
export interface IndexSignature {
  /** The SHA3-256 of a member's bytes: 64 digits. */
  xorname: string;
  /** Over the 32 bytes of `xorname`. */
  signature: string;
}

export interface IndexEntry {
  path: string;
  offset: number;
  size: number;
  signature?: IndexSignature;
}

export interface RefusedEntry {
  path: string;
  reason: string;
}

export interface ParsedIndex {
  /** By path. If several lines have the same path, the last one wins. */
  entries: Map<string, IndexEntry>;
  refused: RefusedEntry[];
}

/**
 * Finds the index of a tarchive: the member `archive.tar.idx` at the very end of the tar. Reads the end first, and more
 * as long as the bytes look like the rest of an index. Security: the result does not depend on `firstRead`. Otherwise a
 * reader that checks signatures could find another index than the reader that serves the files.
 * @param firstRead bytes at the tar's end that are read first, for example because they are in one chunk.
 * @returns undefined if the tar has no index, or an index over 64 MiB.
 */
export async function readIndex(
  tar: RandomAccess,
  firstRead: number,
  signal?: AbortSignal,
): Promise<Uint8Array | undefined> {
  // The largest index, its header, and the zeros after it.
  const most = limits.indexBytes + limits.indexTailBytes;
  let read: Uint8Array = new Uint8Array();
  const tailOf = async (wanted: number) => {
    const start = Math.max(0, Math.floor((tar.size - wanted) / blockBytes) * blockBytes);
    const length = tar.size - start;
    if (length > read.length) read = await tar.read(start, tar.size, signal);
    return read.subarray(read.length - length);
  };
  const first = await tailOf(Math.min(firstRead, most));
  // A longer tail would have the same index.
  const atOnce = first.length <= limits.indexTailBytes ? findIndex(first, contentEnd(first)) : undefined;
  if (atOnce) return atOnce;
  for (let wanted = limits.indexTailBytes; ; wanted = Math.min(4 * wanted, most)) {
    const tail = await tailOf(wanted);
    const end = contentEnd(tail);
    const index = findIndex(tail, end);
    const isAll = tail.length >= tar.size || wanted === most;
    // If the tail is all zeros, read more: writers pad tars up to large blocks.
    if (index || isAll || (end > 0 && !endsLikeIndex(tail.subarray(0, end), tar.size))) return index;
  }
}

/** Returns the data of the last index header whose data reaches exactly to the end of the tar's content. */
function findIndex(tail: Uint8Array, end: number): Uint8Array | undefined {
  for (let at = Math.floor((end - 1) / blockBytes) * blockBytes; at >= 0; at -= blockBytes) {
    // A cheap test first, because this loop checks every block of an index of several megabytes.
    if (tail[at] !== 0x61 && tail[at] !== 0x2e) continue;
    const header = parseTarHeader(tail.subarray(at, at + blockBytes));
    if (header?.type !== '0' || normalisePath(header.name) !== indexName) continue;
    const data = at + blockBytes;
    const isLast = data + header.size <= tail.length && end <= data + paddedToBlock(header.size);
    return isLast ? tail.subarray(data, data + header.size) : undefined;
  }
  return undefined;
}

function contentEnd(tail: Uint8Array): number {
  let end = tail.length;
  while (end > 0 && tail[end - 1] === 0) end--;
  return end;
}

/** Whether text can be the end of an index: offsets in an index are multiples of the block size. */
function endsLikeIndex(content: Uint8Array, tarSize: number): boolean {
  // The last line may be long: a signature has 6,618 characters.
  const text = new TextDecoder().decode(content.subarray(-16_384)).trimEnd();
  const [, offset, size] = / (\d+) (\d+)(?: [0-9a-f]{64} [0-9a-f]+)?$/i.exec(text) ?? [];
  if (offset === undefined) return /^[0-9a-f ]+$/i.test(text);
  return (
    Number(offset) % blockBytes === 0 && refusalOfRange(Number(offset), Number(size), tarSize) === undefined
  );
}

const line = /^(.+) (-?\d+) (-?\d+)(?: ([0-9a-f]{64}) ([0-9a-f]+))?$/is;

/**
 * Parses index lines `path offset size [xorname signature]`. The regular expression matches from the right, because
 * paths may contain blanks.
 * @param tarSize entries that reach past the tar's end are refused.
 * @param withSignatures whether entries get their signatures, which need much more memory than the rest.
 * @throws AntwayError `TOO_LARGE` for more than 100,000 entries.
 */
export function parseIndex(index: Uint8Array, tarSize: number, withSignatures = false): ParsedIndex {
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
    else if (path !== indexName) {
      const [, , , , xorname, signature] = match;
      const isSigned = withSignatures && xorname && signature;
      entries.set(path, { path, offset, size, ...(isSigned && { signature: { xorname, signature } }) });
    }
  }
  dropFolders(entries);
  return { entries, refused };
}

/** `tarindexer` writes a line for each folder, with a size of 0 and without a slash. */
function dropFolders(entries: Map<string, IndexEntry>): void {
  for (const path of [...entries.keys()]) {
    for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
      const folder = path.slice(0, slash);
      if (entries.get(folder)?.size === 0) entries.delete(folder);
    }
  }
}

function refusalOfRange(offset: number, size: number, tarSize: number): string | undefined {
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(size)) return 'its offset or size is absurd';
  if (offset < 0 || size < 0) return 'its offset or size is negative';
  if (offset + size > tarSize) return 'it lies outside the archive';
  return undefined;
}
