import * as v from 'valibot';
import { hexAddress } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import * as s from '../schema.ts';
import { sanitizeText } from '../util/sanitize-text.ts';
import { type LeftName, mergeNames } from './name-changes.ts';

/** A list of names, as its owner publishes it. */
export interface NameList {
  /** A text of a stranger. Empty if the list has none. */
  title: string;
  /** Name → address, 64 hex digits in lower case. */
  names: Record<string, string>;
}

const version = 1;
const mostTitleCharacters = 100;

const listSchema = s.strictObject({
  antwayNames: v.literal(version, 'it must be 1, the version of the format'),
  title: v.optional(v.string(), ''),
  names: s.record(v.string(), v.pipe(hexAddress, v.toLowerCase())),
});

/**
 * Parses a list of names. The author is a stranger.
 * @param bytes JSON in UTF-8.
 * @returns the list, and the names that it cannot have: invalid ones, and those that look like an earlier one.
 * @throws AntwayError `TOO_LARGE`, or `UNSUPPORTED` with the wrong part in `details.key`.
 */
export function parseNameList(bytes: Uint8Array): NameList & { left: LeftName[] } {
  if (bytes.length > limits.listBytes) {
    throw new AntwayError(
      'TOO_LARGE',
      `A list of names has at most ${limits.listBytes} bytes, not ${bytes.length}.`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new AntwayError('UNSUPPORTED', 'The list of names is not JSON in UTF-8.', {}, { cause });
  }
  checkCount(Object.keys(Object(Object(value).names)).length);
  const list = s.parse(listSchema, value, 'UNSUPPORTED', 'The list of names');
  const { names, left } = mergeNames({}, list.names);
  return { title: sanitizeText(list.title, mostTitleCharacters), names, left };
}

/**
 * Writes a list of names: the same names in any order give the same bytes.
 * @throws AntwayError `BAD_CONFIG` for a name that a reader would leave out, or `TOO_LARGE`.
 */
export function encodeNameList({ title, names }: NameList): Uint8Array<ArrayBuffer> {
  const [wrong] = mergeNames({}, names).left;
  if (wrong) throw new AntwayError('BAD_CONFIG', `“${wrong.name}”: ${wrong.reason}`, { key: wrong.name });
  const sorted = Object.entries(names).sort(([a], [b]) => (a < b ? -1 : 1));
  checkCount(sorted.length);
  const list = {
    antwayNames: version,
    ...(title && { title: sanitizeText(title, mostTitleCharacters) }),
    names: Object.fromEntries(sorted),
  };
  const bytes = new TextEncoder().encode(`${JSON.stringify(list, null, 1)}\n`);
  parseNameList(bytes);
  return bytes;
}

/** @throws AntwayError `TOO_LARGE`. */
function checkCount(count: number): void {
  if (count <= limits.listedNames) return;
  throw new AntwayError('TOO_LARGE', `A list has at most ${limits.listedNames} names, not ${count}.`);
}
