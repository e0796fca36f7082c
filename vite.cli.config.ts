import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { pageStyle } from './build/page-style.ts';
import { ThirdPartyNotices } from './build/third-party-notices.ts';

const fromRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const notices = new ThirdPartyNotices();
notices.add(fromRoot('node_modules/assemblyscript'));

/**
 * The command `antway` for Node, next to the installed packages that it imports. Each sub-command is a script of its own,
 * which loads only when it runs.
 */
export default defineConfig({
  publicDir: false,
  plugins: [
    notices.collect(),
    pageStyle(),
    { name: 'antway:write-notices', closeBundle: () => notices.write(fromRoot('dist-cli')) },
  ],
  build: {
    ssr: true,
    outDir: fromRoot('dist-cli'),
    target: 'node20.19',
    rolldownOptions: {
      input: {
        antway: fromRoot('src/cli/main.ts'),
        'antway-encrypt': fromRoot('src/cli/encrypt-worker.ts'),
      },
      output: { entryFileNames: '[name].js', chunkFileNames: 'antway-[name]-[hash].js' },
    },
  },
});
