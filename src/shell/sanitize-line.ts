import { replaceDisruptive } from '../util/sanitize-text.ts';

/** A stranger's title as one line. */
export function sanitizeLine(text: string): string {
  return replaceDisruptive(text, ' ').trim();
}
