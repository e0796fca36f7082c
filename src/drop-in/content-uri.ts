import { DropInError } from './error.ts';

/** Content addresses in text: attributes, `srcset`, style sheets. */
const uris = /\b(?:ant|autonomi):\/\/[^\s,"'()<>]+/gi;

/** A whole one: address or name, path with its slash, query, fragment. */
const uri = /^(?:(?:ant|autonomi):\/\/)?([^/?#]+)(\/[^?#]*)?(\?[^#]*)?(#.*)?$/i;

export function hasUri(text: string): boolean {
  uris.lastIndex = 0;
  return uris.test(text);
}

/** Replaces every content address in a text. @throws DropInError `BAD_ADDRESS`. */
export function replaceUris(text: string, base: string): string {
  return text.replace(uris, (match) => urlOf(match, base));
}

/**
 * The URL of a content address: `ant://<address or name>/path`, `autonomi://…`, or without a scheme.
 *
 * @param base what the gateway's URLs begin with.
 * @param type a media type, for a file whose name does not tell.
 * @throws DropInError `BAD_ADDRESS`.
 */
export function urlOf(text: string, base: string, type?: string | null): string {
  const [, first = '', path = '', search = '', hash = ''] = uri.exec(text.trim()) ?? [];
  if (/^manifest$/i.test(first)) {
    // As a URL it would reach a host, and it may hold the only keys to private files.
    throw new DropInError('BAD_ADDRESS', 'A manifest cannot be shown in a page: open it in an Antway app.');
  }
  const isAddress = /^[0-9a-f]{64}$/i.test(first);
  if (!isAddress && (!/^[a-z0-9][a-z0-9._-]*$/i.test(first) || /^[0-9a-f]{48,}$/i.test(first))) {
    throw new DropInError('BAD_ADDRESS', `“${text}” is not a content address: it must be 64 hex digits.`);
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
  return base + (isAddress ? first.toLowerCase() : first) + path + suffix + hash;
}

/** Most media types end in their files' extension. */
function extensionOf(type: string): string {
  const subtype = type
    .split(';')[0]!
    .trim()
    .replace(/^.*\//, '')
    .replace(/\+xml$/, '');
  const extensions: Record<string, string> = { plain: 'txt', javascript: 'js', markdown: 'md' };
  return extensions[subtype] ?? (type.startsWith('audio/mpeg') ? 'mp3' : subtype);
}
