import { relative, resolve, sep } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';

/**
 * Adapts links, which are written for a reader of the repository, to the site. A link to the documents' `README.md` leads
 * to the start page. A link that leaves their folder becomes plain text with the file's path: the site has no page for it.
 * @param docs the folder of the documents.
 */
export function siteLinks(markdown: MarkdownRenderer, docs: string): void {
  const root = resolve(docs, '..');
  markdown.core.ruler.push('site-links', ({ tokens, env }) => {
    const folder = resolve(docs, env.relativePath ?? '', '..');
    for (const { children } of tokens) {
      let isOutside = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const href = token.attrGet('href') ?? '';
          const path = pathOf(href, folder);
          isOutside = path !== undefined && !`${path}${sep}`.startsWith(`${docs}${sep}`);
          if (path === resolve(docs, 'README.md'))
            token.attrSet('href', href.replace('README.md', 'index.md'));
          if (isOutside) token.attrs = [['title', relative(root, path!)]];
        }
        if (isOutside && /^link_/.test(token.type)) token.tag = 'span';
        if (token.type === 'link_close') isOutside = false;
      }
    }
  });
}

/** @returns undefined if a link does not lead to a file. */
function pathOf(href: string, folder: string): string | undefined {
  if (/^[a-z]+:|^#|^\//i.test(href)) return undefined;
  return resolve(folder, decodeURIComponent(href.replace(/[#?].*/, '')));
}
