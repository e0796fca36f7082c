import type { Plugin } from 'vite';

/** A replacement for `import.meta.url`, which does not exist in a classic script. */
export const classicDefines = { 'import.meta.url': 'self.location.href' };

/** Removes Vite's preload helper for `import()`. It reports failures to `window`, which a worker does not have. */
export const withoutPreloading: Plugin = {
  name: 'antway:without-preloading',
  enforce: 'pre',
  load: {
    filter: { id: /^\0vite\/preload-helper\.js$/ },
    handler: () => 'export const __vitePreload = (load) => load();',
  },
};
