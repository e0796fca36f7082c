import { loadAead } from '../src/self-encryption/aead.ts';

/** Of files that this worker needs and that no precache holds, by URL. Their names change with their contents. */
const cacheName = 'antway-files';

/** One of the worker's own files: as it is kept, so that it is there offline, or else from the host. */
export async function keptFile(url: string): Promise<Response> {
  // Where storage is blocked, the host has to give it each time.
  const cache = await caches.open(cacheName).catch(() => undefined);
  const kept = await cache?.match(url);
  if (kept) return kept;
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The host answered ${response.status} for ${url}.`);
  await cache
    ?.put(url, response.clone())
    .catch((error) => console.warn(`antway: ${url} could not be kept`, error));
  return response;
}

/**
 * For the worker's installation: fetches and keeps libsodium's WebAssembly where WebCrypto lacks the cipher, and
 * nothing where it has it.
 */
export async function installSodium(url: string): Promise<void> {
  await loadAead(undefined, () => keptFile(url));
}

/** Forgets the files that an earlier build kept, which lie in the same folder as `urls` by other names. */
export async function forgetFilesBut(urls: readonly string[]): Promise<void> {
  const wanted = urls.map((url) => new URL(url, self.location.href).href);
  const folders = wanted.map((url) => new URL('./', url).href);
  const cache = await caches.open(cacheName);
  for (const { url } of await cache.keys()) {
    if (!wanted.includes(url) && folders.includes(new URL('./', url).href)) await cache.delete(url);
  }
}
