import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type EnvironmentOptions } from 'vite';
import { compressFiles } from './build/compress.ts';
import { writeIntegrity } from './build/integrity.ts';
import { libsodiumWasm } from './build/libsodium-wasm.ts';
import { pageStyle } from './build/page-style.ts';
import { smallTokenizer } from './build/small-tokenizer.ts';
import { ThirdPartyNotices } from './build/third-party-notices.ts';
import { wasmHashes } from './build/wasm-hashes.ts';
import { classicDefines, withoutPreloading } from './build/worker.ts';
import packageJson from './package.json' with { type: 'json' };

const fromRoot = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const notices = new ThirdPartyNotices();
notices.add(fromRoot('node_modules/assemblyscript'));
const outDir = fromRoot('dist-drop-in');

/** Beside the worker by these names, whose hashes let it keep them. */
const assetFileNames = ({ names }: { names: string[] }) =>
  names.some((name) => name.startsWith('libsodium'))
    ? 'antway-libsodium-[hash][extname]'
    : 'antway-brotli-[hash][extname]';

/** All in one file: a worker cannot import more while it runs. */
function bundle(format: 'iife' | 'es', input: string, fileName: string): EnvironmentOptions {
  return {
    consumer: 'client',
    build: {
      rolldownOptions: {
        input: fromRoot(input),
        preserveEntrySignatures: 'strict',
        output: { format, entryFileNames: fileName, codeSplitting: false, assetFileNames },
        transform: { define: classicDefines },
      },
    },
  };
}

const bundles = {
  page: bundle('iife', 'src/drop-in/script.ts', 'antway.js'),
  worker: bundle('iife', 'sw/drop-in.ts', 'antway-sw.js'),
  remove: bundle('iife', 'src/drop-in/remove.ts', 'antway-remove.js'),
  handler: bundle('iife', 'sw/handler-global.ts', 'antway-handler.js'),
  pageModule: bundle('es', 'src/drop-in/module.ts', 'antway.mjs'),
  handlerModule: bundle('es', 'sw/handler.ts', 'handler.mjs'),
  workboxModule: bundle('es', 'sw/workbox.ts', 'workbox.mjs'),
};

/** What other sites embed, as files to copy and as the modules of the npm package: `vite build --app`. */
export default defineConfig({
  publicDir: false,
  define: { __ANTWAY_VERSION__: JSON.stringify(process.env.ANTWAY_VERSION ?? packageJson.version) },
  plugins: [notices.collect(), libsodiumWasm(), wasmHashes(), pageStyle(), withoutPreloading, smallTokenizer],
  build: {
    outDir,
    // Several builds fill it. `buildApp` empties it before the first one.
    emptyOutDir: false,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The advice to split cannot be followed.
    chunkSizeWarningLimit: 1000,
  },
  environments: bundles,
  builder: {
    // All builds collect their packages in one object.
    sharedConfigBuild: true,
    async buildApp({ build, environments }) {
      // Only a clean folder has no declarations of deleted source files.
      rmSync(outDir, { recursive: true, force: true });
      for (const name of Object.keys(bundles)) await build(environments[name]!);
      notices.write(outDir);
      compressFiles(outDir);
      writeIntegrity(outDir, ['antway.js', 'antway-sw.js', 'antway-handler.js', 'antway-remove.js']);
    },
  },
});
