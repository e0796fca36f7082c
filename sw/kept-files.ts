/// <reference lib="webworker" />
import { loadAead } from '../src/self-encryption/aead.ts';
import { sharedFilesCache } from './caches.ts';
import type { ExpectedFile, VerifiedFiles } from './verified-files.ts';

declare const self: ServiceWorkerGlobalScope;

/**
 * For the worker's installation: fetches and keeps libsodium's WebAssembly where WebCrypto lacks the cipher, and
 * nothing where it has it.
 */
export async function installSodium(files: VerifiedFiles, sodium: ExpectedFile): Promise<void> {
  await loadAead(undefined, () => files.readWasm(sodium));
}

/** Forgets what an earlier build kept. @param wanted what is still needed. */
export async function forgetFilesBut(files: VerifiedFiles, wanted: readonly ExpectedFile[]): Promise<void> {
  await files.forgetOthers(wanted);
  if (!(await caches.has(sharedFilesCache))) return;
  // The files of other workers lie in other folders.
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
