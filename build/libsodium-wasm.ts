import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const virtualModule = 'virtual:libsodium.wasm?url';
const packageFile = /\/libsodium\/dist\/modules-esm\/libsodium\.mjs$/;

/** Where the extracted file waits for Vite, which names, hashes and places it like every other asset. */
const cacheFolder = fileURLToPath(new URL('../node_modules/.cache/antway', import.meta.url));

/**
 * libsodium's package holds its WebAssembly as base64 in its script, 296 kB of it, which every start of the worker
 * would have to read though most browsers have the cipher themselves. This takes it out: the script keeps an empty
 * string, and `virtual:libsodium.wasm?url` is the URL of the asset, to be given to `instantiateWasm`.
 */
export function libsodiumWasm(): Plugin {
  return {
    name: 'antway:libsodium-wasm',
    enforce: 'pre',
    resolveId: {
      filter: { id: /^virtual:libsodium\.wasm\?url$/ },
      handler: (id) => (id === virtualModule ? `\0${id}` : undefined),
    },
    load: {
      filter: { id: /^\0virtual:libsodium\.wasm\?url$/ },
      async handler() {
        mkdirSync(cacheFolder, { recursive: true });
        const file = `${cacheFolder}/libsodium.wasm`;
        writeFileSync(file, await sodiumWasm());
        return `export { default } from ${JSON.stringify(`${file}?url`)};`;
      },
    },
    transform: {
      filter: { id: packageFile },
      handler(code) {
        const { start, end } = embedded(code);
        return { code: code.slice(0, start) + code.slice(end), map: null };
      },
    },
  };
}

/** libsodium's WebAssembly, from the package's own script: Vite's development server would name a copy. */
export async function sodiumWasm(): Promise<Buffer> {
  const script = fileURLToPath(import.meta.resolve('libsodium'));
  return Buffer.from(embedded(await readFile(script, 'utf8')).base64, 'base64');
}

/** The WebAssembly in the package's script: the one string that begins with its magic number, `\0asm`, in base64. */
function embedded(code: string): { base64: string; start: number; end: number } {
  const match = /"(AGFzbQ[A-Za-z0-9+/]+={0,2})"/.exec(code);
  if (!match) throw new Error('libsodium no longer holds its WebAssembly as a base64 string.');
  const start = match.index + 1;
  return { base64: match[1]!, start, end: start + match[1]!.length };
}
