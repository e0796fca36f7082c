import { replaceDisruptive } from '../util/plain-text.ts';

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

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** Formats a number of bytes for the user: `1 byte`, `12.3 MB` (powers of 1000). */
export function formatBytes(bytes: number): string {
  if (bytes === 1) return '1 byte';
  let value = bytes;
  let unit = 0;
  // From 999.95 on, one decimal place would show 1000.0.
  while (value >= (unit === 0 ? 1000 : 999.95) && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

export function plural(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}
