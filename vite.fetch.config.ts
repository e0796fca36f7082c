import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { writeFetchPackage } from './build/fetch-package.ts';
import { pageStyle } from './build/page-style.ts';
import { ThirdPartyNotices } from './build/third-party-notices.ts';
import packageJson from './package.json' with { type: 'json' };

const fromRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const notices = new ThirdPartyNotices();
notices.add(fromRoot('node_modules/assemblyscript'));
const outDir = fromRoot('dist-fetch');

/** The package `@antway/fetch`, complete but for its types: modules for pages, workers, Node, Deno and Bun. */
export default defineConfig({
  publicDir: false,
  define: { __ANTWAY_VERSION__: JSON.stringify(process.env.ANTWAY_VERSION ?? packageJson.version) },
  plugins: [
    notices.collect(),
    pageStyle(),
    {
      name: 'antway:fetch-package',
      closeBundle() {
        notices.write(outDir);
        writeFetchPackage(outDir);
      },
    },
  ],
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: true,
    lib: { entry: fromRoot('src/fetch/index.ts'), formats: ['es'], fileName: () => 'index.js' },
    // Libsodium, which few platforms need, is a file of its own.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: { output: { chunkFileNames: '[name].js' } },
  },
});
