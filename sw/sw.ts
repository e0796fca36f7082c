/// <reference lib="webworker" />
import sodiumWasmUrl from 'virtual:libsodium.wasm?url';
import decoderWasmUrl from 'brotli-dec-wasm/web/bg.wasm?url';
import { clientsClaim } from 'workbox-core';
import {
  addPlugins,
  createHandlerBoundToURL,
  getCacheKeyForURL,
  matchPrecache,
  type PrecacheEntry,
  precache,
  precacheAndRoute,
} from 'workbox-precaching';
import { NavigationRoute, registerRoute } from 'workbox-routing';
import { AntwayError } from '../src/errors.ts';
import { Configuration } from '../src/gateway/configuration.ts';
import { errorResponse } from '../src/gateway/error-response.ts';
import type { RequestContext } from '../src/gateway/gateway.ts';
import { siteOfHost } from '../src/gateway/site-host.ts';
import { SiteNames } from '../src/gateway/site-names.ts';
import { version } from '../src/version.ts';
import { deleteFormerCaches, nameCaches } from './caches.ts';
import { forgetFilesBut, installSodium, keptFile } from './kept-files.ts';
import { workOnPinsLater } from './pins-later.ts';
import { Runtime } from './runtime.ts';

declare const self: ServiceWorkerGlobalScope & { __WB_MANIFEST: (PrecacheEntry | string)[] };

const precached = self.__WB_MANIFEST;
/** On a site's own origin every path is the site's, and the shell lives elsewhere. */
const isSite = siteOfHost(self.location.host) !== undefined;
const runtime = new Runtime(
  new Configuration(self.location.origin),
  {
    // A worker's own requests do not pass through its precache.
    brotliDecoderWasm: async () => (await matchPrecache(decoderWasmUrl)) ?? fetch(decoderWasmUrl),
    sodiumWasm: () => keptFile(sodiumWasmUrl),
  },
  isSite ? {} : { siteNames: new SiteNames(self.location.origin, version) },
);
const wakeLater = workOnPinsLater(runtime);

/** The gateway's own documents on this origin: only pages loaded from there may use `/-/…`. */
const shellPaths = new Set(isSite ? ['/-/bridge', '/-/site'] : ['/', '/index.html', '/-/root']);

/** Pages and files below `/-/` that are files of the host, by their paths. */
const hostFiles = new Map(
  (isSite ? ['bridge', 'site'] : ['root']).flatMap((name) => [
    [`/-/${name}`, `/-/${name}.html`],
    [`/-/${name}.js`, `/-/${name}.js`],
    [`/-/${name}.css`, `/-/${name}.css`],
  ]),
);

const framed = new Set<RequestDestination>(['iframe', 'frame', 'embed', 'object']);

// Before workbox's listener: the first one to answer wins.
self.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (url.origin !== self.location.origin) return;
  const file = event.request.method === 'GET' ? hostFiles.get(url.pathname) : undefined;
  if (file) {
    event.respondWith(hostFile(file));
    return;
  }
  if (!isSite && (shellPaths.has(url.pathname) || getCacheKeyForURL(url.href))) {
    // The host's headers say so too; a site that may script must not get hold of the shell in a frame.
    if (framed.has(event.request.destination)) event.respondWith(refuseFrame(event.request));
    return;
  }
  const isShared = !isSite && event.request.method === 'POST' && url.pathname === '/-/share';
  event.respondWith(isShared ? share(event.request) : answer(event));
});

self.addEventListener('install', (event) => event.waitUntil(installSodium(sodiumWasmUrl)));

self.addEventListener('activate', (event) => event.waitUntil(forgetFilesBut([sodiumWasmUrl])));

self.addEventListener('message', (event) => {
  if (event.data?.type === 'SKIP_WAITING') void self.skipWaiting();
  // Sent to the active worker before: pins would hold up the one that waits until all of them are complete.
  if (event.data?.type === 'HAND_OVER') runtime.handOver();
  // A page that was loaded past the worker, by a hard reload, wants its endpoints.
  if (event.data?.type === 'CLAIM') event.waitUntil(self.clients.claim());
});

self.addEventListener('activate', (event) => event.waitUntil(deleteFormerCaches()));

// The page that installs the worker uses its endpoints at once.
clientsClaim();
nameCaches();
// The browser's own cache is asked only for what the host says is still so: what was wrong there once, under a name that
// is good for a year, would else make every installation fail.
addPlugins([{ requestWillFetch: async ({ request }) => new Request(request, { cache: 'no-cache' }) }]);
if (isSite) {
  precache(precached.filter((entry) => /\.wasm$|^-\//.test(typeof entry === 'string' ? entry : entry.url)));
} else {
  precacheAndRoute(precached);
  registerRoute(new NavigationRoute(createHandlerBoundToURL('/index.html'), { allowlist: [/^\/(\?|$)/] }));
}

/** A file of the host that this worker keeps. */
async function hostFile(path: string): Promise<Response> {
  return (await matchPrecache(path)) ?? fetch(path);
}

function refuseFrame(request: Request): Promise<Response> {
  return errorResponse(
    new AntwayError('REFUSED', 'The gateway’s own pages are not shown in frames.'),
    request,
  );
}

/**
 * Something that was shared with the installed app: on to the start page, in a fragment. Links carry keys, and a host
 * would write a query down.
 */
async function share(request: Request): Promise<Response> {
  const form = await request.formData();
  const fragment = new URLSearchParams();
  for (const field of ['url', 'text', 'title']) {
    const value = form.get(field);
    if (typeof value === 'string') fragment.set(field, value);
  }
  return Response.redirect(`/#${fragment}`, 303);
}

async function answer(event: FetchEvent): Promise<Response> {
  const { request } = event;
  const context: RequestContext = {
    waitUntil: (work) => event.waitUntil(work),
    isFromShell: () => isFromShell(event),
    clientUrl: async () => (event.clientId ? (await self.clients.get(event.clientId))?.url : undefined),
    wakeLater,
    ...(isSite && { sitePage: () => hostFile('/-/site.html') }),
  };
  const response = await runtime.handle(request, context);
  if (response) return response;
  // The shell says that there is nothing. Other requests (the config file, a peer on the same host) go there.
  const shell = request.mode === 'navigate' ? await matchPrecache('/index.html') : undefined;
  return shell ?? fetch(request);
}

/** A person who opens `/-/stats` in a tab is welcome too: that answer is sandboxed, so no page can read it. */
async function isFromShell({ request, clientId }: FetchEvent): Promise<boolean> {
  if (!isSite && request.mode === 'navigate') return request.destination === 'document';
  const client = clientId ? await self.clients.get(clientId) : undefined;
  return client !== undefined && shellPaths.has(new URL(client.url).pathname);
}
