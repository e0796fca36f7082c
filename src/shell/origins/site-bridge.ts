import { Address } from '../../address.ts';
import { siteOrigin } from '../../gateway/origins/site-host.ts';
import {
  type BridgeAnswer,
  type BridgeReady,
  type BridgeRequest,
  type BridgeWish,
  bridgeMessage,
} from '../../site-pages/messages.ts';
import { asGatewayApiError, GatewayApiError } from '../gateway-api.ts';
import { RecentFailures } from '../recent-failures.ts';
import { texts } from '../texts/texts.ts';

/** How long a site's origin may take to start its worker, in milliseconds. */
const openMs = 20_000;
/** How long an answer may take, in milliseconds. A copy of a whole site has no time limit. */
const askMs = 60_000;
const isCopy = (work: Work) => work.kind === 'fetch' && /^(export|import)\b/.test(work.path);
/** The maximum number of open frames, because each is a document in memory. */
const mostBridges = 6;
/** The maximum number of sites that are processed at a time. The remaining frames are for the user's other actions. */
export const parallelSites = 4;
/** The time after which an unused frame is closed, in milliseconds. The site's worker can then end. */
const idleMs = 20_000;
/** How long background work skips a site that did not answer, in milliseconds. */
const restMs = 120_000;

/** A request without its id. The bridge assigns the id. */
type Work = BridgeRequest extends infer Request
  ? Request extends BridgeRequest
    ? Omit<Request, 'id'>
    : never
  : never;
type Answered = Extract<BridgeAnswer, { body: Blob }>;

/**
 * A connection from the shell to the worker of a site's own origin: `/-/bridge` of that origin in a hidden frame, with
 * a message port. The frame uses the site's own worker and storage only if it is same-site with the shell.
 */
class SiteBridge {
  readonly #frame: HTMLIFrameElement;
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, { resolve(answer: Answered): void; reject(error: Error): void }>();
  #requests = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;
  /** Called after the bridge was unused for a while. */
  onIdle = () => {};

