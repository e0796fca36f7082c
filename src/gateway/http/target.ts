import { Address } from '../../address.ts';
import type { Config } from '../../config.ts';
import { AntwayError } from '../../errors.ts';
import type { Deployment } from '../deployment.ts';

/** Path of Antway's own endpoints in the worker, below its base. */
const apiPrefix = '/-/';

/** What a URL of the gateway's origin asks for. */
export type Target =
  | { kind: 'content'; content: ContentTarget }
  /** Content that the isolation mode gives another URL. `content` is how it would be answered here. */
  | { kind: 'redirect'; location: string; isPermanent: boolean; content: ContentTarget }
  /** One of Antway's own endpoints; `name` is what follows `/-/`. */
  | { kind: 'api'; name: string }
  /** Not ours: the shell, its assets, or nothing. */
  | { kind: 'other' };

export interface ContentTarget {
  address: Address;
  /** The alias in the URL, when the address came through one. */
  name?: string;
  /** The URL's path up to and without the slash before `path`, still encoded; empty on a site's own origin. */
  root: string;
  /** What follows that slash, decoded; undefined when there is no slash at all. */
  path: string | undefined;
  query: URLSearchParams;
  /** The query as it stands in the URL, with its question mark; empty when there is none. */
  search: string;
}

/**
 * Reads a URL of this worker's origin: the gateway's, or a site's own. A site that embeds the gateway has one origin, and so
 * one way to isolate.
 *
 * @throws AntwayError `BAD_ADDRESS` for what was meant as an address and is none, and for a path that no
 *   archive can hold (encoded slashes, NUL, `..`, bad percent-encoding).
 */
export function parseTarget(
  url: URL,
  { names, isolation }: Pick<Config, 'names' | 'isolation'>,
  { base, kind, site }: Pick<Deployment, 'base' | 'kind' | 'site'>,
): Target {
  if (!url.pathname.startsWith(base)) return { kind: 'other' };
  const pathname = url.pathname.slice(base.length - 1);
  if (pathname.startsWith(apiPrefix)) {
    return { kind: 'api', name: pathname.slice(apiPrefix.length) };
  }
  if (site) {
    const path = decodePath(url.pathname.slice(1));
    const { address, rootHost } = site;
    const content: ContentTarget = { address, root: '', path, ...queryOf(url) };
    if (isolation !== 'path') return { kind: 'content', content };
    const location = `${url.protocol}//${rootHost}/${address.hex}${url.pathname}${url.search}`;
    return { kind: 'redirect', location, isPermanent: false, content };
  }
  const [, first = '', rest] = /^\/([^/]*)(?:\/(.*))?$/s.exec(pathname) ?? [];
  const named = names.get(safelyDecoded(first));
  if (!named && !looksLikeAddress(first)) return { kind: 'other' };
  const address = named ?? Address.fromHex(first);
  const content: ContentTarget = {
    address,
    root: `${base}${first}`,
    path: rest === undefined ? undefined : decodePath(rest),
    ...queryOf(url),
  };
  if (named) content.name = safelyDecoded(first);
  if (isolation !== 'subdomain' || kind === 'embedded') return { kind: 'content', content };
  const location = `${url.protocol}//${address.base32}.${url.host}/${rest ?? ''}${url.search}`;
  if (!URL.canParse(location)) {
    throw new AntwayError(
      'BAD_CONFIG',
      `Each site has a name below the gateway’s here, and ${url.hostname} has no names: open the gateway by its own.`,
    );
  }
  return { kind: 'redirect', location, isPermanent: !named, content };
}

function queryOf({ searchParams, search }: URL): Pick<ContentTarget, 'query' | 'search'> {
  return { query: searchParams, search };
}

/** Hex of about the right length is a mistyped address, and deserves to be told so. */
function looksLikeAddress(segment: string): boolean {
  return /^(0x)?[0-9a-f]{48,96}$/i.test(segment);
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
  if (segment.includes('/') || segment.includes('\0') || segment === '.' || segment === '..') {
    throw new AntwayError(
      'BAD_ADDRESS',
      `“${encoded}” cannot be part of a path: no name is “.” or “..”, or holds a slash or a NUL.`,
    );
  }
  return segment;
}

/** A decoded path as it is written in a URL. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
