/** The gateway's databases are emptied by its reset. The worker has them open, and could not open them again until it ended. */
const ownDatabases = new Set(['antway', 'antway-chunks']);

/** <https://wicg.github.io/storage-buckets/>: stores with names, which Chromium has. */
interface StorageBuckets {
  keys(): Promise<string[]>;
  delete(name: string): Promise<void>;
}

/** Deletes all that a page of this origin can delete, whether the gateway or the site stored it, and the worker. */
export async function clearOrigin(): Promise<void> {
  const reset = await fetch('/-/reset', { method: 'POST', body: JSON.stringify({ chunks: true }) });
  if (!reset.ok) throw new Error((await reset.json()).message);
  for (const registration of await navigator.serviceWorker.getRegistrations())
    await registration.unregister();
  localStorage.clear();
  for (const name of await caches.keys()) await caches.delete(name);
  for (const { name } of await indexedDB.databases()) {
    if (!name || ownDatabases.has(name)) continue;
    const request = indexedDB.deleteDatabase(name);
    // An open page of the site can keep its database; the deletion is done when that page is closed.
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
