import { request } from './endpoint.ts';

/** The reset empties these. Do not delete them: the worker could not open a deleted database until it restarts. */
const ownDatabases = new Set(['antway', 'antway-chunks']);

/** The Storage Buckets API of Chromium, <https://wicg.github.io/storage-buckets/>. */
interface StorageBuckets {
  keys(): Promise<string[]>;
  delete(name: string): Promise<void>;
}

/** Deletes all data of the gateway and the site that a page can delete, and unregisters the worker. */
export async function clearOrigin(): Promise<void> {
  await request('reset', 'POST', JSON.stringify({ chunks: true }));
  for (const registration of await navigator.serviceWorker.getRegistrations())
    await registration.unregister();
  localStorage.clear();
  for (const name of await caches.keys()) await caches.delete(name);
  for (const { name } of await indexedDB.databases()) {
    if (!name || ownDatabases.has(name)) continue;
    const request = indexedDB.deleteDatabase(name);
    // An open page of the site can keep its database open. The browser deletes the database when that page is closed.
    await new Promise((resolve) => {
      request.onsuccess = request.onerror = request.onblocked = resolve;
    });
  }
  const { storageBuckets } = navigator as Navigator & { storageBuckets?: StorageBuckets };
  for (const name of (await storageBuckets?.keys()) ?? []) await storageBuckets!.delete(name);
  const folder = await navigator.storage?.getDirectory?.().catch(() => undefined);
  if (folder) for await (const name of folder.keys()) await folder.removeEntry(name, { recursive: true });
  for (const { name = '' } of (await globalThis.cookieStore?.getAll()) ?? []) {
    await cookieStore.delete(name);
    await cookieStore.delete({ name, domain: location.hostname });
  }
}
