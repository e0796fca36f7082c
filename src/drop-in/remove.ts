/**
 * `<script src="/antway-remove.js"></script>` in place of `antway.js`: unregisters the drop-in's worker, and deletes what
 * Antway keeps in this browser for the site. A worker of the site's own stays.
 */
import { isAntway, workerOf } from './worker.ts';

const isOurs = (name?: string): name is string => Boolean(name?.startsWith('antway'));

async function unregister(registration: ServiceWorkerRegistration): Promise<void> {
  const worker = workerOf(registration);
  if (worker && (await isAntway(worker))) await registration.unregister();
}

async function remove(): Promise<void> {
  await Promise.all((await navigator.serviceWorker.getRegistrations()).map(unregister));
  await Promise.all((await caches.keys()).filter(isOurs).map((name) => caches.delete(name)));
  // One that the worker still has open is deleted when that ends, or at a later visit.
  for (const { name } of await indexedDB.databases()) if (isOurs(name)) indexedDB.deleteDatabase(name);
}

// Elsewhere there is nothing to remove.
if (isSecureContext && 'serviceWorker' in navigator) void remove();
