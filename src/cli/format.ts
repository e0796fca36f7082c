import { byteFormat } from '../util/byte-format.ts';
import { replaceDisruptive } from '../util/sanitize-text.ts';

const escapeSequence = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Makes text from content, peers or file names safe to print on one line of a terminal. Escape becomes `\u001b`. */
export function printable(text: string): string {
  return replaceDisruptive(text, escapeSequence);
}

/**
 * Makes JSON safe to print. `JSON.stringify` has already escaped line breaks in strings, so the other line breaks stay.
 */
export function printableJson(json: string): string {
  return replaceDisruptive(json, (character) => (character < ' ' ? character : escapeSequence(character)));
}

const decimal = byteFormat('en', 'one');

/** Formats a number of bytes for the user: `1 byte`, `12.3 MB` (powers of 1000). */
export function formatBytes(bytes: number): string {
  return bytes < 1000 ? plural(bytes, 'byte') : decimal(bytes);
}

export function plural(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}
