import { limits } from '../../limits.ts';
import type { PrefetchRange } from '../../peers/transports/protocol.ts';

/** Bytes `start` up to `end` (not included) of a representation. */
export interface ByteRange {
  start: number;
  end: number;
}

const singleRange = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * What a `Range` header asks for before the size is known: enough to fetch it ahead, not to answer it.
 * @returns undefined when it does not ask for one range. A range without an end is taken to begin only.
 */
export function requestedPart(header: string): PrefetchRange | undefined {
  const [, first = '', last = ''] = singleRange.exec(header) ?? [];
  if (first === '') return Number(last) > 0 ? { last: Math.min(Number(last), limits.openBytes) } : undefined;
  const start = Number(first);
  const length = last === '' ? limits.openBytes : Number(last) - start + 1;
  if (!Number.isSafeInteger(start) || length < 1) return undefined;
  return { start, length: Math.min(length, limits.openBytes) };
}

/**
 * Reads a `Range` header (RFC 9110, section 14).
 *
 * @param size of the representation, in bytes.
 * @returns the range, clamped to the representation; `'unsatisfiable'` when it begins past the end; undefined
 *   when the header is absent, malformed, of another unit, or asks for several ranges, or for the last bytes of
 *   nothing, which no partial answer can say: then the whole is sent.
 */
export function parseRange(header: string | null, size: number): ByteRange | 'unsatisfiable' | undefined {
  const match = singleRange.exec(header ?? '');
  if (!match) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return undefined;
    const length = Number(last);
    if (length === 0) return 'unsatisfiable';
    return size === 0 ? undefined : { start: Math.max(size - length, 0), end: size };
  }
  const start = Number(first);
  const end = last === '' ? size : Number(last) + 1;
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end: Math.min(end, size) };
}
