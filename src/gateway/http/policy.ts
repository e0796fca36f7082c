/**
 * The policy of an answer that comes from an address: who may run what, and load what. One pure function decides, from the
 * address asked for, the client that asks and the destination of the answer. docs/explanation/security.md shows its matrix.
 */

import type { Deployment } from '../deployment.ts';

/** How content shares an origin with others. */
export type Mode =
  /** All addresses share the gateway's own origin, next to the shell. */
  | 'path'
  /** The site has an origin of its own. */
  | 'own-origin'
  /** Content is a guest on the origin of another site. */
  | 'embedded';

export interface PolicyRequest {
  mode: Mode;
  /** Whether the address may run scripts. */
  isTrusted: boolean;
  /** `Request.destination`. */
  destination: string;
  /** `Request.mode`. */
  requestMode?: string;
  scope: Scope;
  /** The address asked for, in hex. */
  targetAddress: string;
  /**
   * The address of the page that asks: of the embedding page, for a frame. `null` for a page that is no content: the
   * shell, or a page of the embedding site. Undefined if unknown. Needed only if `dependsOnClient`.
   */
  clientAddress?: string | null | undefined;
  /** The answer's `Content-Type`, if it is known already. */
  contentType?: string;
}

/** Where an address's own files are. */
export interface Scope {
  origin: string;
  /** The path that they begin with, encoded, a slash at its end; a file's own path has none. */
  pathPrefix: string;
  /**
   * Path of the worker's script. Firefox asks the policy a second time when the worker has answered, and takes the script
   * for the place that the answer comes from.
   */
  workerPath: string;
}

export type Policy = { headers: Record<string, string>; refusal?: never } | { refusal: string };

/** One value for every top-level answer: an opener of another origin learns nothing from what the window shows. */
const openerPolicy = { 'Cross-Origin-Opener-Policy': 'same-origin-allow-popups' };

/**
 * The HTML specification lets a browser answer with a network error if a sandboxed document has an opener policy. It means
 * documents that *inherit* a sandbox; Chromium 156 and Firefox 153 load a document whose own policy has one. If a browser ever
 * refuses such documents, its canary test fails (`tests/{security,firefox,webkit}`). Set this to false then: restricted
 * documents lose the opener policy and keep the sandbox, which is worth more.
 */
const sandboxedHaveOpenerPolicy: boolean = true;

/**
 * WebKit takes requests for documents past the service worker if the page that navigates, or that holds the frame, is
 * sandboxed without scripts: every link and frame of a restricted page would reach the host. There the sandbox is left out, and
 * `script-src 'none'` alone keeps scripts from running. A worker cannot try this out for itself, so it looks for what
 * only WebKit's errors have.
 */
const canSandbox = !('line' in new Error());

/** Never `allow-scripts`, `allow-forms` or `allow-modals`. Without `allow-same-origin` no request reaches the worker. */
const sandbox =
  'sandbox allow-same-origin allow-downloads allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation';

/** Sent with every answer. The browser takes the type as given and never a document out of a picture. */
const always: Record<string, string> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Scripts and whatever else the site brings or loads; still no plug-ins, and no framing by other origins. */
const trustedPolicy = "object-src 'none'; frame-ancestors 'self'";

/** What elements and attributes can do without a script. */
const noFeatures = {
  'X-DNS-Prefetch-Control': 'off',
  'Permissions-Policy': ['camera', 'display-capture', 'geolocation', 'microphone', 'payment']
    .map((feature) => `${feature}=()`)
    .join(', '),
};

const frames = new Set(['iframe', 'frame', 'embed', 'object', 'fencedframe']);

/** What runs in the page that asks, or stands for it. */
const active = new Set([
  'script',
  'worker',
  'sharedworker',
  'serviceworker',
  'audioworklet',
  'paintworklet',
  'xslt',
  'manifest',
]);

/** Destinations that show a file, play it or give it to a script as data. They do not run or apply it. */
const harmless = new Set(['', 'image', 'audio', 'video', 'track', 'font', 'document', 'iframe', 'frame']);

/** Whether the policy of an answer can depend on who asks. To find that out takes time. */
export function dependsOnClient({ mode, isTrusted, destination }: PolicyRequest): boolean {
  if (mode === 'own-origin') return false;
  if (isTrusted) return frames.has(destination);
  return mode === 'path' ? active.has(destination) : destination === 'style';
}

/**
 * Whether the browser would run or apply the answer with the rights of the document that requests it: scripts, style
 * sheets, workers, worklets, XSLT, modules of every type, manifests and plug-ins. Destinations that a later browser adds
 * count as such. A document of the same address may have styles of its own.
 */
function isApplied({ destination, requestMode, clientAddress, targetAddress }: PolicyRequest): boolean {
  // A `use` element clones the SVG file's elements, with their handlers and links, into its own document.
  if (destination === 'image') return requestMode === 'same-origin';
  if (destination === 'style') return clientAddress !== targetAddress;
  return !harmless.has(destination);
}

