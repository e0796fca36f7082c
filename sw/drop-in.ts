/// <reference lib="webworker" />
import { createHandler, type HandlerOptions } from './handler.ts';

declare const self: ServiceWorkerGlobalScope;

/** The page's script wrote the options into this script's URL, so a restarted worker still has them. */
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

// A page sends this message before it replaces or removes a worker, to check that the worker is Antway's.
self.addEventListener('message', (event) => {
  if (event.data?.type === 'antway:who') event.ports[0]?.postMessage('antway');
});

// By default an updated worker waits until the previous worker controls no page. A page that needs other options sends
// this message instead of waiting.
self.addEventListener('message', (event) => {
  if (event.data?.type === 'antway:skip-waiting') void self.skipWaiting();
});
// The worker handles the requests of the page that installed it at once.
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

// Requests that do not match belong to the site. The browser handles them as usual.
self.addEventListener('fetch', (event) => {
  if (antway.matches(event.request.url)) event.respondWith(antway.handle(event));
});
