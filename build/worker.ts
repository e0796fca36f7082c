import { minify } from 'terser';
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

/** Minifies classic scripts once more. Terser removes 2 % of a compressed worker that Vite's own minifier leaves. */
export const minifyAgain: Plugin = {
  name: 'antway:minify-again',
  async generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type !== 'chunk') continue;
      const { code } = await minify(file.code, { ecma: 2020, toplevel: true, compress: { passes: 2 } });
      file.code = code!;
    }
  },
};
