import { sha3_256 } from '@noble/hashes/sha3.js';
import type { Locator, Page } from '@playwright/test';
import { toHex } from '../../src/address.ts';
import type { OwnerKey } from '../../src/owner/owner-key.ts';
import { type Line, makeTarchive } from './tarchive.ts';

const utf8 = new TextEncoder();

/** The file `archive.tar.key` of a signer. */
export const keyFileOf = (key: OwnerKey) => `${toHex(key.publicKey)}\n`;

/** The last two fields of a line: a signature of a text. */
export function signatureFields(key: OwnerKey, text: string): string {
  const xorname = sha3_256(utf8.encode(text));
  return ` ${toHex(xorname)} ${toHex(key.signContent(xorname))}`;
}

/** A tarchive with any fields at the ends of its lines. */
export async function tarWithFields(
  files: Record<string, string>,
  fieldsOf: (path: string) => string,
): Promise<Buffer> {
  return makeTarchive(files, (lines: readonly Line[]) =>
    lines.map(({ path, offset, size }) => `${path} ${offset} ${size}${fieldsOf(path)}\n`).join(''),
  );
}

/** A file in the viewer's list. */
export const listedFile = (page: Page, name: string): Locator =>
  page.locator('.file-list li').filter({ has: page.getByRole('link', { name, exact: true }) });
