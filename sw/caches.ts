/// <reference lib="webworker" />
declare const self: ServiceWorkerGlobalScope;

/** No “precache” in the name: a workbox worker deletes every cache with that word and the worker's scope. */
export function shellCacheName(): string {
  return `antway-shell-${self.registration.scope}`;
}

/** For WebAssembly that this worker needs and that is not part of the shell. */
export function filesCacheName(): string {
  return `antway-files-${self.registration.scope}`;
}
