import { type Deployment, framablePages, gatewayOrigin } from './deployment.ts';
import { isTopLevelNavigation } from './http/navigation.ts';

export interface RequestClient {
  url: string;
  /** Whether the client is the document of a window, not of a frame. */
  isTopLevel: boolean;
}

/** The worker's information on a request that the request itself does not contain. */
export interface RequestContext {
  /** Keeps the worker alive until the promise settles. */
  waitUntil(work: Promise<unknown>): void;
  /** Undefined for a navigation, or if the client is gone. */
  client(): Promise<RequestClient | undefined>;
  /** The ids of the page that asks, and of the page that a navigation creates. Empty texts where there is none. */
  clientIds?: { asking: string; created: string };
  /** Whether the page with this id still exists. */
  isOpen?(clientId: string): Promise<boolean>;
  /** Whether the user can see the window with this id. Undefined where there are no windows. */
  isVisible?(clientId: string): Promise<boolean>;
  /** Whether an open page's URL begins like this. Pages below `/-/` do not count. */
  isOpenAt?(start: string): Promise<boolean>;
  /** Asks the browser to wake the worker when there is a network. Has no effect in browsers without this feature. */
  requestSync(): void;
  /** On a site's own origin: returns the page that fetches the user's settings before the site's first content. */
  sitePage?(): Promise<Response>;
  /** Reloads pages whose URL `isOf` accepts, or loads `path` there, so that no page keeps rights that it has lost. */
  reloadPages?(isOf: (url: URL) => boolean, path?: string): Promise<void>;
  /** Verifies the shell's cached files again, because a page that was trusted until now may have changed them. */
  recheckFiles?(): Promise<void>;
}

/**
 * Whether a request may use `/-/…`. The request must come from one of the gateway's own pages, or from a page of the
 * site that embeds the gateway. The form of the trust question is a navigation in a window.
 */
export async function mayUseApi(
  request: Request,
  context: RequestContext,
  { origin, base, site, trustedPages }: Deployment,
): Promise<boolean> {
  if (!site && request.mode === 'navigate') return isTopLevelNavigation(request);
  const client = await context.client();
  if (!client) return false;
  const url = new URL(client.url);
  if (!trustedPages) return url.origin === origin && !url.pathname.startsWith(base);
  if (!trustedPages.has(url.pathname)) return false;
  // A framed page belongs to the shell only in a frame. A page of the site could open the same document in a window.
  return !(client.isTopLevel && framablePages.has(url.pathname));
}

/**
 * Whether a frame loads a page, and a page of another origin shows the frame. The shell may show sites of other origins. A page
 * can hide its URL: then it belongs to this content only if the content is open.
 * @param root the path of the content.
 */
export async function isForeignFrame(
  { mode, destination, referrer }: Request,
  { isOpenAt }: Pick<RequestContext, 'isOpenAt'>,
  deployment: Deployment,
  root: string,
): Promise<boolean> {
  if (mode !== 'navigate' || destination === 'document') return false;
  const { origin, ownsOrigin } = deployment;
  if (referrer === '') return ownsOrigin && !(await isOpenAt?.(`${origin}${root}`));
  return ![origin, gatewayOrigin(deployment)].includes(new URL(referrer).origin);
}

/**
 * Returns the URL of the sender, or the referrer of a request without a client. On an embedding site, a client without
 * its own URL, such as a `srcdoc` frame, has its parent's URL as referrer. HTML cannot change a referrer, only omit it.
 */
export async function clientUrl(
  request: Request,
  context: RequestContext,
  { mode }: Deployment,
): Promise<string> {
  const url = (await context.client())?.url;
  const isOwn = url !== undefined && (mode !== 'embedded' || /^https?:/.test(url));
  return isOwn ? url : request.referrer;
}
