import { antwayRoute } from 'antway/workbox';
import { clientsClaim } from 'workbox-core';
import { cleanupOutdatedCaches, precacheAndRoute } from 'workbox-precaching';
import { registerRoute } from 'workbox-routing';

clientsClaim();
cleanupOutdatedCaches();
precacheAndRoute([{ url: 'index.html', revision: '1' }]);

const { match, handler, methods } = antwayRoute({ config: { peers: ['%PEERS%'] } });
for (const method of methods) registerRoute(match, handler, method);
