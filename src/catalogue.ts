import * as v from 'valibot';
import { hexAddress } from './address.ts';
import { AntwayError } from './errors.ts';
import { limits } from './limits.ts';
import * as s from './schema.ts';
import type { CatalogueEntry } from './server-config.ts';

/**
 * One line of text. Refuses control characters, line separators and the characters that change the direction of the
 * text after them: a title must not change how the text around it reads.
 */
function line(most: number) {
  const characters = '[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]';
  return s.pattern(
    new RegExp(`^(?=.*[^\\s])${characters}{1,${most}}$`),
    `it must be one line of 1 to ${most} characters, without control characters`,
  );
}

/** The title of a list, which its user or the host chooses. */
export const listTitle = line(60);

/** A path that no URL parser changes: without `..`, escapes, a query or a fragment. */
const filePath = s.pattern(
  /^(?!.*(^|\/)\.{1,2}(\/|$))[A-Za-z0-9._~+@-]{1,100}(\/[A-Za-z0-9._~+@-]{1,100}){0,9}$/,
  'it must be the path of a file in the site: letters, digits and ._~+@-, with slashes between them',
);

export const catalogueEntry: s.Schema<CatalogueEntry> = s.strictObject({
  title: line(100),
  address: hexAddress,
  description: v.optional(line(300)),
  icon: v.optional(filePath),
  cover: v.optional(filePath),
});

const list = s.list(catalogueEntry, limits.listEntries);

/**
 * Parses a list of sites. A list is used whole or not at all.
 * @param bytes JSON, at most `limits.listBytes`.
 * @throws AntwayError `TOO_LARGE`, or `UNSUPPORTED` with the wrong part in `details.key`.
 */
export function parseSiteList(bytes: Uint8Array): CatalogueEntry[] {
  checkListSize(bytes.length);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new AntwayError('UNSUPPORTED', 'The list of sites is not JSON in UTF-8.', {}, { cause });
  }
  return s.parse(list, value, 'UNSUPPORTED', 'The list of sites');
}

/** @throws AntwayError `TOO_LARGE`. */
export function checkListSize(bytes: number): void {
  if (bytes <= limits.listBytes) return;
  throw new AntwayError('TOO_LARGE', `A list has at most ${limits.listBytes} bytes, not ${bytes}.`);
}
