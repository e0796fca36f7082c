import { antwayRoute } from '@antway/sw/workbox';
import { clientsClaim } from 'workbox-core';
import { cleanupOutdatedCaches, createHandlerBoundToURL, precacheAndRoute } from 'workbox-precaching';
import { NavigationRoute, registerRoute } from 'workbox-routing';

const sample = 'd596a831626a83824acfcb6ebf55f9aefc01f8c939bd87e026d2246091b7cc8e';

self.skipWaiting();
clientsClaim();
cleanupOutdatedCaches();
precacheAndRoute(self.__WB_MANIFEST);

const config = { peers: [import.meta.env.PEER], names: { sample } };
const { match, handler, methods } = antwayRoute({ config });
for (const method of methods) registerRoute(match, handler, method);

// After the content: the routes are asked in their order.
registerRoute(new NavigationRoute(createHandlerBoundToURL('index.html')));
