import { replaceDisruptive } from '../util/plain-text.ts';

/** A stranger's title as one line. */
export function plainLine(text: string): string {
  return replaceDisruptive(text, ' ').trim();
}
