/**
 * The policy of a response for an address: what it may run and load, and who may use it. One pure function decides.
 * docs/explanation/security.md shows the matrix.
 */

import { type Deployment, gatewayOrigin } from '../deployment.ts';

/** How content shares an origin. */
export type Mode =
  /** On the gateway's own origin, next to the shell. */
  | 'path'
  /** The site has its own origin. */
  | 'own-origin'
  /** Content is on the origin of another site, which embeds it. */
  | 'embedded';

export interface PolicyRequest {
  mode: Mode;
  isTrusted: boolean;
  /** `Request.destination`. */
  destination: string;
  /** `Request.mode`. */
  requestMode?: string;
  scope: Scope;
  /** In hex. */
  targetAddress: string;
  /**
   * The address of the client page; for a frame, of the embedding page. Null for the shell or a page of the embedding
   * site. Undefined if unknown. Needed only if `dependsOnClient`.
   */
  clientAddress?: string | null | undefined;
  contentType?: string;
}

/** The location of an address's own files. */
export interface Scope {
  origin: string;
  /** The encoded path of the files, with a slash at its end. The path of a single file has no such slash. */
  pathPrefix: string;
  /**
   * Firefox checks a policy again after the worker has responded, with the URL of the worker's script as the source.
   */
  workerPath: string;
}

export type Policy = { headers: Record<string, string>; refusal?: never } | { refusal: string };

/** The same for all top-level responses, so an opener of another origin cannot find out what the window shows. */
const openerPolicy = { 'Cross-Origin-Opener-Policy': 'same-origin-allow-popups' };

/**
 * The HTML specification lets a browser return a network error if a sandboxed document has an opener policy. The rule
 * is about documents that *inherit* a sandbox. Chromium 156 and Firefox 153 load a document whose own policy sandboxes
 * it. If a browser ever refuses such documents, its canary test fails (`tests/{security,firefox,webkit}`). Then set
 * this to false: restricted documents keep the sandbox, which is more important than the opener policy.
 */
const sandboxedHaveOpenerPolicy: boolean = true;

/**
 * WebKit does not send a request for a document through the service worker if the navigating or framing page is
 * sandboxed without scripts. Every link and frame of a restricted page would then reach the host. In WebKit the policy
 * therefore has no sandbox, and only `script-src 'none'` blocks scripts. A worker cannot test this behaviour itself, so
 * it checks for a property that only WebKit's errors have.
 */
const canSandbox = !('line' in new Error());

/**
 * Never add `allow-scripts`, `allow-forms`, `allow-modals`. Without `allow-same-origin` no request reaches the worker.
 */
const sandbox =
  'sandbox allow-same-origin allow-downloads allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation';

/** `nosniff` makes the browser use the given type, so it never treats an image as a document. */
const always: Record<string, string> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** Forbids only plug-ins and framing by other origins. */
const ownAncestors = "frame-ancestors 'self'";
const trustedPolicy = `object-src 'none'; ${ownAncestors}`;

/** Of all pages of the gateway. */
export const noDevices = 'camera=(), microphone=(), geolocation=()';

/**
 * At `<base32>.<host>`, a site could ask for passkeys of the gateway: browsers let it name `<host>` as their owner. The
 * site's script could use any document of its origin for that, and it can still use an empty window or one of data.
 */
export const noPasskeys = 'publickey-credentials-create=(), publickey-credentials-get=()';

/** On another site's origin, that site decides about these headers. */
const ownOriginHeaders = { 'Origin-Agent-Cluster': '?1', 'Permissions-Policy': noPasskeys };

/** Disables features that elements and attributes can use without a script. */
const noFeatures = {
  'X-DNS-Prefetch-Control': 'off',
  'Permissions-Policy': `${noPasskeys}, ${noDevices}, display-capture=(), payment=()`,
};

const frames = new Set(['iframe', 'frame', 'embed', 'object', 'fencedframe']);

/** Destinations that run in the client page, or act for it. */
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

/** Destinations that show a file, play it or pass it to a script as data. They do not run or apply the file. */
const harmless = new Set(['', 'image', 'audio', 'video', 'track', 'font', 'document', 'iframe', 'frame']);

