import { htmlTokens } from './html-tokens.ts';

export interface DocumentHead {
  /**
   * White space is collapsed. At most 1000 characters. Character references (`&eacute;`) are not decoded: a page has
   * the table of their names, but the worker would have to carry it.
   */
  title: string | null;
  /** The first icon link. */
  iconHref: string | null;
}

/** How many bytes of a document the gateway searches for the head. */
export const headBytes = 64 * 1024;
const titleCharacters = 1000;
/** How many bytes of a document can contain its charset declaration. */
const charsetBytes = 1024;

/**
 * Reads the head as far as `start` contains it. @param contentType its charset overrides the document's declaration.
 */
export function readHead(start: Uint8Array, contentType: string): DocumentHead {
  const head: DocumentHead = { title: null, iconHref: null };
  /** How many elements are open whose content is not part of the head. */
  let inert = 0;
  for (const { kind, name, attributes, text } of htmlTokens(decodeDocument(start, contentType))) {
    if (name === 'template' || name === 'noscript') inert = Math.max(inert + (kind === 'open' ? 1 : -1), 0);
    if (kind !== 'open' || inert > 0) continue;
    // The body may contain an SVG, which can also have a title.
    if (name === 'body' || name === 'svg') break;
    if (name === 'title') head.title ??= titleOf(text);
    const href = attributes.get('href');
    const isIcon = name === 'link' && attributes.get('rel')?.toLowerCase().split(/\s+/).includes('icon');
    if (isIcon && href) head.iconHref ??= href.replaceAll('&amp;', '&');
  }
  return head;
}

function titleOf(text: string): string | null {
  const title = text.replace(/\s+/g, ' ').trim();
  return Array.from(title).slice(0, titleCharacters).join('') || null;
}

/** Decodes a document as its content type or its own declaration says. */
export function decodeDocument(bytes: Uint8Array, contentType: string): string {
  const [, declared] = /charset\s*=\s*"?([^\s";]+)/i.exec(contentType) ?? [];
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, charsetBytes));
  const [, own] = /<meta[^>]*\bcharset\s*=\s*["']?([^\s"'>;/]+)/i.exec(start) ?? [];
  try {
    return new TextDecoder(declared ?? own).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // an unknown encoding
  }
}

/**
 * Returns the path of a document's icon, or null if the icon is not part of the site.
 * @param root path of the site, without a slash at its end. @param path path of the document.
 */
export function iconPath(href: string, root: string, path: string): string | null {
  const base = new URL(path, 'https://site.invalid');
  if (!URL.canParse(href, base.href)) return null;
  const { origin, pathname, search } = new URL(href, base);
  // As an URL, a path that begins with two slashes names another host.
  const isOfSite = origin === base.origin && pathname.startsWith(`${root}/`) && !pathname.startsWith('//');
  return isOfSite ? pathname + search : null;
}
