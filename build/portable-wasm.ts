import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

const encoderFolder = join(dirname(createRequire(import.meta.url).resolve('brotli-wasm')), 'pkg.web');
const targets: Readonly<Record<string, string>> = {
  'virtual:brotli-encoder': join(encoderFolder, 'brotli_wasm.js'),
  'virtual:brotli-encoder.wasm?url&inline': `${join(encoderFolder, 'brotli_wasm_bg.wasm')}?url&inline`,
};

/**
 * Provides Brotli's encoder for every platform (see `virtual.d.ts`). The entry points of its package are for one platform
 * each, and its exports hide the files that fit all.
 */
export function portableBrotliEncoder(): Plugin {
  return {
    name: 'antway:portable-brotli-encoder',
    enforce: 'pre',
    resolveId: { filter: { id: /^virtual:brotli-encoder/ }, handler: (id) => targets[id] },
  };
}

/**
 * Takes the default URLs of WebAssembly out of the third-party packages: this project always passes the bytes. The
 * bundlers of other projects would look for the files.
 */
export const withoutDefaultWasm: Plugin = {
  name: 'antway:without-default-wasm',
  enforce: 'pre',
  transform: {
    filter: { id: /\/brotli-(?:dec-)?wasm\/.*\.js$/ },
    handler: (code) => ({
      code: code.replace(/new URL\(['"][\w.]+\.wasm['"],\s*import\.meta\.url\)/g, 'undefined'),
      map: null,
    }),
  },
};
