/// <reference lib="webworker" />
import sodiumWasmUrl from 'virtual:libsodium.wasm?url';
import { decoderHash, sodiumHash } from 'virtual:wasm-hashes';
import decoderWasmUrl from 'brotli-dec-wasm/web/bg.wasm?url';
import { buildHash } from '../src/build.ts';
import { AntwayError } from '../src/errors.ts';
import { deploymentAt, framablePages, gatewayOrigin } from '../src/gateway/deployment.ts';
import { canRunScripts } from '../src/gateway/http/content-type.ts';
import { isForeignNavigation, isInAdvance } from '../src/gateway/http/navigation.ts';
import { apiHeaders } from '../src/gateway/http/policy.ts';
import { isForeignFrame, type RequestContext } from '../src/gateway/request-context.ts';
import { ServerConfigFile } from '../src/gateway/state/server-config-file.ts';
import { stateStore } from '../src/gateway/state/state-store.ts';
import { nodesMessage } from '../src/nodes/port-messages.ts';
import { loadAead } from '../src/self-encryption/aead.ts';
import { registerBackgroundSync } from './background-sync.ts';
import { filesCacheName, shellCacheName } from './caches.ts';
import { deleteForeignCookies } from './foreign-cookies.ts';
import { PageNodes } from './page-nodes.ts';
import { ShellFiles, shellDocument, sitePage } from './shell-files.ts';
import { VerifiedFiles } from './verified-files.ts';
import { clientOf, createWorkerGateway, isOpen } from './worker-gateway.ts';

declare const self: ServiceWorkerGlobalScope;

const sodium = { url: sodiumWasmUrl, sha256: sodiumHash };
/** The codec calls this only where WebCrypto lacks the cipher. */
const readSodium = () => filesCache.readWasm(sodium);
const { origin, pathname: workerPath } = self.location;
const deployment = deploymentAt(origin, workerPath);
const decoder = {
  url: decoderWasmUrl,
  sha256: decoderHash,
  // The gateway's origin needs it, too, before it leads to the origin of a site.
  sharedUrl: deployment.site && new URL(decoderWasmUrl, gatewayOrigin(deployment)).href,
};
const nodes = new PageNodes(mayOfferNodes);
const gateway = createWorkerGateway(deployment, {
  nodes,
  platform: {
    brotliDecoderWasm: () => shellCache.readWasm(decoder),
    sodiumWasm: readSodium,
  },
  serverConfig: new ServerConfigFile(stateStore),
  buildHash,
});
const shellCache = new VerifiedFiles(shellCacheName(), gateway.stats);
const filesCache = new VerifiedFiles(filesCacheName(), gateway.stats);
const isLoadingContent = () => gateway.stats.activeRequests > 0;
const shellFiles = new ShellFiles(shellCache, deployment, decoder, isLoadingContent);
const requestSync = registerBackgroundSync(gateway);
/** If the shell is on another origin, every path of this one belongs to a site. */
const { hasShell } = deployment;

const readingMethods = new Set(['GET', 'HEAD']);

const framed = new Set<RequestDestination>(['iframe', 'frame', 'embed', 'object']);

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== origin) {
    // The chunks of a peer tell which other sites the user opened.
    const isOfPeer = !hasShell && gateway.isOfPeer(url);
    if (isOfPeer)
      event.respondWith(Promise.resolve(isOfPeer).then((is) => (is ? Response.error() : fetch(request))));
    return;
  }
  const { pathname } = url;
  const file = shellFiles.pathOf(pathname);
  if (file || deployment.trustedPages?.has(pathname)) {
    // The policies of the files also forbid framing. A site that may run scripts must not get the shell in a frame.
    const isRefused = framed.has(request.destination) && !framablePages.has(pathname);
    if (isRefused) event.respondWith(refuseFrame(request));
    else if (file && readingMethods.has(request.method)) event.respondWith(answerFile(event, file));
    return;
  }
  const isShared = hasShell && request.method === 'POST' && pathname === '/-/share';
  event.respondWith(isShared ? share(request) : answer(event));
});

