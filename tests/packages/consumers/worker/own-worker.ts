import { type AntwayHandler, createHandler, type HandlerOptions } from '@antway/sw';
import { type AntwayRoute, antwayRoute } from '@antway/sw/workbox';

declare const self: ServiceWorkerGlobalScope;

const options: HandlerOptions = {
  config: { peers: [new URL(self.location.href).searchParams.get('peer') ?? ''] },
};
const { match, handler }: AntwayRoute = antwayRoute(options);

// As Workbox does with its routes.
self.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (match({ url })) event.respondWith(handler({ event }));
});
self.addEventListener('install', () => void self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

// A site without Workbox calls this in place of the route.
export const withoutWorkbox = (): AntwayHandler => createHandler(options);
