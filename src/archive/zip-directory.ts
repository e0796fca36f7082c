import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { RandomAccess } from '../util/random-access.ts';
import { normalisePath, refusalOfPath } from './member-path.ts';
import type { RefusedEntry } from './tar-index.ts';

export interface ZipMember {
  path: string;
  /** Seconds since 1970. */
  modified: number;
  /** In bytes, without compression. */
  size: number;
  compressedSize: number;
  /** 0: stored, 8: deflated. Other methods cannot be read. */
  method: number;
  isEncrypted: boolean;
  headerOffset: number;
  /** As the directory spells it. */
  name: Uint8Array;
}

export interface ZipDirectory {
  members: ZipMember[];
  refused: RefusedEntry[];
  /** Where the members' data ends and the directory begins. */
  start: number;
}

const signature = {
  local: 0x04034b50,
  entry: 0x02014b50,
  end: 0x06054b50,
  end64: 0x06064b50,
  locator64: 0x07064b50,
};
const endBytes = 22;
const locatorBytes = 20;
const end64Bytes = 56;
export const localHeaderBytes = 30;
const longestComment = 0xffff;
/** Deflate cannot make bytes smaller than this share. */
const mostInflation = 1_032;

/** The upper half of code page 437, in which programs without Unicode write names. */
const codePage437 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0';

/** Whether a file begins like a ZIP. @param start its first bytes. */
export function isZip(start: Uint8Array): boolean {
  return start.length >= 4 && viewOf(start).getUint32(0, true) === signature.local;
}

/** Whether bytes are the local header of a member. */
export function isLocalHeader(header: DataView): boolean {
  return header.getUint32(0, true) === signature.local;
}

/**
 * Reads the central directory (PKWARE APPNOTE 6.3, with ZIP64). Refuses entries that lie outside of the file, overlap,
 * or repeat a path.
 * @throws AntwayError `CORRUPT`; `UNSUPPORTED` for a ZIP in several files; `TOO_LARGE` past the limits of an archive.
 */
export async function readZipDirectory(zip: RandomAccess, signal?: AbortSignal): Promise<ZipDirectory> {
  const { start, size, count } = await findDirectory(zip, signal);
  if (count > limits.archiveEntries || size > limits.indexBytes) {
    throw new AntwayError('TOO_LARGE', `The ZIP has more than ${limits.archiveEntries} members.`);
  }
  const bytes = await zip.read(start, start + size, signal);
  const directory: ZipDirectory = { members: [], refused: [], start };
  const paths = new Set<string>();
  let at = 0;
  for (let i = 0; i < count; i++) {
    const { member, end, isLink } = readEntry(bytes, at);
    at = end;
    if (member.path.endsWith('/')) continue; // a folder
    const reason = paths.has(member.path)
      ? 'the archive has its path twice'
      : refusalOf(member, isLink, start);
    if (reason) directory.refused.push({ path: member.path, reason });
    else directory.members.push(member);
    paths.add(member.path);
  }
  refuseOverlaps(directory);
  return directory;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function corrupt(why: string): AntwayError {
  return new AntwayError('CORRUPT', `The ZIP is damaged: ${why}.`);
}

async function findDirectory(zip: RandomAccess, signal?: AbortSignal) {
  const tailStart = Math.max(zip.size - endBytes - longestComment, 0);
  const tail = viewOf(await zip.read(tailStart, zip.size, signal));
  let at = tail.byteLength - endBytes;
  // The comment reaches to the end. Otherwise, this signature is a part of a comment.
  const isEnd = () =>
    tail.getUint32(at, true) === signature.end &&
    at + endBytes + tail.getUint16(at + 20, true) === tail.byteLength;
  while (at >= 0 && !isEnd()) at--;
  if (at < 0) throw corrupt('it has no directory');
  const end = tailStart + at;
  let found = {
    disks: tail.getUint32(at + 4, true),
    count: tail.getUint16(at + 10, true),
    size: tail.getUint32(at + 12, true),
    start: tail.getUint32(at + 16, true),
  };
  const needs64 = found.count === 0xffff || found.size === 0xffffffff || found.start === 0xffffffff;
  if (needs64) found = (await findDirectory64(zip, end, signal)) ?? found;
  if (found.disks !== 0) throw new AntwayError('UNSUPPORTED', 'The ZIP is one of several parts.');
  if (!(found.start + found.size <= end)) throw corrupt('its directory lies outside of it');
  return found;
}

/** @returns undefined without a locator: the values are what they are. */
async function findDirectory64(zip: RandomAccess, end: number, signal?: AbortSignal) {
  if (end < locatorBytes + end64Bytes) return undefined;
  const locator = viewOf(await zip.read(end - locatorBytes, end, signal));
  if (locator.getUint32(0, true) !== signature.locator64) return undefined;
  const at = readUint64(locator, 8);
  if (!(at + end64Bytes <= end)) throw corrupt('its directory lies outside of it');
  const record = viewOf(await zip.read(at, at + end64Bytes, signal));
  if (record.getUint32(0, true) !== signature.end64) throw corrupt('it has no directory');
  return {
    disks: record.getUint32(16, true) || record.getUint32(20, true),
    count: readUint64(record, 32),
    size: readUint64(record, 40),
    start: readUint64(record, 48),
  };
}

/** @returns Infinity for values that are no safe integers. */
function readUint64(view: DataView, at: number): number {
  const value = Number(view.getBigUint64(at, true));
  return Number.isSafeInteger(value) ? value : Number.POSITIVE_INFINITY;
}

function readEntry(bytes: Uint8Array, at: number): { member: ZipMember; end: number; isLink: boolean } {
  const entry = viewOf(bytes.subarray(at));
  if (entry.byteLength < 46 || entry.getUint32(0, true) !== signature.entry)
    throw corrupt('its directory ends early');
  const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) =>
    entry.getUint16(field, true),
  ) as [number, number, number];
  const end = at + 46 + nameLength + extraLength + commentLength;
  if (end > bytes.length) throw corrupt('its directory ends early');
  // A copy, because a view would keep the whole directory in memory.
  const name = new Uint8Array(bytes.subarray(at + 46, at + 46 + nameLength));
  const extra = viewOf(bytes.subarray(at + 46 + nameLength, end - commentLength));
  const [size, compressedSize, headerOffset] = withZip64(
    [24, 20, 42].map((field) => entry.getUint32(field, true)),
    extra,
  ) as [number, number, number];
  const flags = entry.getUint16(8, true);
  // Some programs of Windows separate folders by backslashes.
  const path = normalisePath(decodeName(name, (flags & 0x800) !== 0).replaceAll('\\', '/'));
  const member = {
    path,
    modified: readTime(entry.getUint16(12, true), entry.getUint16(14, true)),
    size,
    compressedSize,
    method: entry.getUint16(10, true),
    isEncrypted: (flags & 1) !== 0,
    headerOffset,
    name,
  };
  const isUnix = entry.getUint8(5) === 3;
  const isLink = isUnix && (entry.getUint16(40, true) & 0xf000) === 0xa000;
  return { member, end, isLink };
}

