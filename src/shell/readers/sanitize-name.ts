import { replaceDisruptive } from '../../util/sanitize-text.ts';

/** A stranger's name for the screen: characters that could disguise the name are replaced. */
export function sanitizeName(name: string): string {
  return replaceDisruptive(name, '\ufffd');
}

/** The code point of a character, as in `U+202E`. */
export function codePointName(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
}
