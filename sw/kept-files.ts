/// <reference lib="webworker" />
import { loadAead } from '../src/self-encryption/aead.ts';
import { filesCacheName, sharedFilesCache } from './caches.ts';

declare const self: ServiceWorkerGlobalScope;

/**
 * One of the worker's own files: as it is kept, so that it is there offline, or else from the host. Its name changes with
 * its contents.
 */
export async function keptFile(url: string): Promise<Response> {
  // Where storage is blocked, the host has to give it each time.
  const cache = await caches.open(filesCacheName()).catch(() => undefined);
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

/** Forgets what an earlier build kept. @param urls what is still needed. */
export async function forgetFilesBut(urls: readonly string[]): Promise<void> {
  const wanted = urls.map((url) => new URL(url, self.location.href).href);
  await forget(filesCacheName(), (url) => !wanted.includes(url));
  if (!(await caches.has(sharedFilesCache))) return;
  // The files of other workers lie in other folders.
  const folders = wanted.map(folderOf);
  const left = await forget(sharedFilesCache, (url) => folders.includes(folderOf(url)));
  if (left === 0) await caches.delete(sharedFilesCache);
}

/** @returns how many are left. */
async function forget(cacheName: string, isForgotten: (url: string) => boolean): Promise<number> {
  const cache = await caches.open(cacheName);
  const forgotten = (await cache.keys()).filter(({ url }) => isForgotten(url));
  await Promise.all(forgotten.map((request) => cache.delete(request)));
  return (await cache.keys()).length;
}

function folderOf(url: string): string {
  return new URL('./', url).href;
}
