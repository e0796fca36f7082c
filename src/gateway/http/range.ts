import { limits } from '../../limits.ts';
import type { FileRange } from '../../peers/transports/protocol.ts';

/** From `start` to `end` (exclusive). */
export interface ByteRange {
  start: number;
  end: number;
}

const singleRange = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * Parses a `Range` header before the size is known. The result is exact enough for a prefetch, not for a response.
 * @returns undefined unless the header requests one range. A range without an end gives only its first bytes
 *   (`limits.prefetchBytes`).
 */
export function requestedPart(header: string): FileRange | undefined {
  const [, first = '', last = ''] = singleRange.exec(header) ?? [];
  if (first === '')
    return Number(last) > 0 ? { last: Math.min(Number(last), limits.prefetchBytes) } : undefined;
  const start = Number(first);
  const length = last === '' ? limits.prefetchBytes : Number(last) - start + 1;
  if (!Number.isSafeInteger(start) || length < 1) return undefined;
  return { start, length: Math.min(length, limits.prefetchBytes) };
}

/**
 * Parses a `Range` header (RFC 9110, section 14).
 * @param size size of the representation, in bytes.
 * @returns the range, clamped to the representation; `'unsatisfiable'` if the range begins past the end; undefined if
 *   the response must contain the whole representation: the header is absent or malformed, has another unit, requests
 *   several ranges, or the representation is empty. Clients that only limit the size of the answer do not expect an error
 *   for an empty file.
 */
export function parseRange(header: string | null, size: number): ByteRange | 'unsatisfiable' | undefined {
  const match = singleRange.exec(header ?? '');
  if (!match || size === 0) return undefined;
  const [, first = '', last = ''] = match;
  if (first === '') {
    if (last === '') return undefined;
    const length = Number(last);
    return length === 0 ? 'unsatisfiable' : { start: Math.max(size - length, 0), end: size };
  }
  const start = Number(first);
  const end = last === '' ? size : Number(last) + 1;
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end: Math.min(end, size) };
}
