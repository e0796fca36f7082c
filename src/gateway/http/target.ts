import { Address } from '../../address.ts';
import type { Config } from '../../config.ts';
import { AntwayError } from '../../errors.ts';
import type { Deployment } from '../deployment.ts';

const apiPrefix = '/-/';

/** On a site's own origin: the files of another address that a page of the site loads. */
export const foreignPrefix = '/-/content/';

export type Target =
  | { kind: 'content'; content: ContentTarget }
  /** Content that has another URL in this isolation mode. `content` is the target for a response at this URL. */
  | { kind: 'redirect'; location: string; isPermanent: boolean; content: ContentTarget }
  /** `name` is the path behind `/-/`. */
  | { kind: 'api'; name: string }
  /** The shell, its assets, or an unknown path. */
  | { kind: 'other' };

export interface ContentTarget {
  address: Address;
  /** The alias, if the URL contains one instead of the address. */
  name?: string;
  /** The encoded URL path before the slash that precedes `path`. Empty on a site's own origin. */
  root: string;
  /** The decoded URL path behind that slash. Undefined if there is no such slash. */
  path: string | undefined;
  query: URLSearchParams;
  /** With its question mark. Empty if there is no query. */
  search: string;
  /** On a site's own origin, for the content of another address: the URL of that content at the gateway. */
  gatewayUrl?: string;
}

/**
 * Parses a URL of this worker's origin: the gateway's origin, or a site's own origin. A site that embeds the gateway
 * has only one origin, so the isolation mode has no effect there.
 * @throws AntwayError `BAD_ADDRESS` for an invalid address, and for a path that no archive can contain (encoded
 *   slashes, NUL, `..`, bad percent-encoding).
 */
export function parseTarget(
  url: URL,
  { names, isolation }: Pick<Config, 'names' | 'isolation'>,
  { base, hasShell, site }: Pick<Deployment, 'base' | 'hasShell' | 'site'>,
): Target {
  if (!url.pathname.startsWith(base)) return { kind: 'other' };
  const pathname = url.pathname.slice(base.length - 1);
  if (site && pathname.startsWith(foreignPrefix)) {
    const inner = parseNamed(pathname.slice(foreignPrefix.length - 1), foreignPrefix, names, url);
    if (!inner) return { kind: 'other' };
    const path = pathname.slice(foreignPrefix.length);
    const gatewayUrl = `${url.protocol}//${site.rootHost}/${path}${url.search}`;
    return { kind: 'content', content: { ...inner, gatewayUrl } };
  }
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
  const content = parseNamed(pathname, base, names, url);
  if (!content) return { kind: 'other' };
  if (isolation !== 'subdomain' || !hasShell) return { kind: 'content', content };
  const rest = pathname.slice(1).split('/').slice(1).join('/');
  const location = `${url.protocol}//${content.address.base32}.${url.host}/${rest}${url.search}`;
  if (!URL.canParse(location)) {
    throw new AntwayError(
      'BAD_CONFIG',
      `Each site has a name below the gateway’s here, and ${url.hostname} has no names: open the gateway by its own.`,
    );
  }
  return { kind: 'redirect', location, isPermanent: content.name === undefined, content };
}

/**
 * Parses `/<address or name>/<path>`. @param prefix the encoded path before the address.
 * @returns undefined if the path begins with neither an address nor a known name.
 */
function parseNamed(
  pathname: string,
  prefix: string,
  names: Config['names'],
  url: URL,
): ContentTarget | undefined {
  const [, first = '', rest] = /^\/([^/]*)(?:\/(.*))?$/s.exec(pathname) ?? [];
  const named = names.get(safelyDecoded(first));
  if (!named && !looksLikeAddress(first)) return undefined;
  const address = named ?? Address.fromHex(first);
  const content: ContentTarget = {
    address,
    root: `${prefix}${first}`,
    path: rest === undefined ? undefined : decodePath(rest),
    ...queryOf(url),
  };
  if (named) content.name = safelyDecoded(first);
  return content;
}

function queryOf({ searchParams, search }: URL): Pick<ContentTarget, 'query' | 'search'> {
  return { query: searchParams, search };
}

/** Whether a segment is probably a mistyped address: hex of about the right length. */
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

/** By segment: an encoded slash is part of a name and not a separator. No member's name contains a slash. */
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

export function namesMember({ path = '' }: ContentTarget): boolean {
  return path !== '' && !path.endsWith('/');
}

export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