  private constructor(frame: HTMLIFrameElement, port: MessagePort) {
    this.#frame = frame;
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<BridgeAnswer | BridgeWish>) => {
      if ('type' in data && !('id' in data)) {
        this.#connectNodes();
        return;
      }
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ('error' in data) waiting?.reject(new GatewayApiError('UNANSWERED', data.error));
      else waiting?.resolve(data);
    };
  }

  /** @throws GatewayApiError `SITE_UNREACHABLE`, or `SITE_PARTITIONED` when the origin is not same-site. */
  static open(address: string, isAgain = false): Promise<SiteBridge> {
    const origin = siteOrigin(Address.fromHex(address), location.origin);
    if (!origin) return Promise.reject(unreachable(texts.status.siteUnreachable));
    const frame = document.createElement('iframe');
    frame.hidden = true;
    frame.src = `${origin}/-/bridge`;
    const { port1: port, port2 } = new MessageChannel();
    const opening = new Promise<SiteBridge>((resolve, reject) => {
      const timer = setTimeout(() => reject(unreachable(texts.status.siteUnreachable)), openMs);
      const openAgain = () => resolve(SiteBridge.open(address, true).finally(() => frame.remove()));
      port.onmessage = ({ data }: MessageEvent<BridgeReady>) => {
        clearTimeout(timer);
        if (!data.isSameSite) return reject(partitioned(`${origin}/-/site`));
        if (data.ready) return resolve(new SiteBridge(frame, port));
        if (isAgain || !data.isForeign) return reject(unreachable(data.error));
        openAgain();
      };
      frame.onload = () => {
        const message = { type: bridgeMessage };
        frame.contentWindow?.postMessage(message, { targetOrigin: origin, transfer: [port2] });
      };
      hiddenFrames().append(frame);
    });
    return opening.catch((error) => {
      frame.remove();
      port.close();
      throw error;
    });
  }

  /** Gives the site's worker a port to the page with the connections to nodes, if there can be one. */
  #connectNodes(): void {
    if (!nodesForSites) return;
    const { port1, port2 } = new MessageChannel();
    nodesForSites(port1);
    this.#port.postMessage({ kind: 'nodes', id: ++this.#requests } satisfies BridgeRequest, [port2]);
  }

  get isBusy(): boolean {
    return this.#waiting.size > 0;
  }

  ask(work: Work): Promise<Answered> {
    clearTimeout(this.#idle);
    const id = ++this.#requests;
    return new Promise((resolve, reject) => {
      const stop = isCopy(work)
        ? undefined
        : setTimeout(() => {
            this.#waiting.delete(id);
            reject(unreachable(texts.status.siteUnreachable));
            this.rest();
          }, askMs);
      const ended =
        <Value>(settle: (value: Value) => void) =>
        (value: Value) => {
          clearTimeout(stop);
          settle(value);
          this.rest();
        };
      this.#waiting.set(id, { resolve: ended(resolve), reject: ended(reject) });
      this.#port.postMessage({ ...work, id } as BridgeRequest);
    });
  }

  rest(): void {
    clearTimeout(this.#idle);
    if (!this.isBusy) this.#idle = setTimeout(() => this.onIdle(), idleMs);
  }

  close(): void {
    clearTimeout(this.#idle);
    this.#port.close();
    this.#frame.remove();
    for (const { reject } of this.#waiting.values()) reject(unreachable(texts.status.siteUnreachable));
  }
}

let nodesForSites: ((port: MessagePort) => void) | undefined;

/** Connects the workers of sites to nodes. @param connect gives the port to the page with the connections. */
export function connectSites(connect: (port: MessagePort) => void, signal: AbortSignal): void {
  nodesForSites = connect;
  signal.addEventListener('abort', () => {
    if (nodesForSites === connect) nodesForSites = undefined;
  });
}

let shadow: ShadowRoot | undefined;

/**
 * Where bridges are. A site in the viewer has the same origin as its bridge and could use the bridge's functions. Frames
 * of a shadow tree are not in `window.frames` of their page, so the site gets no reference to them.
 */
function hiddenFrames(): ShadowRoot {
  if (!shadow) {
    const host = document.createElement('div');
    host.hidden = true;
    document.body.append(host);
    shadow = host.attachShadow({ mode: 'closed' });
  }
  return shadow;
}

/** The open bridges. The most recently used bridge is the last entry. */
const bridges = new Map<string, Promise<SiteBridge>>();
/** Origins that did not answer, or that this browser partitions. */
const failures = new RecentFailures<GatewayApiError>(restMs);
addEventListener('online', () => failures.clear());

function bridgeTo(address: string): Promise<SiteBridge> {
  const bridge = bridges.get(address) ?? openBridge(address);
  bridges.delete(address);
  bridges.set(address, bridge);
  for (const [oldest, opening] of [...bridges].slice(0, Math.max(bridges.size - mostBridges, 0))) {
    // Do not close a busy bridge: a copy of a large site takes minutes, while other sites are asked for reports.
    opening.then(
      ({ isBusy }) => !isBusy && bridges.get(oldest) === opening && closeBridge(oldest),
      () => undefined,
    );
  }
  return bridge;
}

function openBridge(address: string): Promise<SiteBridge> {
  const opening = SiteBridge.open(address);
  const close = () => bridges.get(address) === opening && closeBridge(address);
  opening.then(
    (bridge) => {
      failures.delete(address);
      bridge.onIdle = close;
    },
    (error) => {
      failures.add(address, asGatewayApiError(error));
      if (bridges.get(address) === opening) bridges.delete(address);
    },
  );
  return opening;
}

function closeBridge(address: string): void {
  bridges.get(address)?.then(
    (bridge) => bridge.close(),
    () => undefined,
  );
  bridges.delete(address);
}

export interface SiteRequestOptions {
  method?: string;
  body?: Extract<Work, { kind: 'fetch' }>['body'];
  /** Whether the user does not wait. If true, an origin that did not answer lately is not asked again. */
  isBackground?: boolean;
}

/**
 * Sends a request to the worker of a site's own origin, to an endpoint below `/-/`.
 * @throws GatewayApiError with the endpoint's error, or `SITE_UNREACHABLE`, `SITE_PARTITIONED`, `UNANSWERED`.
 */
export async function askSite(
  address: string,
  path: string,
  { method = 'GET', body = null, isBackground = false }: SiteRequestOptions = {},
): Promise<Blob> {
  const failure = isBackground && failures.get(address);
  if (failure) throw failure;
  const bridge = await bridgeTo(address);
  const answer = await bridge.ask({ kind: 'fetch', path, method, body }).catch((error) => {
    failures.add(address, asGatewayApiError(error));
    throw error;
  });
  if (answer.status < 400) return answer.body;
  const { code = 'INTERNAL', message = `${answer.status}` } = JSON.parse(await answer.body.text());
  throw new GatewayApiError(code, message);
}

/** Starts the worker of a site's own origin. The bridge closes again if it is not used. @throws as `askSite`. */
export async function startSite(address: string): Promise<void> {
  (await bridgeTo(address)).rest();
}

/** Lists a folder of a site. @param folder encoded, empty or with a slash at its end. @throws as `askSite`. */
export async function siteFiles(address: string, folder: string): Promise<unknown> {
  const { status, body } = await (await bridgeTo(address)).ask({ kind: 'files', folder });
  if (status >= 400) throw new GatewayApiError('NOT_FOUND', await body.text());
  return JSON.parse(await body.text());
}

/** Returns the page for managing a site at its own origin. Undefined if the site cannot have an own origin. */
export function sitePage(address: string): string | undefined {
  const origin = siteOrigin(Address.fromHex(address), location.origin);
  return origin && `${origin}/-/site`;
}

/** Chromium refuses this to every frame. There, the user has to ask on `sitePage`. @throws as `askSite`. */
export async function persistSite(address: string): Promise<boolean> {
  const { body } = await (await bridgeTo(address)).ask({ kind: 'persist' });
  return JSON.parse(await body.text());
}

/** Deletes all data on a site's own origin, of the gateway and of the site. @throws as `askSite`. */
export async function clearSite(address: string): Promise<void> {
  await (await bridgeTo(address)).ask({ kind: 'clear' });
  closeBridge(address);
}

function unreachable(message: string): GatewayApiError {
  return new GatewayApiError('SITE_UNREACHABLE', message, { isTranslated: true });
}

function partitioned(url: string): GatewayApiError {
  return new GatewayApiError('SITE_PARTITIONED', texts.status.sitePartitioned(url), { isTranslated: true });
}
