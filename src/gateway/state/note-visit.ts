import type { Resolver } from '../../content/resolver.ts';
import type { Library } from '../../library/library.ts';
import { type DocumentHead, headBytes, iconPath, readHead } from '../http/document-head.ts';
import type { Representation } from '../http/representation.ts';
import type { ContentTarget } from '../http/target.ts';

/** Notes that a site was opened, with the title and icon of the page that was shown. @param pathname that page's. */
export async function noteVisit(
  { address, name, root, path }: ContentTarget,
  pathname: string,
  representation: Representation,
  { resolver, library }: { resolver: Resolver; library: Library },
): Promise<void> {
  // What was just served is known without a request.
  const { content, address: at } = await resolver.locate(address);
  const { title, iconHref } = await headOf(representation);
  const hasFavicon = content.kind === 'archive' && content.archive.member('favicon.ico') !== undefined;
  const icon =
    (iconHref && iconPath(iconHref, root, pathname)) ?? (hasFavicon ? `${root}/favicon.ico` : null);
  // The front page names the site; another page only until that was seen.
  const before = path ? await library.visits.get(at) : undefined;
  await library.visited({
    // Of a pointer, what it led to: that is what is stored, and can be pinned.
    address: at.hex,
    path: path === undefined ? root : `${root}/`,
    name: name ?? null,
    title: before?.title ?? title,
    icon: before?.icon ?? icon,
    kind: content.kind,
    lastOpened: Date.now(),
  });
}

async function headOf({ source, headers, isOwnPage }: Representation): Promise<DocumentHead> {
  const type = headers['Content-Type'] ?? '';
  if (isOwnPage || !type.startsWith('text/html')) return { title: null, iconHref: null };
  return readHead(await source.read(0, Math.min(headBytes, source.size)), type);
}
