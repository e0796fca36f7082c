import { replaceDisruptive } from '../util/sanitize-text.ts';

const mostCharacters = 100;

/**
 * Returns the last segment of a path as the name of a new file in the current folder. Names come from strangers: the
 * result has no separator, no control character and no dot at its start, and no option can begin like it.
 * @returns undefined if nothing is left.
 */
export function sanitizeFilename(path: string): string | undefined {
  const last = path.split(/[/\\]/).findLast((segment) => segment !== '') ?? '';
  const plain = replaceDisruptive(last, '')
    .replace(/[<>:"|?*]/g, '')
    .replace(/^[.\-\s]+/, '')
    .replace(/[.\s]+$/, '');
  return Array.from(plain).slice(0, mostCharacters).join('') || undefined;
}
