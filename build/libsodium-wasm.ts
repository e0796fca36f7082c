import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const virtualModule = 'virtual:libsodium.wasm?url';
const packageFile = /\/libsodium\/dist\/modules-esm\/libsodium\.mjs$/;

/** The folder of the extracted file. Vite names, hashes and places the file like every other asset. */
const cacheFolder = fileURLToPath(new URL('../node_modules/.cache/antway', import.meta.url));

/**
 * Takes libsodium's WebAssembly (296 kB as base64) and the unused exports out of the package's script. Otherwise every
 * start of the worker would read them, although most browsers have the cipher themselves. `virtual:libsodium.wasm?url`
 * is the URL of the asset; pass it to `instantiateWasm`.
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
        return { code: withUsedExports(code.slice(0, start) + code.slice(end)), map: null };
      },
    },
  };
}

/** Reads the package's own script, because Vite's development server would resolve to a copy. */
export async function sodiumWasm(): Promise<Buffer> {
  const script = fileURLToPath(import.meta.resolve('libsodium'));
  return Buffer.from(embedded(await readFile(script, 'utf8')).base64, 'base64');
}

/** Used by `src/self-encryption/sodium.ts`. */
const usedExports = new Set([
  '_malloc',
  '_free',
  '_sodium_init',
  '_crypto_aead_chacha20poly1305_ietf_encrypt',
  '_crypto_aead_chacha20poly1305_ietf_decrypt',
]);

/** Removes the other 292 exports from the package's script: assignments such as `g._crypto_auth=A.ea,`. */
function withUsedExports(code: string): string {
  return code.replaceAll(/\b\w+\.(_\w+)=\w+\.[\w$]+,/g, (assignment, name: string) =>
    usedExports.has(name) ? assignment : '',
  );
}

/** The only string that begins with the magic number `\0asm` in base64. */
function embedded(code: string): { base64: string; start: number; end: number } {
  const match = /"(AGFzbQ[A-Za-z0-9+/]+={0,2})"/.exec(code);
  if (!match) throw new Error('libsodium no longer holds its WebAssembly as a base64 string.');
  const start = match.index + 1;
  return { base64: match[1]!, start, end: start + match[1]!.length };
}
