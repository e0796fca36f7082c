import { type Deployment, framedPages } from './deployment.ts';

/** The page or worker that sends a request. */
export interface RequestClient {
  url: string;
  /** Whether it is the document of a window and not of a frame. */
  isTopLevel: boolean;
}

/** What the worker knows of a request that the request does not tell. */
export interface RequestContext {
  /** Keeps the worker alive until the promise is done. */
  waitUntil(work: Promise<unknown>): void;
  /** Who asks; undefined for a navigation, and if it is gone. */
  client(): Promise<RequestClient | undefined>;
  /** Asks the browser to wake the worker when there is a network, where it does that. */
  wakeLater(): void;
  /** On a site's own origin: the page that fetches the user's settings before the first content is shown. */
  sitePage?(): Promise<Response>;
  /**
   * Loads the open pages anew whose URL `isOf` accepts, so that none goes on with rights that it no longer has.
   * @param path what is loaded in their place; the same pages if not given.
   */
  reloadPages?(isOf: (url: URL) => boolean, path?: string): Promise<void>;
  /** Checks the shell's cached files again: a page that was trusted until now may have changed them. */
  recheckFiles?(): Promise<void>;
}

/**
 * Whether a request may use `/-/…`: it comes from one of the gateway's own pages, or from a page of the site that embeds the
 * gateway. A user who opens such a URL in a tab is welcome too, but not on a site's own origin: that answer is sandboxed,
 * so no page can read it.
 */
export async function mayUseApi(
  request: Request,
  context: RequestContext,
  { origin, base, site, trustedPages }: Deployment,
): Promise<boolean> {
  if (!site && request.mode === 'navigate') return request.destination === 'document';
  const client = await context.client();
  if (!client) return false;
  const url = new URL(client.url);
  if (!trustedPages) return url.origin === origin && !url.pathname.startsWith(base);
  if (!trustedPages.has(url.pathname)) return false;
  // A page that is there to be framed is the shell's in a frame only: who opens it in a window can be a page of the site.
  return !(client.isTopLevel && framedPages.has(url.pathname));
}

/**
 * URL of the page or worker that asks. One without a URL of its own, such as a `srcdoc` frame, is told by the referrer,
 * which is then its parent's. HTML cannot change a referrer, only leave it out.
 */
export async function clientUrl(request: Request, context: RequestContext): Promise<string> {
  const client = await context.client();
  return client && /^https?:/.test(client.url) ? client.url : request.referrer;
}
