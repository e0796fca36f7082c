import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { slug } from 'github-slugger';
import { defineConfig } from 'vitepress';
import { checkLinks } from './check-links.ts';
import { sidebarOf } from './sidebar.ts';
import { siteLinks } from './site-links.ts';

const docs = fileURLToPath(new URL('../../docs', import.meta.url));

/** The path below which a host serves the site, with a slash at both ends. */
const base = process.env.DOCS_BASE ?? '/';
const resolved = (name: string) => fileURLToPath(import.meta.resolve(name));

export default defineConfig({
  title: 'Antway',
  description: 'A browser as a gateway to the Autonomi network.',
  srcDir: '../docs',
  rewrites: { 'README.md': 'index.md' },
  base,
  buildEnd({ outDir }) {
    const schema = 'reference/antway.schema.json';
    copyFileSync(join(docs, schema), join(outDir, schema));
    checkLinks(outDir, base);
  },
  cleanUrls: true,
  lastUpdated: false,
  // The documents contain `<placeholders>`, and no HTML.
  markdown: {
    html: false,
    // Anchors as on a forge.
    anchor: { slugify: slug },
    config: (markdown) => siteLinks(markdown, docs),
  },
  // The documents are in a folder without packages.
  vite: {
    resolve: {
      alias: [
        { find: /^vue$/, replacement: resolved('vue/dist/vue.runtime.esm-bundler.js') },
        { find: /^vue\/server-renderer$/, replacement: resolved('vue/server-renderer') },
      ],
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Tutorials', link: '/tutorials/open-a-site' },
      { text: 'How-to', link: '/how-to/publish' },
      { text: 'Reference', link: '/reference/http' },
      { text: 'Explanation', link: '/explanation/architecture' },
    ],
    sidebar: sidebarOf(docs),
  },
});
