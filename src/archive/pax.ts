import { limits } from '../limits.ts';
import { readText } from './tar-header.ts';

const readKeys = ['path', 'size', 'mtime'] as const;

/** The records that are read. Other records are dropped, because global ones would accumulate. */
export type PaxRecords = Partial<Record<(typeof readKeys)[number], string>>;

/** A path that is cut here is still longer than a path may be. */
export const mostPathBytes = 4 * (limits.pathCharacters + 1);
const mostRecordBytes = 'path='.length + mostPathBytes;

/** Parses the records `<length> <key>=<value>\n`. The length includes the whole record. */
export function parsePax(data: Uint8Array): PaxRecords {
  const records: PaxRecords = {};
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(0x20, at);
    const length = Number(readText(data, at, Math.max(space - at, 0)));
    if (space < 0 || !Number.isInteger(length) || length <= space - at || at + length > data.length) break;
    const record = readText(data, space + 1, Math.min(at + length - 1 - space - 1, mostRecordBytes));
    const key = readKeys.find((key) => record.startsWith(`${key}=`));
    if (key) records[key] = record.slice(key.length + 1);
    at += length;
  }
  return records;
}

export function encodePax(records: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = encoder.encode(` ${key}=${value}\n`).length;
    // The length counts its own digits, which can add a digit.
    const length = rest + String(rest + String(rest).length).length;
    return `${length} ${key}=${value}\n`;
  });
  return encoder.encode(lines.join(''));
}
