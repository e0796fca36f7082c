import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';

export const indexName = 'archive.tar.idx';
/** The member with the public key of an archive's signatures. */
export const keyName = 'archive.tar.key';

/** Removes `./`, which `tar` writes if it is given a folder as `.`: URLs cannot name it. */
export function normalisePath(path: string): string {
  return path.replace(/(?<=^|\/)(\.\/)+/g, '');
}

export const pathTooLong = 'its path is too long';

/** Returns why readers refuse a path; undefined if they accept it. */
export function refusalOfPath(path: string): string | undefined {
  if (path === '' || /(^|\/)\.?$/.test(path)) return 'it names no file';
  if (path.length > limits.pathCharacters) return pathTooLong;
  if (path.startsWith('/')) return 'its path is absolute';
  if (path.includes('\0')) return 'its path holds a NUL';
  if (path.split('/').includes('..')) return 'its path leads out of the archive';
  return undefined;
}

/** Returns the path in NFC, as a new tarchive stores it. Stricter than readers. @throws AntwayError `UNSUPPORTED`. */
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
