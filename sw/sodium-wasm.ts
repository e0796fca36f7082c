import sodiumWasmUrl from 'virtual:libsodium.wasm?url';
import { loadAead } from '../src/self-encryption/aead.ts';

const cacheName = 'antway-sodium';

/** libsodium's WebAssembly: kept, so that it is there offline, or else from the host. */
export async function sodiumWasm(): Promise<Response> {
  const cache = await caches.open(cacheName);
  const kept = await cache.match(sodiumWasmUrl);
  if (kept) return kept;
  const response = await fetch(sodiumWasmUrl);
  if (!response.ok) throw new Error(`The host answered ${response.status} for ${sodiumWasmUrl}.`);
  await cache.put(sodiumWasmUrl, response.clone());
  return response;
}

/**
 * For the worker's installation: fetches and keeps the WebAssembly where WebCrypto lacks the cipher, and nothing
 * where it has it. Copies of earlier builds go.
 */
export async function installSodium(): Promise<void> {
  const { name } = await loadAead(undefined, sodiumWasm);
  const wanted = new URL(sodiumWasmUrl, self.location.href).href;
  const cache = await caches.open(cacheName);
  for (const { url } of await cache.keys()) {
    if (name !== 'sodium' || url !== wanted) await cache.delete(url);
  }
}
