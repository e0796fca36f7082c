import { Address } from '../../address.ts';

/** A file or folder of this gateway that a reader shows. */
export interface ReaderLocation {
  /** The first segment of the URL: an address (64 hex digits) or a name of this gateway. */
  root: string;
  /** The path, not encoded. A folder ends with a slash, and `''` is the root folder. Undefined for the address itself. */
  path: string | undefined;
}

const prefix = 'read=';

/** Whether a fragment, without its `#`, belongs to the readers. It says nothing about the rest of the fragment. */
export function isReaderFragment(fragment: string): boolean {
  return fragment.startsWith(prefix);
}

/**
 * Parses a fragment such as `read=<address>/docs/a%20b.md`. Any page can link here, so the path has to be a path that an
 * archive can contain.
 * @returns undefined if the fragment has no such path.
 */
export function parseReaderFragment(fragment: string): ReaderLocation | undefined {
  if (!isReaderFragment(fragment)) return undefined;
  const [root = '', ...encoded] = fragment.slice(prefix.length).split('/');
  if (!/^[A-Za-z\d][\w.-]{0,99}$/.test(root)) return undefined;
  if (encoded.length === 0) return { root: normalised(root), path: undefined };
  const segments: string[] = [];
  for (const segment of encoded) {
    const decoded = decodeSegment(segment);
    if (decoded === undefined) return undefined;
    segments.push(decoded);
  }
  return { root: normalised(root), path: segments.join('/') };
}

function normalised(root: string): string {
  return Address.isHex(root) ? root.toLowerCase() : root;
}

function decodeSegment(encoded: string): string | undefined {
  try {
    const segment = decodeURIComponent(encoded);
    return /[/\0]/.test(segment) || segment === '.' || segment === '..' ? undefined : segment;
  } catch {
    return undefined;
  }
}

function encode({ root, path }: ReaderLocation): string {
  if (path === undefined) return root;
  return `${root}/${path.split('/').map(encodeURIComponent).join('/')}`;
}

/** The URL of the screen that reads a file or folder. */
export function readerHref(location: ReaderLocation): string {
  return `/#${prefix}${encode(location)}`;
}

/** The content's own URL, below this origin. */
export function contentHref(location: ReaderLocation, query = ''): string {
  return `/${encode(location)}${query && `?${query}`}`;
}

/** Parses a content path of this gateway, such as the path of a site in the library. */
export function locationOfPath(pathname: string): ReaderLocation | undefined {
  return parseReaderFragment(prefix + pathname.replace(/[?#].*$/s, '').replace(/^\//, ''));
}

/** The last segment of the path, without a slash. Empty for a root folder, and for an address without a path. */
export function nameOf({ path = '' }: ReaderLocation): string {
  return path.replace(/\/$/, '').replace(/^.*\//s, '');
}

/** The folder that contains a file or folder. Undefined for a root. */
export function parentOf({ root, path }: ReaderLocation): ReaderLocation | undefined {
  if (!path) return undefined;
  return { root, path: path.replace(/[^/]*\/?$/, '') };
}