self.addEventListener('install', (event) => {
  // If an active older version works offline, the new version must also work offline. Otherwise the old version stays.
  // A first version does not let the user wait for more than the first screen needs.
  const files = self.registration.active ? shellFiles.install(true) : shellFiles.installFirst();
  event.waitUntil(Promise.all([files, loadAead(undefined, readSodium)]));
  // The page that installs the worker has other work meanwhile. A new version leaves the settings of the active one alone.
  if (!self.registration.active) void gateway.prepare();
});

self.addEventListener('activate', (event) => {
  event.waitUntil(Promise.all([shellFiles.forgetOthers(), filesCache.forgetOthers([sodium])]));
  // The page that installs the worker uses the worker's endpoints at once.
  event.waitUntil(self.clients.claim());
});

self.addEventListener('message', (event) => {
  if (event.data?.type === 'SKIP_WAITING') void self.skipWaiting();
  // The shell sends this message before the new worker takes over. Otherwise unfinished work would keep the active
  // worker alive, and the new worker would wait until all pins and all files of the shell are complete.
  if (event.data?.type === 'HAND_OVER') {
    gateway.handOver();
    shellFiles.handOver();
  }
  // A hard reload loads a page without the worker. Such a page sends this message to get access to the endpoints.
  if (event.data?.type === 'CLAIM') event.waitUntil(self.clients.claim());
  // A page in the shell's viewer passes on the shell's port.
  if (event.data?.type === 'CLIENT') event.ports[0]?.postMessage((event.source as Client).id);
  // The shell sends this message when its first screen is idle.
  if (event.data?.type === 'STORE_FILES' && isShell(event.source))
    event.waitUntil(completeFiles(event.ports));
  // The page with the connections to nodes sends this message. Another page has it passed on, for a site.
  const [port] = event.ports;
  if (event.data?.type === nodesMessage && port && mayOfferNodes(event.source)) {
    if (event.data.isForSite) event.waitUntil(nodes.pass(port));
    else nodes.connect(port, event.source);
  }
});

/** The URL of a client is that of its document: a page of a site cannot change it to the shell's. */
function isShell(source: ExtendableMessageEvent['source']): source is WindowClient {
  return source instanceof WindowClient && shellFiles.pathOf(new URL(source.url).pathname) === shellDocument;
}

/**
 * Whether a page may give this worker a port to the leader, the page with the connections to nodes: a window of the
 * shell. On a site's own origin it is the shell's hidden frame, which no page of the site can frame.
 */
function mayOfferNodes(source: ExtendableMessageEvent['source']): source is WindowClient {
  if (hasShell) return isShell(source) && source.frameType !== 'nested';
  return (
    source instanceof WindowClient &&
    new URL(source.url).pathname === '/-/bridge' &&
    source.frameType === 'nested'
  );
}

/** Stores the files that the first installation left out. The reply tells whether all of them are stored. */
async function completeFiles([port]: readonly MessagePort[], storing = shellFiles.complete()): Promise<void> {
  const isComplete = await storing.catch(async (error) => {
    console.warn('antway: the shell is not complete for offline use', error);
    // The host may have a newer version, and no longer the files of this one.
    await self.registration.update().catch(() => undefined);
    return false;
  });
  port?.postMessage(isComplete);
}

function refuseFrame(request: Request): Promise<Response> {
  const error = new AntwayError('REFUSED', 'The gateway’s own pages are not shown in frames.');
  return gateway.errorResponse(error, request);
}

/** Responds with one of the shell's files, or with an error page if the file is not available. */
async function answerFile(event: FetchEvent, path: string): Promise<Response> {
  const { request } = event;
  try {
    const { body, headers } = await shellFiles.response(path);
    return new Response(request.method === 'HEAD' ? null : body, { headers });
  } catch (error) {
    if (request.mode === 'navigate') event.waitUntil(giveWay().catch(() => undefined));
    return gateway.errorResponse(error, request);
  }
}

