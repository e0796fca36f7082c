/// <reference lib="webworker" />
import sodiumWasmUrl from 'virtual:libsodium.wasm?url';
import { decoderHash, sodiumHash } from 'virtual:wasm-hashes';
import decoderWasmUrl from 'brotli-dec-wasm/web/bg.wasm?url';
import { buildHash } from '../src/build.ts';
import { AntwayError, asAntwayError } from '../src/errors.ts';
import { Configuration } from '../src/gateway/configuration.ts';
import { errorResponse } from '../src/gateway/error-response.ts';
import type { RequestContext } from '../src/gateway/gateway.ts';
import { siteOfHost } from '../src/gateway/site-host.ts';
import { SiteNames } from '../src/gateway/site-names.ts';
import { deleteFormerCaches, filesCacheName, shellCacheName } from './caches.ts';
import { forgetFilesBut, installSodium } from './kept-files.ts';
import { workOnPinsLater } from './pins-later.ts';
import { Runtime } from './runtime.ts';
import { ShellFiles, shellDocument, sitePage } from './shell-files.ts';
import { VerifiedFiles } from './verified-files.ts';

declare const self: ServiceWorkerGlobalScope;

const decoder = { url: decoderWasmUrl, sha256: decoderHash };
const sodium = { url: sodiumWasmUrl, sha256: sodiumHash };
/** On a site's own origin every path is the site's, and the shell lives elsewhere. */
const isSite = siteOfHost(self.location.host) !== undefined;
const siteNames = isSite || !buildHash ? undefined : new SiteNames(self.location.origin, buildHash);
const runtime = new Runtime(
  new Configuration(self.location.origin),
  {
    brotliDecoderWasm: () => shellCache.readWasm(decoder),
    sodiumWasm: () => filesCache.readWasm(sodium),
  },
  { siteNames },
);
const shellCache = new VerifiedFiles(shellCacheName(), runtime.stats);
const filesCache = new VerifiedFiles(filesCacheName(), runtime.stats);
const shellFiles = new ShellFiles(shellCache, self.location.host, decoder);
const wakeLater = workOnPinsLater(runtime);

/** The gateway's own documents on this origin: only pages loaded from there may use `/-/…`. */
const shellPaths = new Set(isSite ? ['/-/bridge', '/-/site'] : ['/', '/index.html', '/-/root', '/-/move']);

/** Those of them that are there to be framed, by whom their policies say. */
const framedPaths = new Set(['/-/bridge', '/-/root']);

const readingMethods = new Set(['GET', 'HEAD']);

const framed = new Set<RequestDestination>(['iframe', 'frame', 'embed', 'object']);

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== self.location.origin) return;
  const file = shellFiles.pathOf(pathname);
  if (file || shellPaths.has(pathname)) {
    // The policies of the files say so too; a site that may script must not get hold of the shell in a frame.
    const isRefused = framed.has(request.destination) && !framedPaths.has(pathname);
    if (isRefused) event.respondWith(refuseFrame(request));
    else if (file && readingMethods.has(request.method)) event.respondWith(answerFile(event, file));
    return;
  }
  const isShared = !isSite && request.method === 'POST' && pathname === '/-/share';
  event.respondWith(isShared ? share(request) : answer(event));
});

self.addEventListener('install', (event) => {
  // A version that works offline is not replaced by one that would not.
  const mustStore = self.registration.active !== null;
  event.waitUntil(Promise.all([shellFiles.install(mustStore), installSodium(filesCache, sodium)]));
});

self.addEventListener('activate', (event) => {
  const forgetting = [shellFiles.forgetOthers(), forgetFilesBut(filesCache, [sodium]), deleteFormerCaches()];
  event.waitUntil(Promise.all(forgetting));
  // The page that installs the worker uses its endpoints at once.
  event.waitUntil(self.clients.claim());
});

self.addEventListener('message', (event) => {
  if (event.data?.type === 'SKIP_WAITING') void self.skipWaiting();
  // Sent to the active worker before: pins would hold up the one that waits until all of them are complete.
  if (event.data?.type === 'HAND_OVER') runtime.handOver();
  // A page that was loaded past the worker, by a hard reload, wants its endpoints.
  if (event.data?.type === 'CLAIM') event.waitUntil(self.clients.claim());
});

function refuseFrame(request: Request): Promise<Response> {
  return errorResponse(
    new AntwayError('REFUSED', 'The gateway’s own pages are not shown in frames.'),
    request,
  );
}

/** One of the shell's files, or a page of the worker's own that says why it cannot be shown. */
async function answerFile(event: FetchEvent, path: string): Promise<Response> {
  const { request } = event;
  try {
    const { body, headers } = await shellFiles.response(path);
    return new Response(request.method === 'HEAD' ? null : body, { headers });
  } catch (error) {
    if (request.mode === 'navigate') event.waitUntil(giveWay().catch(() => undefined));
    return errorResponse(asAntwayError(error), request);
  }
}

/**
 * Has a newer version take over at once. The host does not have this version's files any more, and there is no shell that
 * could offer the update.
 */
async function giveWay(): Promise<void> {
  await self.registration.update();
  const { installing, waiting } = self.registration;
  (installing ?? waiting)?.postMessage({ type: 'SKIP_WAITING' });
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
    ...(isSite
      ? { sitePage: () => answerFile(event, sitePage) }
      : { reloadPages, recheckFiles: () => shellFiles.install(false) }),
  };
  const response = await runtime.handle(request, context);
  if (response) return response;
  // The shell says that there is nothing. Other requests (the config file, a peer on the same host) go there.
  const shell = request.mode === 'navigate' ? shellFiles.pathOf(shellDocument) : undefined;
  return shell && !isSite ? answerFile(event, shell) : fetch(request);
}

/** Loads pages anew, or another path in their place. Windows of `blob:` and `about:` URLs are no clients of a worker, so they stay. */
async function reloadPages(isOf: (url: URL) => boolean, path?: string): Promise<void> {
  const clients = await self.clients.matchAll({ type: 'window' });
  const pages = clients.filter(({ url }) => isOf(new URL(url)));
  await Promise.all(pages.map((page) => page.navigate(path ?? page.url)));
}

/** A person who opens `/-/stats` in a tab is welcome too: that answer is sandboxed, so no page can read it. */
async function isFromShell({ request, clientId }: FetchEvent): Promise<boolean> {
  if (!isSite && request.mode === 'navigate') return request.destination === 'document';
  const client = clientId ? await self.clients.get(clientId) : undefined;
  const pathname = client && new URL(client.url).pathname;
  if (pathname === undefined || !shellPaths.has(pathname)) return false;
  // The bridge is the shell's in a frame only: who opens it in a window can be a page of the site.
  const isWindow = client instanceof WindowClient && client.frameType !== 'nested';
  return !(isWindow && framedPaths.has(pathname));
}
