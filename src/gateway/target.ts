import { Address } from '../address.ts';
import type { Config } from '../config.ts';
import { AntwayError } from '../errors.ts';

/** Path of Antway's own endpoints in the worker. */
export const internalPrefix = '/-/';

/** What a URL of the gateway's origin asks for. */
export type Target =
  | { kind: 'content'; content: ContentTarget }
  /** One of Antway's own endpoints; `name` is what follows `/-/`. */
  | { kind: 'internal'; name: string }
  /** Not ours: the shell, its assets, or nothing. */
  | { kind: 'other' };

export interface ContentTarget {
  address: Address;
  /** The alias in the URL, when the address came through one. */
  name?: string;
  /** The URL's path up to and without the slash after address or name, still encoded. */
  root: string;
  /** What follows that slash, decoded; undefined when there is no slash at all. */
  path: string | undefined;
  query: URLSearchParams;
}

/**
 * Reads a URL of the gateway's origin.
 *
 * @throws AntwayError `BAD_ADDRESS` for what was meant as an address and is none, and for a path that no
 *   archive can hold (encoded slashes, NUL, `..`, bad percent-encoding).
 */
export function parseTarget(url: URL, names: Config['names']): Target {
  if (url.pathname.startsWith(internalPrefix)) {
    return { kind: 'internal', name: url.pathname.slice(internalPrefix.length) };
  }
  const [, first = '', rest] = /^\/([^/]*)(?:\/(.*))?$/s.exec(url.pathname) ?? [];
  const named = names.get(safelyDecoded(first));
  if (!named && !looksLikeAddress(first)) return { kind: 'other' };
  const content: ContentTarget = {
    address: named ?? Address.fromHex(first),
    root: `/${first}`,
    path: rest === undefined ? undefined : decodePath(rest),
    query: url.searchParams,
  };
  if (named) content.name = safelyDecoded(first);
  return { kind: 'content', content };
}

/** Hex of about the right length is a mistyped address, and deserves to be told so. */
function looksLikeAddress(segment: string): boolean {
  return /^[0-9a-f]{48,96}$/i.test(segment) || /^0x[0-9a-f]{48,96}$/i.test(segment);
}

function safelyDecoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/**
 * Decodes a path segment by segment: an encoded slash is part of a name and not a separator, and no member's
 * name holds one.
 */
function decodePath(encoded: string): string {
  return encoded.split('/').map(decodeSegment).join('/');
}

function decodeSegment(encoded: string): string {
  let segment: string;
  try {
    segment = decodeURIComponent(encoded);
  } catch {
    throw new AntwayError('BAD_ADDRESS', `“${encoded}” is not a valid percent-encoding.`);
  }
  if (segment.includes('/') || segment.includes('\0') || segment === '..') {
    throw new AntwayError(
      'BAD_ADDRESS',
      `“${encoded}” cannot be part of a path: no name holds a slash, a NUL or “..”.`,
    );
  }
  return segment;
}

/** A decoded path as it is written in a URL. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