/** Lets a newer version take over: the host no longer has this version's files, and no shell can offer the update. */
async function giveWay(): Promise<void> {
  await self.registration.update();
  const { installing, waiting } = self.registration;
  (installing ?? waiting)?.postMessage({ type: 'SKIP_WAITING' });
}

/** Redirects shared data to the start page, in the fragment: links contain keys, and a host would log a query. */
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
  // As fast as the host refuses it, and with the same answer: other sites must not learn whether this one was opened.
  if (!hasShell && (await isForeignFrame(request, { isOpenAt }, deployment, '/')))
    return new Response(null, { status: 403, headers: apiHeaders() });
  // As at a site that was never opened: a page of another origin must not see that this worker answers.
  if (!hasShell && isForeignNavigation(request) && (isInAdvance(request) || isOwnPath(request.url))) {
    const ofHost = await fetch(request).catch(() => undefined); // undefined without a network
    if (ofHost) return ofHost;
  }
  const storing = storeOwnFiles(request);
  if (storing) event.waitUntil(completeFiles([], storing));
  const context: RequestContext = {
    waitUntil: (work) => event.waitUntil(work),
    client: () => clientOf(event),
    clientIds: { asking: event.clientId, created: event.resultingClientId },
    isOpen,
    isOpenAt,
    isVisible,
    requestSync,
    ...(hasShell
      ? { reloadPages, recheckFiles: () => shellFiles.install(false) }
      : { sitePage: () => answerFile(event, sitePage) }),
  };
  const response = await gateway.handle(request, context);
  if (response) {
    await deleteCookiesFor(request, response);
    return response;
  }
  // For a navigation the shell reports that the path does not exist. Other requests go to the host: the config file, or
  // a peer on the same host.
  const shell = request.mode === 'navigate' ? shellFiles.pathOf(shellDocument) : undefined;
  return shell ? answerFile(event, shell) : fetch(request);
}

function isOwnPath(url: string): boolean {
  return new URL(url).pathname.startsWith('/-/');
}

/**
 * Deletes the cookies that other sites have set, before a document with scripts shows on a site's own origin. HTML documents
 * do that themselves, and other origins get a page of the gateway before the document: a page that starts such a navigation
 * and stops it would see that its cookie has disappeared.
 */
async function deleteCookiesFor({ mode }: Request, { headers }: Response): Promise<void> {
  const type = headers.get('Content-Type') ?? '';
  const { site } = deployment;
  if (!site || mode !== 'navigate' || type.startsWith('text/html') || !canRunScripts(type)) return;
  await deleteForeignCookies(site.rootHost.replace(/:\d+$/, ''));
}

async function isVisible(id: string): Promise<boolean> {
  const client = await self.clients.get(id);
  return client instanceof WindowClient && client.visibilityState === 'visible';
}

async function isOpenAt(start: string): Promise<boolean> {
  const pages = await self.clients.matchAll({ includeUncontrolled: true });
  return pages.some(({ url }) => url.startsWith(start) && !url.startsWith(`${origin}/-/`));
}

/** Stores the files that the first installation left out, if it is time for that. */
function storeOwnFiles({ method, mode, url }: Request): Promise<boolean> | undefined {
  if (hasShell) return mode === 'navigate' ? shellFiles.completeLater() : undefined;
  const change = method === 'POST' && new URL(url).pathname;
  // The page that asks for this deletes the stored files next.
  if (change === '/-/reset') return void shellFiles.handOver();
  const isForOffline = change === '/-/pins' || change === '/-/import';
  return isForOffline ? shellFiles.complete() : shellFiles.completeLater();
}

/** Windows with `blob:` and `about:` URLs are not clients of a worker, so they stay as they are. */
async function reloadPages(isOf: (url: URL) => boolean, path?: string): Promise<void> {
  const clients = await self.clients.matchAll({ type: 'window' });
  const pages = clients.filter(({ url }) => isOf(new URL(url)));
  await Promise.all(pages.map((page) => page.navigate(path ?? page.url)));
}