export function policyOf(request: PolicyRequest): Policy {
  const { mode, destination, clientAddress, targetAddress } = request;
  const isClientKnown = clientAddress !== undefined;
  let { isTrusted } = request;
  if (mode === 'embedded' && !isTrusted && isApplied(request)) {
    return {
      refusal: `This site shows content of this address as pictures, media, fonts and pages, but does not apply it as “${destination}”. To allow that, list the address in “trusted” of the site’s configuration.`,
    };
  }
  if (dependsOnClient(request)) {
    const isOwn = clientAddress === targetAddress;
    if (!isTrusted && !clientAddress) {
      return { refusal: `This address is not trusted, so no other page may use it as “${destination}”.` };
    }
    // A frame of another address gives this one a fragment and a place on its page. A site that embeds content may withhold the
    // referrer from its own frames; the sandbox and `frame-src` of restricted pages hold there.
    if (isTrusted && !isOwn && clientAddress !== null && (isClientKnown || mode === 'path')) {
      isTrusted = false;
    }
  }
  return { headers: headersOf({ ...request, isTrusted }) };
}

function headersOf(request: PolicyRequest): Record<string, string> {
  const { mode, isTrusted, destination } = request;
  const isTopLevel = destination === 'document';
  const headers = {
    ...always,
    'Content-Security-Policy': isTrusted ? trustedPolicy : restrictedPolicy(request),
  };
  if (!isTopLevel && !frames.has(destination)) return headers;
  const hasOpenerPolicy =
    isTopLevel && mode !== 'embedded' && (isTrusted || !canSandbox || sandboxedHaveOpenerPolicy);
  return {
    ...headers,
    ...(hasOpenerPolicy && openerPolicy),
    // On another site's origin these are that site's to say.
    ...(mode !== 'embedded' && { 'Origin-Agent-Cluster': '?1' }),
    ...(!isTrusted && noFeatures),
  };
}

/**
 * No scripts of any kind, nothing from other addresses or origins, no way to be framed by other origins.
 *
 * `Connection-Allowlist` would stop preconnections too, but Chromium 156 then blocks every link to another site.
 */
function restrictedPolicy({ scope, contentType = '' }: PolicyRequest): string {
  const own = sourceOf(scope);
  const answers = own === "'self'" ? own : `${own} ${sourceOf({ ...scope, pathPrefix: scope.workerPath })}`;
  const directives = [
    `default-src ${answers} data: blob:`,
    "script-src 'none'",
    "worker-src 'none'",
    "object-src 'none'",
    `style-src ${answers} 'unsafe-inline' data:`,
    `frame-src ${answers}`,
    "connect-src 'none'",
    "manifest-src 'none'",
    `base-uri ${own}`,
    "form-action 'none'",
    "frame-ancestors 'self'",
  ];
  // Chromium shows no PDF in a sandbox. Its viewer is a page of the browser's own.
  if (canSandbox && !contentType.startsWith('application/pdf')) directives.push(sandbox);
  return directives.join('; ');
}

/** A source expression. Policies cannot name IPv6 hosts, and commas and semicolons end what they stand in. */
function sourceOf({ origin, pathPrefix }: Scope): string {
  if (origin.endsWith(']') || origin.includes(']:')) return "'self'";
  return origin + pathPrefix.replaceAll(';', '%3B').replaceAll(',', '%2C');
}

export interface OwnPageOptions {
  /** The one script that the page has after all: its hash, as `sha256-…`, and whether it may ask this origin. */
  script?: { hash: string; mayAsk: boolean } | undefined;
  /** As of `Deployment`; true if not given. */
  ownsOrigin?: boolean;
}

/** For pages that the gateway makes itself: listings and errors. They hold one style element, and no script. */
export function ownPageHeaders({ script, ownsOrigin = true }: OwnPageOptions = {}): Record<string, string> {
  const asking = script?.mayAsk ? "; connect-src 'self'" : '';
  const scripts = script ? `; script-src '${script.hash}'${asking}` : '';
  return {
    ...always,
    ...(ownsOrigin && { ...openerPolicy, 'Origin-Agent-Cluster': '?1' }),
    'Content-Security-Policy': `default-src 'none'; style-src 'unsafe-inline'${scripts}; base-uri 'none'; form-action 'self'; frame-ancestors 'self'`,
  };
}

/** For `/-/…`: data for the shell, not to be shown in a frame, and useless as a document. */
export function apiHeaders(): Record<string, string> {
  return {
    ...always,
    ...openerPolicy,
    'X-Frame-Options': 'DENY',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'Cache-Control': 'no-store',
  };
}

/** For redirects: a window that follows one reveals no more than a window that does not. */
export function redirectHeaders({ ownsOrigin }: Pick<Deployment, 'ownsOrigin'>): Record<string, string> {
  return ownsOrigin ? openerPolicy : {};
}
