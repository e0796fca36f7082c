import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, type Plugin, type UserConfig } from 'vite';
import { styleWithTokens } from './page-style.ts';

const fromRoot = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The scripts of the documents in `public/-/`. */
const names = ['bridge', 'move', 'root', 'site'];

/** The page of the gateway's own origin. Its files have the names and the policy of the shell's. */
const selfTest = fromRoot('src/site-pages/-/self-test.html');

/**
 * One script per page, with a fixed name below `-/`: a site's own origin has no other paths for the gateway's files.
 */
export function sitePages(): Plugin {
  let outDir = '';
  let define: NonNullable<UserConfig['define']> = {};
  return {
    name: 'antway:site-pages',
    apply: 'build',
    configResolved: (config) => {
      outDir = config.build.outDir;
      // The version.
      define = config.define ?? {};
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
      await build({
        configFile: false,
        logLevel: 'warn',
        root: fromRoot('src/site-pages'),
        publicDir: false,
        define,
        build: {
          outDir,
          emptyOutDir: false,
          target: 'es2022',
          assetsInlineLimit: 0,
          modulePreload: { polyfill: false },
          rolldownOptions: { input: selfTest },
        },
      });
      writeFileSync(`${outDir}/-/page.css`, styleWithTokens('site-pages/page.css'));
    },
  };
}
