import { DropInError } from './error.ts';

export type Syntax = 'url' | 'srcset' | 'css';

/** The CSS pattern also consumes strings, so that it finds no URL inside a string. */
const urls: Record<Syntax, RegExp> = {
  url: /^(?<before>\s*)(?<url>.*\S)/gs,
  // The match includes the descriptors after the URL, up to the comma.
  srcset: /(?<before>)(?<url>[^\s,](?:\S*[^\s,])?)(?:\s[^,]*)?/g,
  css: /(["'])(?:\\.|(?!\1).)*\1|(?<before>\burl\(\s*(["']?))(?<url>(?:\\.|[^\\])*?)\s*\3\s*\)/gis,
};

/** A complete content address: address or name, path with its slash, query, fragment. */
const uri = /^(?:(?:ant|autonomi):\/\/)?([^/?#]+)(\/[^?#]*)?(\?[^#]*)?(#.*)?$/i;

/** Whether a URL is a content address. A URL that only contains a content address is not. */
export function isUri(url: string): boolean {
  return /^\s*(?:ant|autonomi):\/\//i.test(url);
}

/** Returns the absolute URL, or an empty string if the text is not a URL. */
export function absolute(url: string, base: string): string {
  return URL.canParse(url, base) ? new URL(url, base).href : '';
}

/** Replaces URLs in a text. `map` returns undefined for a URL that stays unchanged. */
export function mapUrls(text: string, syntax: Syntax, map: (url: string) => string | undefined): string {
  return text.replace(urls[syntax], (match: string, ...rest: unknown[]) => {
    const { before, url } = rest.at(-1) as { before?: string; url?: string };
    const to = url && map(url);
    return to ? before + to + match.slice(before!.length + url.length) : match;
  });
}

/**
 * Returns the URL of a content address: `ant://<address or name>/path`, `autonomi://…`, or without a scheme.
 * @param type the media type of a file whose name has no extension.
 * @param names addresses by name, for a gateway that does not know the names.
 * @param known all names of the worker. Without them, every text in the form of a name may be a name.
 * @throws DropInError `BAD_ADDRESS`.
 */
export function urlOf(
  text: string,
  base: string,
  type?: string | null,
  names: Readonly<Record<string, string>> = {},
  known?: Readonly<Record<string, string>>,
): string {
  const [, named = '', path = '', search = '', hash = ''] = uri.exec(text.trim()) ?? [];
  const first = Object.hasOwn(names, named) ? names[named]! : named;
  if (/^manifest$/i.test(first)) {
    // A URL with the manifest would be sent to a host, and the manifest may contain the only keys of private files.
    throw bad('Open a manifest in an Antway app.');
  }
  const isAddress = /^[0-9a-f]{64}$/i.test(first);
  const isName = known
    ? Object.hasOwn(known, first)
    : /^[a-z0-9][a-z0-9._-]*$/i.test(first) && !/^[0-9a-f]{48,}$/i.test(first);
  if (!isAddress && !isName) {
    throw bad(`“${text}” is not a content address: it must be 64 hex digits, or a name of this site.`);
  }
  const query = new URLSearchParams(search);
  // Links of Autonomi's browser extension suggest the file name in the query parameter `name`.
  const name = query.get('name') ?? (type && path.length < 2 ? `file.${extensionOf(type)}` : null);
  let suffix = search;
  if (isAddress && name) {
    query.delete('name');
    query.set('filename', name);
    suffix = `?${query}`;
  }
  return base + (isAddress ? first.toLowerCase() : first) + withoutDots(path) + suffix + hash;
}

/** @throws DropInError `BAD_ADDRESS` for a path with dot segments, in any spelling that URL parsers accept. */
export function withoutDots(path: string): string {
  // URL parsers drop control characters, and treat a backslash as a slash.
  if (/[/\\](\.|%2e){1,2}([/\\]|$)/i.test(path.replace(/\p{Cc}/gu, ''))) {
    throw bad(`“${path}” leaves its address.`);
  }
  return path;
}

/** Returns the file extension of a media type. Most media types end in it. */
function extensionOf(type: string): string {
  const [, subtype = ''] = /([^/;\s]+?)(?:\+xml)?\s*(?:;|$)/.exec(type) ?? [];
  const extensions: Record<string, string> = { plain: 'txt', javascript: 'js', markdown: 'md' };
  return extensions[subtype] ?? (type.startsWith('audio/mpeg') ? 'mp3' : subtype);
}

function bad(message: string): DropInError {
  return new DropInError('BAD_ADDRESS', message);
}
