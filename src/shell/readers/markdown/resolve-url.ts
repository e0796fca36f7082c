import { noNames } from '../../../names/name-book.ts';
import { parseAddressInput } from '../../open/address-input.ts';
import { opensInReader } from '../kinds.ts';
import { contentHref, locationOfPath, type ReaderLocation, readerHref } from '../location.ts';

/** The meaning of a URL in a document. */
export type ResolvedUrl =
  | { kind: 'fragment'; id: string }
  /** A file of this gateway. `href` opens it, in a reader if there is one. */
  | { kind: 'content'; href: string; contentHref: string }
  /** Another host, or another program. Only a click of the user may lead there. */
  | { kind: 'foreign'; href: string; host: string }
  | { kind: 'refused' };

const invalidOrigin = 'https://gateway.invalid';

/**
 * Resolves a URL of a document relative to the document's own file. A path that begins with a slash is a path in the
 * same archive, as on an origin of its own.
 * @param origin of this gateway.
 */
export function resolveUrl(url: string, document: ReaderLocation, origin: string): ResolvedUrl {
  // URL parsers ignore these characters.
  const text = url.replace(/[\t\n\r]/g, '').trim();
  if (text.startsWith('#')) return { kind: 'fragment', id: decoded(text.slice(1)) };
  const scheme = /^([a-z][a-z\d+.-]*):/i.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'ant' || scheme === 'autonomi') return ofAddress(text, origin);
  if (scheme === 'mailto') return { kind: 'foreign', href: text, host: text.slice(7).replace(/\?.*$/s, '') };
  if (scheme && scheme !== 'http' && scheme !== 'https') return { kind: 'refused' };
  if (scheme || /^[/\\]{2}/.test(text)) return ofHost(text, origin);
  return inArchive(text, document);
}

function ofAddress(text: string, origin: string): ResolvedUrl {
  const input = parseAddressInput(text, { names: noNames, origin });
  return 'path' in input ? ofPath(input.path) : { kind: 'refused' };
}

function ofHost(text: string, origin: string): ResolvedUrl {
  const href = URL.canParse(text, origin) ? new URL(text, origin) : undefined;
  if (!href || !/^https?:$/.test(href.protocol)) return { kind: 'refused' };
  // A link to content through another gateway, or through this one.
  const input = parseAddressInput(href.href, { names: noNames, origin });
  if ('path' in input) return ofPath(input.path);
  if (href.origin === origin) return { kind: 'refused' };
  return { kind: 'foreign', href: href.href, host: href.host };
}

function inArchive(text: string, { root, path = '' }: ReaderLocation): ResolvedUrl {
  const top = `${invalidOrigin}/${root}/`;
  const base = new URL(path.split('/').map(encodeURIComponent).join('/'), top);
  const relative = /^[/\\]/.test(text) ? text.replace(/^[/\\]+/, '') : text;
  // Without `./`, a colon in the first segment would end a scheme.
  const start = /^[/\\]/.test(text) ? top : base;
  if (!URL.canParse(`./${relative}`, start)) return { kind: 'refused' };
  const resolved = new URL(/^[?]/.test(relative) ? relative : `./${relative}`, start);
  if (resolved.origin !== invalidOrigin || !resolved.pathname.startsWith(`/${root}/`))
    return { kind: 'refused' };
  return ofPath(resolved.pathname + resolved.search + resolved.hash);
}

function ofPath(path: string): ResolvedUrl {
  const location = locationOfPath(path);
  if (!location) return { kind: 'refused' };
  const content = contentHref(location);
  const isRead = !path.includes('?') && opensInReader(location.path ?? '');
  const tail = path.replace(/^[^?#]*/s, '');
  return { kind: 'content', href: isRead ? readerHref(location) : content + tail, contentHref: content };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
