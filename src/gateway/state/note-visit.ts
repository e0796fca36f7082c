import type { Resolver } from '../../content/resolver.ts';
import type { Library } from '../../library/library.ts';
import type { Visit } from '../../library/visits.ts';
import { limits } from '../../limits.ts';
import { delay } from '../../util/delay.ts';
import { sanitizeText } from '../../util/sanitize-text.ts';
import { type DocumentHead, headBytes, iconPath, readHead } from '../http/document-head.ts';
import type { Representation } from '../http/representation.ts';
import type { ContentTarget } from '../http/target.ts';

const mostNameCharacters = 200;
const mostTypeLength = 100;

/**
 * How long a window may take to show the page, and how long the user has to see it. In milliseconds. A new version of the
 * worker waits meanwhile.
 */
const mostWaitMs = 10_000;
const seenMs = 1_000;
const lookMs = 250;

/**
 * Waits until the user has seen a page for a second: any website can open pages. A download has no page.
 * @returns false if that does not happen soon. True if no browser tells it.
 */
export async function wasSeen(
  clientId: string | undefined,
  isVisible: ((clientId: string) => Promise<boolean>) | undefined,
): Promise<boolean> {
  if (!isVisible) return true;
  if (!clientId) return false;
  for (let left = mostWaitMs, seen = 0; left > 0; left -= lookMs) {
    await delay(lookMs);
    seen = (await isVisible(clientId)) ? seen + lookMs : 0;
    if (seen > seenMs) return true;
  }
  return false;
}

/**
 * Makes a visit, with the title and icon of the displayed page at `pathname`.
 * @param isRead whether a reader of the shell shows the content.
 */
export async function visitOf(
  { address, name, root, path }: ContentTarget,
  pathname: string,
  representation: Representation,
  { resolver, library }: { resolver: Resolver; library: Library },
  isRead = false,
): Promise<Visit> {
  // The response was just served, so this resolves without a request.
  const { content, address: at } = await resolver.locate(address);
  const { title, iconHref } = await headOf(representation);
  const hasFavicon = content.kind === 'archive' && content.archive.member('favicon.ico') !== undefined;
  const icon =
    (iconHref && iconPath(iconHref, root, pathname)) ?? (hasFavicon ? `${root}/favicon.ico` : null);
  const isFile = content.kind !== 'archive';
  const type = representation.headers['Content-Type'];
  const fileName = isFile ? path?.slice(path.lastIndexOf('/') + 1) : content.archive.name;
  const reader = pathname.slice(root.length + 1);
  // The front page's title becomes the site's title. The title of another page is used until the front page opens.
  const before = path ? await library.visits.get(at) : undefined;
  return {
    // For a pointer, this is the address of its target, because the target is stored and can be pinned.
    address: at.hex,
    path: path === undefined ? root : `${root}/`,
    name: name ?? null,
    title: before?.title ?? title ?? (fileName ? asHtml(fileName) : null),
    icon: before?.icon ?? (icon && icon.length <= limits.titleCharacters ? icon : null),
    kind: content.kind,
    ...(isFile && type && { type: type.slice(0, mostTypeLength) }),
    ...(isRead && reader.length <= limits.titleCharacters && { reader }),
    lastOpened: Date.now(),
  };
}

/** Titles are stored as documents contain them. */
function asHtml(text: string): string {
  return sanitizeText(text, mostNameCharacters).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Reads a document's head from its first bytes, which are mostly in memory. */
export async function headOf({ source, headers, isOwnPage }: Representation): Promise<DocumentHead> {
  const type = headers['Content-Type'] ?? '';
  if (isOwnPage || !type.startsWith('text/html')) return { title: null, iconHref: null };
  return readHead(await source.read(0, Math.min(headBytes, source.size)), type);
}
