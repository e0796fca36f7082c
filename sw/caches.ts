/// <reference lib="webworker" />
declare const self: ServiceWorkerGlobalScope;

/**
 * The prefix of all our cache names. Caches without this prefix belong to the site, so we must not delete
 * them.
 */
const prefix = 'antway-';

/**
 * The name of the cache for the shell's files. The name must not contain “precache”: a workbox worker on the
 * same origin deletes every cache whose name contains that word and the worker's scope.
 */
export function shellCacheName(): string {
  return `${prefix}shell-${self.registration.scope}`;
}

/** The name of the cache for WebAssembly that this worker needs and that is not part of the shell. */
export function filesCacheName(): string {
  return `${prefix}files-${self.registration.scope}`;
}

/** The name of that cache in the first builds. All workers of an origin shared it. */
export const sharedFilesCache = `${prefix}files`;

/** Deletes the caches that earlier builds created under this worker's scope, and no other caches. */
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
