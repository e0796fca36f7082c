import { limits } from '../limits.ts';
import type { ByteSource } from './byte-source.ts';

/** Size of a tar block, in bytes. */
export const blockBytes = 512;

/** The fields of one tar header (ustar, GNU, v7). `scanTar` applies pax and GNU long names. */
export interface TarHeader {
  name: string;
  /** Bytes of data that follow the header. */
  size: number;
  /** Type flag character; `'0'` for files (also written `'\0'` or `'7'`). */
  type: string;
  /** Seconds since 1970. */
  modified: number;
}

/** @returns undefined if the block's checksum does not match: an all-zero block, or no header at all. */
export function parseTarHeader(block: Uint8Array): TarHeader | undefined {
  if (block.length < blockBytes || !hasChecksum(block)) return undefined;
  const size = readNumber(block, 124, 12);
  if (size === undefined) return undefined;
  const flag = String.fromCharCode(block[156]!);
  const isUstar = readText(block, 257, 5) === 'ustar';
  // GNU headers store other fields in place of the ustar prefix. Their magic is "ustar " with a blank.
  const prefix = isUstar && block[262] === 0 ? readText(block, 345, 155) : '';
  const name = readText(block, 0, 100);
  return {
    name: prefix ? `${prefix}/${name}` : name,
    size,
    type: flag === '\0' || flag === '7' ? '0' : flag,
    modified: readNumber(block, 136, 12) ?? 0,
  };
}

/** A file found by reading a tar's headers one after the other. */
export interface ScannedMember {
  path: string;
  /** Position of its data in the tar. */
  offset: number;
  size: number;
  /** Seconds since 1970. */
  modified: number;
}

/** The result of a scan. `damage` says why it ended before the tar's end, if it did. */
export interface TarScan {
  members: ScannedMember[];
  damage?: string;
}

/**
 * Lists a tar's files by its headers, without reading data: ranged reads of 512 bytes, plus pax and GNU long names.
 * Links, devices and folders are left out.
 *
 * @param maxMembers the scan stops after this many members and sets `damage`.
 */
export async function scanTar(tar: ByteSource, maxMembers: number, signal?: AbortSignal): Promise<TarScan> {
  const members: ScannedMember[] = [];
  let global: PaxRecords = {};
  let local: PaxRecords = {};
  let longName: string | undefined;
  for (let at = 0, headers = 1; at + blockBytes <= tar.size; headers++) {
    if (headers > limits.tarHeaders)
      return { members, damage: `it has more than ${limits.tarHeaders} headers` };
    const block = await tar.read(at, at + blockBytes, signal);
    if (block.every((byte) => byte === 0)) return { members };
    const header = parseTarHeader(block);
    if (!header) return { members, damage: `there is no valid tar header at byte ${at}` };
    const offset = at + blockBytes;
    const size = header.type === '0' ? (paxSize(local) ?? paxSize(global) ?? header.size) : header.size;
    if (offset + size > tar.size)
      return { members, damage: `“${header.name}” reaches past the end of the file` };
    at = offset + Math.ceil(size / blockBytes) * blockBytes;

    if ('xgL'.includes(header.type)) {
      if (size > limits.tarMetadataBytes)
        return { members, damage: `a header at byte ${offset} is too long` };
      const data = await tar.read(offset, offset + size, signal);
      if (header.type === 'x') local = parsePax(data);
      else if (header.type === 'g') global = { ...global, ...parsePax(data) };
      else longName = readText(data, 0, data.length);
      continue;
    }
    if (header.type === '0') {
      if (members.length === maxMembers) return { members, damage: `it has more than ${maxMembers} files` };
      const path = local.path ?? longName ?? global.path ?? header.name;
      members.push({ path, offset, size, modified: Math.floor(Number(local.mtime ?? header.modified)) || 0 });
    }
    local = {};
    longName = undefined;
  }
  return { members };
}

const paxKeys = ['path', 'size', 'mtime'] as const;

/** The records that are used here. Other records are dropped, because global ones would accumulate. */
type PaxRecords = Partial<Record<(typeof paxKeys)[number], string>>;

function paxSize({ size }: PaxRecords): number | undefined {
  return size !== undefined && /^\d{1,15}$/.test(size) ? Number(size) : undefined;
}

/** Parses a pax extended header: records of `<length> <key>=<value>\n`. The length includes the whole record. */
function parsePax(data: Uint8Array): PaxRecords {
  const records: PaxRecords = {};
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(0x20, at);
    const length = Number(readText(data, at, Math.max(space - at, 0)));
    if (space < 0 || !Number.isInteger(length) || length <= space - at || at + length > data.length) break;
    const record = new TextDecoder().decode(data.subarray(space + 1, at + length - 1));
    const key = paxKeys.find((key) => record.startsWith(`${key}=`));
    if (key) records[key] = record.slice(key.length + 1);
    at += length;
  }
  return records;
}

/** Checks the header's checksum: the sum of its bytes, with the checksum field counted as blanks. */
function hasChecksum(block: Uint8Array): boolean {
  let sum = 8 * 0x20;
  for (let i = 0; i < blockBytes; i++) if (i < 148 || i >= 156) sum += block[i]!;
  return readNumber(block, 148, 8) === sum && sum > 8 * 0x20;
}

/** Reads octal text, or GNU's base-256 if the first bit is set. */
function readNumber(block: Uint8Array, offset: number, length: number): number | undefined {
  if (block[offset]! & 0x80) {
    let value = block[offset]! & 0x7f;
    for (let i = offset + 1; i < offset + length; i++) value = value * 256 + block[i]!;
    return Number.isSafeInteger(value) ? value : undefined;
  }
  const text = readText(block, offset, length).trim();
  return /^[0-7]*$/.test(text) ? Number.parseInt(text || '0', 8) : undefined;
}

function readText(block: Uint8Array, offset: number, length: number): string {
  const field = block.subarray(offset, offset + length);
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
}
