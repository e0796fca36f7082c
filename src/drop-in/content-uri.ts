import { DropInError } from './error.ts';

/** How a text holds URLs: it is one, it lists some with descriptors, or it is CSS. */
export type Syntax = 'url' | 'srcset' | 'css';

/** What stands before a URL, and the URL. Strings that are none are consumed, so that nothing is found inside. */
const urls: Record<Syntax, RegExp> = {
  url: /^(?<before>\s*)(?<url>.*\S)/gs,
  // After a URL, its descriptors up to the comma that ends them.
  srcset: /(?<before>)(?<url>[^\s,](?:\S*[^\s,])?)(?:\s[^,]*)?/g,
  css: /(["'])(?:\\.|(?!\1).)*\1|(?<before>\burl\(\s*(["']?))(?<url>(?:\\.|[^\\])*?)\s*\3\s*\)/gis,
};

/** A whole content address: address or name, path with its slash, query, fragment. */
const uri = /^(?:(?:ant|autonomi):\/\/)?([^/?#]+)(\/[^?#]*)?(\?[^#]*)?(#.*)?$/i;

/** Whether a URL is a content address: one that holds another somewhere inside is not. */
export function isUri(url: string): boolean {
  return /^\s*(?:ant|autonomi):\/\//i.test(url);
}

/** A URL made absolute; empty if it is none. */
export function absolute(url: string, base: string): string {
  return URL.canParse(url, base) ? new URL(url, base).href : '';
}

/** Replaces URLs in a text. @param map gives undefined for one that stays. */
export function mapUrls(text: string, syntax: Syntax, map: (url: string) => string | undefined): string {
  return text.replace(urls[syntax], (match: string, ...rest: unknown[]) => {
    const { before, url } = rest.at(-1) as { before?: string; url?: string };
    const to = url && map(url);
    return to ? before + to + match.slice(before!.length + url.length) : match;
  });
}

/**
 * The URL of a content address: `ant://<address or name>/path`, `autonomi://…`, or without a scheme.
 *
 * @param base what the gateway's URLs begin with.
 * @param type a media type, for a file whose name does not tell.
 * @param names addresses by their names, for a gateway that does not know them.
 * @throws DropInError `BAD_ADDRESS`.
 */
export function urlOf(
  text: string,
  base: string,
  type?: string | null,
  names: Readonly<Record<string, string>> = {},
): string {
  const [, named = '', path = '', search = '', hash = ''] = uri.exec(text.trim()) ?? [];
  const first = Object.hasOwn(names, named) ? names[named]! : named;
  if (/^manifest$/i.test(first)) {
    // As a URL it would reach a host, and it may hold the only keys to private files.
    throw bad('Open a manifest in an Antway app.');
  }
  const isAddress = /^[0-9a-f]{64}$/i.test(first);
  if (!isAddress && (!/^[a-z0-9][a-z0-9._-]*$/i.test(first) || /^[0-9a-f]{48,}$/i.test(first))) {
    throw bad(`“${text}” is not a content address: it must be 64 hex digits.`);
  }
  const query = new URLSearchParams(search);
  // What links of Autonomi's browser extension suggest as a file's name.
  const name = query.get('name') ?? (type && path.length < 2 ? `file.${extensionOf(type)}` : null);
  let suffix = search;
  if (isAddress && name) {
    query.delete('name');
    query.set('filename', name);
    suffix = `?${query}`;
  }
  return base + (isAddress ? first.toLowerCase() : first) + withoutDots(path) + suffix + hash;
}

/**
 * Returns a path that a URL keeps below what stands before it.
 * @throws DropInError `BAD_ADDRESS` for one with dot segments, in any spelling that URL parsers know.
 */
export function withoutDots(path: string): string {
  // URL parsers leave out control characters, and take a backslash for a slash.
  if (/[/\\](\.|%2e){1,2}([/\\]|$)/i.test(path.replace(/\p{Cc}/gu, ''))) {
    throw bad(`“${path}” leaves its address.`);
  }
  return path;
}

/** Most media types end in their files' extension. */
function extensionOf(type: string): string {
  const [, subtype = ''] = /([^/;\s]+?)(?:\+xml)?\s*(?:;|$)/.exec(type) ?? [];
  const extensions: Record<string, string> = { plain: 'txt', javascript: 'js', markdown: 'md' };
  return extensions[subtype] ?? (type.startsWith('audio/mpeg') ? 'mp3' : subtype);
}

function bad(message: string): DropInError {
  return new DropInError('BAD_ADDRESS', message);
}
