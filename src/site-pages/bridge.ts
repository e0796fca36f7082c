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
/** How long the shell's cookie may take to become visible here. */
const cookieMs = 1_000;
const lookMs = 20;

addEventListener('message', async ({ origin, source, data, ports: [port] }) => {
  if (origin !== rootOrigin || source !== parent || data?.type !== bridgeMessage || !port) return;
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
  const isSameSite = seesCookie(String(data.cookie));
  const ready: BridgeReady = await controlledByWorker().then(
    async () => ({ ready: true, isSameSite: await isSameSite }),
    async (error) => ({
      ready: false,
      isSameSite: await isSameSite,
      error: error.message,
      isForeign: navigator.serviceWorker?.controller != null,
    }),
  );
  port.postMessage(ready);
  isReady = true;
  if (isWished) wish();
});

/**
 * Checks repeatedly: another site of the gateway can set so many cookies that the browser briefly drops this cookie.
 */
async function seesCookie(cookie: string): Promise<boolean> {
  const lastLook = performance.now() + cookieMs;
  while (!document.cookie.includes(cookie)) {
    if (performance.now() > lastLook) return false;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
  return true;
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
