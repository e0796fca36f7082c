import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { pageStyle } from './build/page-style.ts';

/** The command `antway`: one script for Node, next to the installed packages that it imports. */
export default defineConfig({
  publicDir: false,
  plugins: [pageStyle()],
  build: {
    ssr: fileURLToPath(new URL('src/cli/main.ts', import.meta.url)),
    outDir: fileURLToPath(new URL('dist-cli', import.meta.url)),
    target: 'node20.19',
    rolldownOptions: { output: { entryFileNames: 'antway.js' } },
  },
});
