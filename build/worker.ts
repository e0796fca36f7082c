import type { Plugin } from 'vite';

/** What `import.meta.url` would be if a classic script had it. */
export const classicDefines = { 'import.meta.url': 'self.location.href' };

/** An application's `import()` goes through a helper that preloads, and reports failures to a `window`. */
export const withoutPreloading: Plugin = {
  name: 'antway:without-preloading',
  enforce: 'pre',
  load: {
    filter: { id: /^\0vite\/preload-helper\.js$/ },
    handler: () => 'export const __vitePreload = (load) => load();',
  },
};
