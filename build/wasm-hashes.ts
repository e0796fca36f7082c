import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { sodiumWasm } from './libsodium-wasm.ts';

const virtualModule = 'virtual:wasm-hashes';

/** Provides `virtual:wasm-hashes` (see `virtual.d.ts`). */
export function wasmHashes(): Plugin {
  return {
    name: 'antway:wasm-hashes',
    resolveId: {
      filter: { id: /^virtual:wasm-hashes$/ },
      handler: () => `\0${virtualModule}`,
    },
    load: {
      filter: { id: /^\0virtual:wasm-hashes$/ },
      async handler() {
        const decoder = await readFile(fileURLToPath(import.meta.resolve('brotli-dec-wasm/web/bg.wasm')));
        const sodium = await sodiumWasm();
        return `export const decoderHash = "${sha256(decoder)}"; export const sodiumHash = "${sha256(sodium)}";`;
      },
    },
  };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64');
}
