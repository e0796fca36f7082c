import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import { styleWithTokens } from './page-style.ts';

const fromRoot = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The scripts of the documents in `public/-/`. */
const names = ['bridge', 'move', 'root', 'site'];

/**
 * One script per page, with a fixed name below `-/`: a site's own origin has no other paths for the gateway's files.
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
