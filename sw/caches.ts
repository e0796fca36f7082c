/// <reference lib="webworker" />
declare const self: ServiceWorkerGlobalScope;

/** How all our caches begin: whatever else the origin keeps in Cache Storage is not ours to delete. */
const prefix = 'antway-';

/**
 * The cache of the shell's files. Not “precache”: another worker of the same origin that uses workbox deletes every cache
 * with that word and its own scope in its name.
 */
export function shellCacheName(): string {
  return `${prefix}shell-${self.registration.scope}`;
}

/** Of the WebAssembly that this worker needs and that does not belong to the shell. */
export function filesCacheName(): string {
  return `${prefix}files-${self.registration.scope}`;
}

/** What it was in the first builds, for all workers of an origin together. */
export const sharedFilesCache = `${prefix}files`;

/** Deletes what earlier builds under this worker's scope called their caches. Nothing else. */
export async function deleteFormerCaches(): Promise<void> {
  const { scope } = self.registration;
  const inUse = [shellCacheName(), filesCacheName()];
  const isFormer = (name: string) =>
    !inUse.includes(name) && name.startsWith(prefix) && name.endsWith(`-${scope}`);
  const own = (await caches.keys()).filter(
    (name) => isFormer(name) || name === `workbox-precache-v2-${scope}`,
  );
  await Promise.all(own.map((name) => caches.delete(name)));
}
