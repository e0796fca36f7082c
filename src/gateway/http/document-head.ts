import { type Handler, Parser } from 'htmlparser2';

/** What an HTML document says of itself. */
export interface DocumentHead {
  /**
   * As written, with its character references (`&eacute;`), which whoever shows it decodes: a page has the table of
   * their names, and the worker would have to carry it. Blanks collapsed, at most 1000 characters. Null without one.
   */
  title: string | null;
  /** The first link to an icon. */
  iconHref: string | null;
}

/** Bytes of a document in which its head is looked for. */
export const headBytes = 64 * 1024;
const titleCharacters = 1000;
/** Where a document may say how it is encoded. */
const charsetBytes = 1024;

/**
 * Reads the head of a document, as far as it is in `start`.
 * @param contentType of the answer, whose charset outweighs the document's own.
 */
export function readHead(start: Uint8Array, contentType: string): DocumentHead {
  const head: DocumentHead = { title: null, iconHref: null };
  let inTitle = false;
  // An SVG in the body has titles, too.
  let isOver = false;
  let text = '';
  const handler: Partial<Handler> = {
    onopentag(name, { rel = '', href }) {
      if (name === 'body' || name === 'svg') isOver = true;
      if (isOver) return;
      if (name === 'title' && head.title === null) inTitle = true;
      const isIcon = name === 'link' && rel.toLowerCase().split(/\s+/).includes('icon');
      if (isIcon && href) head.iconHref ??= href.replaceAll('&amp;', '&');
    },
    ontext(data) {
      if (inTitle) text += data;
    },
    onclosetag(name) {
      if (name !== 'title' || !inTitle) return;
      inTitle = false;
      const title = text.replace(/\s+/g, ' ').trim();
      if (title !== '') head.title = Array.from(title).slice(0, titleCharacters).join('');
    },
  };
  new Parser(handler, { decodeEntities: false }).end(decode(start, contentType));
  return head;
}

function decode(bytes: Uint8Array, contentType: string): string {
  const [, declared] = /charset\s*=\s*"?([^\s";]+)/i.exec(contentType) ?? [];
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, charsetBytes));
  const [, own] = /<meta[^>]*\bcharset\s*=\s*["']?([^\s"'>;/]+)/i.exec(start) ?? [];
  try {
    return new TextDecoder(declared ?? own).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // an encoding that nobody knows
  }
}

/**
 * The path of a document's icon, when it is one of the site itself.
 * @param root path of the site, without a slash at its end.
 * @param path of the document.
 */
export function iconPath(href: string, root: string, path: string): string | null {
  const base = new URL(path, 'https://site.invalid');
  if (!URL.canParse(href, base.href)) return null;
  const { origin, pathname, search } = new URL(href, base);
  return origin === base.origin && pathname.startsWith(`${root}/`) ? pathname + search : null;
}
