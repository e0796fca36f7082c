import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DefaultTheme } from 'vitepress';

/** The pages that TypeDoc writes (`typedoc.json`), by the names under which a site imports the modules. */
const modules = {
  '@antway/fetch': 'src/fetch',
  '@antway/page': 'src/page',
  '@antway/publish': 'src/publisher',
  '@antway/publish/node': 'src/publisher/node',
  '@antway/vite': 'src/vite-plugin',
  antway: 'src/drop-in/module',
  'antway/handler': 'sw/handler',
  'antway/workbox': 'sw/workbox',
};

/**
 * Reads the sidebar from the tables in `README.md`: a group for each section, a page for each row that begins with a
 * link. The decisions and the pages that TypeDoc writes come last.
 * @param docs the folder of the documents.
 */
export function sidebarOf(docs: string): DefaultTheme.SidebarItem[] {
  const readme = readFileSync(join(docs, 'README.md'), 'utf8');
  const groups = readme
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.slice(0, section.indexOf('\n')),
      collapsed: true,
      items: Array.from(section.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\.md\)/gm), ([, text, path]) => ({
        text: text!,
        link: `/${path}`,
      })),
    }))
    .filter(({ items }) => items.length > 0);
  const decisions = pagesOf(join(docs, 'decisions')).map((name) => ({
    text: titleOf(join(docs, 'decisions', `${name}.md`)),
    link: `/decisions/${name}`,
  }));
  const types = Object.entries(modules).map(([text, path]) => ({ text, link: `/reference/types/${path}/` }));
  return [
    ...groups,
    { text: 'Decisions', collapsed: true, items: decisions },
    { text: 'Types of the API', collapsed: true, items: types },
  ];
}

/** @returns the names of the folder's pages, without extension. */
function pagesOf(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => name.slice(0, -'.md'.length))
    .sort();
}

function titleOf(file: string): string {
  const title = /^# (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1];
  if (!title) throw new Error(`${file} has no title.`);
  return title.replaceAll('`', '');
}
