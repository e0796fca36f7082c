import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';

/** Name of the member that lists all others; always the last one. */
export const indexName = 'archive.tar.idx';

/** Removes `./`, which `tar` writes if it is given a folder as `.`: URLs cannot name it. */
export function normalisePath(path: string): string {
  return path.replace(/(?<=^|\/)(\.\/)+/g, '');
}

/** Returns why a path cannot be the path of a member that is read; undefined if it can. */
export function refusalOfPath(path: string): string | undefined {
  if (path === '' || /(^|\/)\.?$/.test(path)) return 'it names no file';
  if (path.length > limits.pathCharacters) return 'its path is too long';
  if (path.startsWith('/')) return 'its path is absolute';
  if (path.includes('\0')) return 'its path holds a NUL';
  if (path.split('/').includes('..')) return 'its path leads out of the archive';
  return undefined;
}

/**
 * Returns a path in the form that a new tarchive stores: in Unicode NFC. The rules are stricter than those of readers.
 * @throws AntwayError `UNSUPPORTED` with the reason.
 */
export function checkedPath(path: string): string {
  const normal = path.normalize('NFC');
  const segments = normal.split('/');
  let why: string | undefined;
  if (normal === '') why = 'it is empty';
  else if (normal.startsWith('/')) why = 'it starts with “/”';
  // The index is parsed line by line.
  else if (/[\0\n\r]/.test(normal)) why = 'it holds a NUL or a line break';
  else if (segments.includes('..') || segments.includes('.')) why = 'it has a “.” or “..” segment';
  else if (segments.includes('')) why = 'it has an empty segment';
  else if (normal === indexName) why = 'the archive’s own index has this name';
  else if (new TextDecoder().decode(new TextEncoder().encode(normal)) !== normal) why = 'it is not Unicode';
  if (why) {
    throw new AntwayError('UNSUPPORTED', `${JSON.stringify(path)} cannot be a path in an archive: ${why}.`, {
      path,
    });
  }
  return normal;
}
