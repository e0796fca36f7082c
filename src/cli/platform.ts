import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { CodecPlatform } from '../self-encryption/codec.ts';

const require = createRequire(import.meta.url);

export const nodePlatform: CodecPlatform = {
  brotliDecoderWasm: async () =>
    new Uint8Array(await readFile(require.resolve('brotli-dec-wasm/web/bg.wasm'))),
  // The package's ESM entry is for browsers (it fetches its wasm). Its CommonJS entry is for Node.
  brotliEncoder: async () => {
    const { compress } = require('brotli-wasm') as Awaited<typeof import('brotli-wasm').default>;
    return (bytes) => compress(bytes, { quality: 6 });
  },
};
