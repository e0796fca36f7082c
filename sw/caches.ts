/// <reference lib="webworker" />
declare const self: ServiceWorkerGlobalScope;

/**
 * The name of the cache for the shell's files. The name must not contain “precache”: a workbox worker on the
 * same origin deletes every cache whose name contains that word and the worker's scope.
 */
export function shellCacheName(): string {
  return `antway-shell-${self.registration.scope}`;
}

/** The name of the cache for WebAssembly that this worker needs and that is not part of the shell. */
export function filesCacheName(): string {
  return `antway-files-${self.registration.scope}`;
}
