import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';

const fromRoot = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** Scripts of the pages below `/-/`, whose documents are in `public/-/`. */
const names = ['bridge', 'move', 'root', 'site'];

/**
 * Builds the scripts of `src/site-pages/`. Each becomes one file with a fixed name below `-/`: on a site's own origin every
 * other path is the site's, `assets/` included.
 */
export function sitePages(): Plugin {
  let outDir = '';
  return {
    name: 'antway:site-pages',
    apply: 'build',
    configResolved: (config) => {
      outDir = config.build.outDir;
    },
    async writeBundle() {
      for (const name of names) {
        await build({
          configFile: false,
          logLevel: 'warn',
          publicDir: false,
          build: {
            outDir,
            emptyOutDir: false,
            target: 'es2022',
            rolldownOptions: {
              input: fromRoot(`src/site-pages/${name}.ts`),
              output: { format: 'iife', entryFileNames: `-/${name}.js`, codeSplitting: false },
            },
          },
        });
      }
    },
  };
}
