import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Checks every link of a built site to itself: pages, other files, and the anchors in pages. VitePress checks pages only.
 * @param folder the built site. @param base the path below which it is served, with a slash at both ends.
 * @throws Error that lists all broken links.
 */
export function checkLinks(folder: string, base: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const pages = new Map(
    names
      .filter((name) => name.endsWith('.html'))
      .map((name) => [join(folder, name), readFileSync(join(folder, name), 'utf8')]),
  );
  const broken: string[] = [];
  for (const [page, html] of pages) {
    for (const [, attribute] of html.matchAll(/\s(?:href|src)="([^"]+)"/g)) {
      const link = attribute!.replaceAll('&amp;', '&');
      if (/^[a-z]+:|^\/\//i.test(link)) continue;
      const [path, anchor] = link.split('#', 2) as [string, string?];
      const target = path === '' ? page : targetOf(path, page, folder, base);
      const found = target === undefined ? undefined : (pages.get(target) ?? '');
      const hasAnchor = !anchor || found?.includes(` id="${decodeURIComponent(anchor)}"`);
      if (found === undefined || !hasAnchor) broken.push(`${page.slice(folder.length)}: ${link}`);
    }
  }
  if (broken.length > 0) throw new Error(`The site has broken links:\n${broken.join('\n')}`);
}

/** @returns the file that a host sends for a path; undefined if there is none. */
function targetOf(link: string, page: string, folder: string, base: string): string | undefined {
  const path = decodeURIComponent(link.replace(/\?.*/, ''));
  if (path.startsWith('/') && !path.startsWith(base)) return undefined;
  const file = path.startsWith('/') ? join(folder, path.slice(base.length)) : resolve(page, '..', path);
  return [join(file, 'index.html'), `${file}.html`, file].find((name) => existsSync(name));
}
