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

// Pages ask before they replace a worker, or remove it.
self.addEventListener('message', (event) => {
  if (event.data?.type === 'antway:who') event.ports[0]?.postMessage('antway');
});

// An update waits until no page is left that the one before serves. A page that needs other options does not wait.
self.addEventListener('message', (event) => {
  if (event.data?.type === 'antway:skip-waiting') void self.skipWaiting();
});
// The page that installs the worker is served at once.
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

// What is not content is the site's, and goes its usual way.
self.addEventListener('fetch', (event) => {
  if (antway.matches(event.request.url)) event.respondWith(antway.handle(event));
});
