/// <reference lib="webworker" />
import { loadAead } from '../src/self-encryption/aead.ts';
import { sharedFilesCache } from './caches.ts';
import type { ExpectedFile, VerifiedFiles } from './verified-files.ts';

declare const self: ServiceWorkerGlobalScope;

/**
 * For the worker's installation. Fetches and stores libsodium's WebAssembly if WebCrypto lacks the cipher.
 * Otherwise fetches nothing.
 */
export async function installSodium(files: VerifiedFiles, sodium: ExpectedFile): Promise<void> {
  await loadAead(undefined, () => files.readWasm(sodium));
}

/** Deletes the files that earlier builds stored. @param wanted the files that this build needs. */
export async function forgetFilesBut(files: VerifiedFiles, wanted: readonly ExpectedFile[]): Promise<void> {
  await files.forgetOthers(wanted);
  if (!(await caches.has(sharedFilesCache))) return;
  // Other workers have their files in other folders. Their files must stay.
  const folders = wanted.map(({ url }) => folderOf(new URL(url, self.location.href).href));
  const shared = await caches.open(sharedFilesCache);
  const requests = await shared.keys();
  const own = requests.filter(({ url }) => folders.includes(folderOf(url)));
  await Promise.all(own.map((request) => shared.delete(request)));
  if (own.length === requests.length) await caches.delete(sharedFilesCache);
}

function folderOf(url: string): string {
  return new URL('./', url).href;
}
