import type { ReaderLocation } from '../location.ts';
import { namePrefix } from './name-prefix.ts';
import { resolveUrl } from './resolve-url.ts';

export interface Prepared {
  /** The content URL of each picture that the reader may load. */
  pictures: Map<HTMLImageElement, string>;
}

interface Texts {
  /** The text of a link in the place of a picture from another host. */
  pictureOn: (host: string) => string;
}

/**
 * Resolves the links and pictures of sanitised nodes, and gives headings their names. Afterwards no node has a URL that
 * a browser loads by itself: pictures get theirs from the reader.
 */
export function prepare(
  fragment: DocumentFragment,
  document: ReaderLocation,
  origin: string,
  texts: Texts,
): Prepared {
  const pictures = new Map<HTMLImageElement, string>();
  for (const image of fragment.querySelectorAll('img')) {
    const url = image.getAttribute('src') ?? '';
    image.removeAttribute('src');
    if (/^data:image\/[\w.+-]+[;,]/i.test(url)) {
      image.setAttribute('src', url);
      continue;
    }
    const resolved = resolveUrl(url, document, origin);
    if (resolved.kind === 'content') pictures.set(image, resolved.contentHref);
    else if (resolved.kind === 'foreign') replaceByLink(image, resolved.href, texts.pictureOn(resolved.host));
    else replaceByText(image);
  }
  for (const link of fragment.querySelectorAll('a')) resolveLink(link, document, origin);
  nameHeadings(fragment);
  for (const table of fragment.querySelectorAll('table')) scrollable(table);
  // Long lines of code scroll as well.
  for (const code of fragment.querySelectorAll('pre')) code.tabIndex = 0;
  return { pictures };
}

function resolveLink(link: HTMLAnchorElement, document: ReaderLocation, origin: string): void {
  const url = link.getAttribute('href');
  if (url === null) return;
  link.removeAttribute('href');
  const resolved = resolveUrl(url, document, origin);
  if (resolved.kind === 'fragment') link.setAttribute('href', `#${namePrefix}${resolved.id}`);
  else if (resolved.kind === 'content') {
    link.setAttribute('href', origin + resolved.href);
    link.setAttribute('target', '_top');
  } else if (resolved.kind === 'foreign') markForeign(link, resolved.href);
}

function markForeign(link: HTMLAnchorElement, href: string): void {
  link.setAttribute('href', href);
  link.setAttribute('target', '_blank');
  link.setAttribute('rel', 'noopener noreferrer');
}

/** A picture of another host would tell that host who reads the document. */
function replaceByLink(image: HTMLImageElement, href: string, label: string): void {
  const { ownerDocument } = image;
  const text = [image.getAttribute('alt'), label].filter(Boolean).join(' – ');
  // Links cannot be nested. The outer link keeps its target.
  if (image.closest('a')) {
    image.replaceWith(text);
    return;
  }
  const link = ownerDocument.createElement('a');
  link.textContent = text;
  markForeign(link, href);
  // `resolveLink` runs after this.
  image.replaceWith(link);
}

function replaceByText(image: HTMLImageElement): void {
  image.replaceWith(image.getAttribute('alt') ?? '');
}

/** Names as GitHub gives them: links in documents expect these names. */
function nameHeadings(fragment: DocumentFragment): void {
  const used = new Map<string, number>();
  for (const heading of fragment.querySelectorAll('h1,h2,h3,h4,h5,h6')) {
    if (heading.id) continue;
    const slug = (heading.textContent ?? '')
      .toLowerCase()
      .trim()
      .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
      .replace(/\s/g, '-')
      .slice(0, 200);
    const count = used.get(slug) ?? 0;
    used.set(slug, count + 1);
    heading.id = `${namePrefix}${slug}${count ? `-${count}` : ''}`;
  }
}

/** Wide tables scroll by themselves, also by keyboard. */
function scrollable(table: HTMLTableElement): void {
  const frame = table.ownerDocument.createElement('div');
  frame.className = 'table-frame';
  frame.tabIndex = 0;
  table.replaceWith(frame);
  frame.append(table);
}
