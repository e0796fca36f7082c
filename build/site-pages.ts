import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import { styleWithTokens } from './page-style.ts';

const fromRoot = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The scripts of the pages below `/-/`. The documents of these pages are in `public/-/`. */
const names = ['bridge', 'move', 'root', 'site'];

/**
 * Builds the scripts and the style of `src/site-pages/`. Each script becomes one file with a fixed name below `-/`, because
 * on a site's own origin all other paths belong to the site, including `assets/`.
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
      writeFileSync(`${outDir}/-/page.css`, styleWithTokens('site-pages/page.css'));
    },
  };
}