/** The extra field 1 has the values that do not fit into 32 bits, in their order. */
function withZip64(values: number[], extra: DataView): number[] {
  for (let at = 0; at + 4 <= extra.byteLength; at += 4 + extra.getUint16(at + 2, true)) {
    if (extra.getUint16(at, true) !== 1) continue;
    let next = at + 4;
    const end = Math.min(next + extra.getUint16(at + 2, true), extra.byteLength);
    return values.map((value) => {
      if (value !== 0xffffffff || next + 8 > end) return value;
      next += 8;
      return readUint64(extra, next - 8);
    });
  }
  return values;
}

function decodeName(name: Uint8Array, isUtf8: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: !isUtf8 }).decode(name);
  } catch {
    return Array.from(name, (byte) =>
      byte < 128 ? String.fromCharCode(byte) : codePage437[byte - 128],
    ).join('');
  }
}

/** DOS has no time zones: its times count as UTC. */
function readTime(time: number, date: number): number {
  const milliseconds = Date.UTC(
    1980 + (date >> 9),
    ((date >> 5) & 15) - 1,
    date & 31,
    time >> 11,
    (time >> 5) & 63,
    2 * (time & 31),
  );
  return date === 0 ? 0 : milliseconds / 1000;
}

function refusalOf(member: ZipMember, isLink: boolean, directoryStart: number): string | undefined {
  const { path, size, compressedSize, method, headerOffset } = member;
  const pathRefusal = refusalOfPath(path);
  if (pathRefusal) return pathRefusal;
  if (isLink) return 'it is a link';
  if (!(endOf(member) <= directoryStart) || headerOffset === Number.POSITIVE_INFINITY)
    return 'its data reaches past the end of the members';
  const isImpossible = method === 0 ? size !== compressedSize : size > mostInflation * compressedSize;
  return isImpossible ? 'its size is impossible' : undefined;
}

/** The end that a member has at least: its local header may have more extra fields. */
function endOf({ headerOffset, name, compressedSize }: ZipMember): number {
  return headerOffset + localHeaderBytes + name.length + compressedSize;
}

/** Members that share data would make a small file expand without bound. */
function refuseOverlaps(directory: ZipDirectory): void {
  let end = 0;
  const overlapping = new Set<ZipMember>();
  for (const member of directory.members.toSorted((a, b) => a.headerOffset - b.headerOffset)) {
    if (member.headerOffset < end) overlapping.add(member);
    else end = endOf(member);
  }
  for (const { path } of overlapping)
    directory.refused.push({ path, reason: 'its data overlaps that of another member' });
  directory.members = directory.members.filter((member) => !overlapping.has(member));
}
