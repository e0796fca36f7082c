/**
 * `/-/bridge`, a page of a site's own origin in a hidden frame of the shell. It forwards the shell's requests to the
 * site's worker. It accepts requests only from the gateway's own origin, through a message port that this page holds,
 * so pages of the site cannot send requests through it.
 */

import { siteOfHost } from '../gateway/origins/site-host.ts';
import { nodesMessage } from '../nodes/port-messages.ts';
import { clearOrigin } from './clear-origin.ts';
import {
  type BridgeAnswer,
  type BridgeReady,
  type BridgeRequest,
  type BridgeWish,
  bridgeMessage,
} from './messages.ts';
import { controlledByWorker } from './worker.ts';

const site = siteOfHost(location.host);
const rootOrigin = site && `${location.protocol}//${site.rootHost}`;

addEventListener('message', async ({ origin, source, data, ports: [port] }) => {
  if (!site || origin !== rootOrigin || source !== parent || data?.type !== bridgeMessage || !port) return;
  // The site's worker wants a port to the page with the connections to nodes. The shell expects `BridgeReady` first.
  let isReady = false;
  let isWished = false;
  const wish = () => {
    isWished = true;
    if (isReady) port.postMessage({ type: nodesMessage } satisfies BridgeWish);
  };
  navigator.serviceWorker?.addEventListener('message', ({ data }) => {
    if (data?.type === nodesMessage) wish();
  });
  port.onmessage = async ({ data: request, ports: [nodesPort] }: MessageEvent<BridgeRequest>) => {
    let answer: BridgeAnswer;
    try {
      if (request.kind === 'nodes') {
        if (nodesPort) navigator.serviceWorker.controller?.postMessage({ type: nodesMessage }, [nodesPort]);
        return;
      }
      answer = { id: request.id, ...(await work(request)) };
    } catch (error) {
      answer = { id: request.id, error: (error as Error).message };
    }
    port.postMessage(answer);
  };
  const isOfSite = isSameSite(site.rootHost.replace(/:\d+$/, ''));
  const ready: BridgeReady = await controlledByWorker().then(
    () => ({ ready: true, isSameSite: isOfSite }),
    (error) => ({
      ready: false,
      isSameSite: isOfSite,
      error: error.message,
      isForeign: navigator.serviceWorker?.controller != null,
    }),
  );
  port.postMessage(ready);
  isReady = true;
  if (isWished) wish();
});

/**
 * Whether this frame uses the site's own worker and storage: then it is same-site with the shell. It is not if the name of
 * the gateway is a public suffix. Only the setter of `domain` says that without a cookie, which other sites could read. The
 * setter belongs to an empty frame, so that it changes nothing here.
 */
function isSameSite(name: string): boolean {
  const frame = document.createElement('iframe');
  document.documentElement.append(frame);
  try {
    frame.contentDocument!.domain = name;
    return true;
  } catch {
    return false;
  } finally {
    frame.remove();
  }
}

async function work(
  request: Exclude<BridgeRequest, { kind: 'nodes' }>,
): Promise<{ status: number; type: string | null; body: Blob }> {
  switch (request.kind) {
    case 'fetch':
      return ask(request);
    case 'files':
      return received(await fetch(`/${request.folder}?format=json`, { cache: 'no-store' }));
    case 'persist':
      return json(await (navigator.storage?.persist?.() ?? false));
    case 'clear':
      await clearOrigin();
      return json(true);
  }
}

async function ask({ path, method, body }: Extract<BridgeRequest, { kind: 'fetch' }>) {
  // The browser may have stopped the worker. A request starts it again.
  return received(await fetch(`/-/${path}`, { method, body: bodyOf(body), cache: 'no-store' }));
}

async function received(response: Response) {
  return {
    status: response.status,
    type: response.headers.get('Content-Type'),
    body: await response.blob(),
  };
}

function bodyOf(body: Extract<BridgeRequest, { kind: 'fetch' }>['body']): BodyInit | null {
  if (body === null || typeof body === 'string' || body instanceof Blob) return body;
  const form = new FormData();
  for (const [name, value] of body.fields) form.append(name, value);
  return form;
}

function json(value: unknown) {
  return { status: 200, type: 'application/json', body: new Blob([JSON.stringify(value)]) };
}
