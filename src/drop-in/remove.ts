/**
 * `<script src="/antway-remove.js"></script>` in place of `antway.js`: unregisters the drop-in's worker, and deletes
 * the data that Antway stores in this browser for the site. The site's own worker stays.
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
  // If the worker has a database open, the browser deletes it when the worker ends, or at a later visit.
  for (const { name } of await indexedDB.databases()) if (isOurs(name)) indexedDB.deleteDatabase(name);
}

if (isSecureContext && 'serviceWorker' in navigator) void remove();
