/// <reference lib="webworker" />
import { createHandler, type HandlerOptions } from './handler.ts';

declare const self: ServiceWorkerGlobalScope;

/** What the page's script wrote into this script's URL, so that a worker that starts again finds it. */
function optionsOf(search: string): HandlerOptions {
  const query = new URLSearchParams(search);
  const [prefix, config, assets] = ['prefix', 'config', 'assets'].map((name) => query.get(name));
  return {
    ...(prefix && { prefix }),
    ...(config && { config: JSON.parse(config) }),
    ...(assets && { assets }),
  };
}

const antway = createHandler(optionsOf(self.location.search));

// It keeps nothing that another version could not read, and has no pages of its own: there is nothing to wait for.
self.addEventListener('install', () => void self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

// What is not content is the site's, and goes its usual way.
self.addEventListener('fetch', (event) => {
  if (antway.matches(event.request.url)) event.respondWith(antway.handle(event));
});