/** Finding the client takes time. */
export function dependsOnClient({ mode, isTrusted, destination }: PolicyRequest): boolean {
  if (mode === 'own-origin') return false;
  if (isTrusted) return frames.has(destination);
  return mode === 'path' ? active.has(destination) : destination === 'style';
}

/**
 * Whether the browser would run or apply the response with the rights of the requesting document: scripts, style
 * sheets, workers, worklets, XSLT, modules, manifests, plug-ins, and unknown destinations of future browsers. Style
 * sheets of the document's own address do not count.
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
    // A page of another address that frames this address controls its fragment and position, so the framed document
    // loses its trust. In embedded mode the client may be unknown, because the site can withhold the referrer from its
    // own frames. Then the sandbox and `frame-src` of restricted pages protect instead.
    // The shell's viewer is on the same origin. Framed scripts could reach its window.
    const isShell = mode === 'path' && clientAddress === null;
    if (isTrusted && !isOwn && (isShell || (clientAddress !== null && (isClientKnown || mode === 'path')))) {
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
    ...(mode !== 'embedded' && ownOriginHeaders),
    ...(!isTrusted && noFeatures),
  };
}

/**
 * Forbids all scripts, all resources of other addresses and origins, and framing by other origins.
 * `Connection-Allowlist` would also stop preconnections, but with it Chromium 156 blocks every link to another site.
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
    ownAncestors,
  ];
  // Chromium does not show a PDF in a sandbox. Its PDF viewer is a separate page of the browser.
  if (canSandbox && !contentType.startsWith('application/pdf')) directives.push(sandbox);
  return directives.join('; ');
}

/** Policies cannot name IPv6 hosts. An unescaped comma or semicolon would end the source list. */
function sourceOf({ origin, pathPrefix }: Scope): string {
  if (origin.endsWith(']') || origin.includes(']:')) return "'self'";
  return origin + pathPrefix.replaceAll(';', '%3B').replaceAll(',', '%2C');
}

/**
 * On a site's own origin: lets pages of the gateway's origin frame this answer, besides the site's own. Only the shell
 * can: other pages of that origin run no script, and their policy allows frames of their own address only.
 */
export function letShellFrame(headers: Headers, deployment: Pick<Deployment, 'origin' | 'site'>): void {
  if (!deployment.site) return;
  const shell = gatewayOrigin(deployment);
  const policy = headers.get('Content-Security-Policy') ?? '';
  headers.set('Content-Security-Policy', policy.replace(ownAncestors, `${ownAncestors} ${shell}`));
}

export interface OwnPageOptions {
  /** The only script of the page: `sha256-…`, and whether it may send requests to this origin. */
  script?: { hash: string; mayAsk: boolean } | undefined;
  /** As in `Deployment`. Default: true. */
  ownsOrigin?: boolean;
}

/** Headers of generated pages: listings and errors. They have one style element, and by default no script. */
export function ownPageHeaders({ script, ownsOrigin = true }: OwnPageOptions = {}): Record<string, string> {
  const asking = script?.mayAsk ? "; connect-src 'self'" : '';
  const scripts = script ? `; script-src '${script.hash}'${asking}` : '';
  return {
    ...always,
    ...(ownsOrigin && { ...openerPolicy, ...ownOriginHeaders }),
    'Content-Security-Policy': `default-src 'none'; style-src 'unsafe-inline'${scripts}; base-uri 'none'; form-action 'self'; ${ownAncestors}`,
  };
}

/** Headers of `/-/…`: data for the shell, which pages cannot frame or use as documents. */
export function apiHeaders(): Record<string, string> {
  return {
    ...always,
    ...openerPolicy,
    'X-Frame-Options': 'DENY',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'Cache-Control': 'no-store',
  };
}

/** Headers of redirects, so that a window with a redirect reveals no more than a window without one. */
export function redirectHeaders({ ownsOrigin }: Pick<Deployment, 'ownsOrigin'>): Record<string, string> {
  return ownsOrigin ? openerPolicy : {};
}
