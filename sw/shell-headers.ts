import { typeOfName } from '../src/gateway/http/content-type.ts';
import { noDevices, noPasskeys } from '../src/gateway/http/policy.ts';
import { siteOfHost } from '../src/gateway/origins/site-host.ts';

/** Allowed connections of pages: peers on any host, and this machine. A policy cannot name `[::1]`. */
const connections = "'self' https: http://127.0.0.1:* http://localhost:* http://*.localhost:*";

const workerPath = '/sw.js';

/** Files that are neither a document with scripts nor the script of a worker. */
const runsNothing = (path: string) =>
  /\.(css|ico|json|png|svg|txt|wasm|webmanifest)$/.test(path) || /^\/-\/.*\.js$/.test(path);

/** The page that copies the library of the same gateway from another host name. */
const movePage = '/-/move.html';

/** True for the gateway's own files on a site's origin. */
export const isForSites = (path: string): boolean => /^\/-\/(bridge|site)\./.test(path);

/**
 * Returns the headers for one of the gateway's own files. The worker does not use cached headers, because a page can
 * change the cache. The host sends the same headers (`peer/src/http/web/`).
 * @param host name and port of this origin.
 */
export function shellHeaders(path: string, host: string): Record<string, string> {
  return {
    'Content-Type': typeOfName(path) ?? 'application/octet-stream',
    'Cache-Control': 'no-cache',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': openerPolicyOf(path, host),
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Origin-Agent-Cluster': '?1',
    'X-DNS-Prefetch-Control': 'off',
    'Permissions-Policy': siteOfHost(host) ? `${noPasskeys}, ${noDevices}` : noDevices,
    'Content-Security-Policy': policyOf(path, host),
  };
}

/**
 * Returns the headers with which the worker serves a file: those of the host, and for the shell also what its viewer
 * needs. The viewer works only in a document that the worker has served, so hosts need no other headers.
 */
export function servedHeaders(path: string, host: string): Record<string, string> {
  const headers = shellHeaders(path, host);
  if (path !== '/index.html') return headers;
  const policy = headers['Content-Security-Policy']!;
  // The viewer's frame. The worker and the policies of other pages decide what it shows.
  headers['Content-Security-Policy'] = policy
    .replace(/frame-src ('none')?/, "frame-src 'self' ")
    .replace(' ;', ';');
  // Without this, a site in the viewer's frame could open a window, lead its frame to the bridge, and use the bridge
  // through the window's opener. At the names of loopback, where the library's move needs a window with an opener, the
  // viewer shows no site's own origin.
  const isLoopback = /^(localhost|127\.0\.0\.1)(:|$)/.test(host);
  if (!isLoopback) headers['Cross-Origin-Opener-Policy'] = 'same-origin';
  return headers;
}

function openerPolicyOf(path: string, host: string): string {
  // These pages may use the worker's endpoints. A page of the site must not get a reference to their window.
  if (isForSites(path)) return 'same-origin';
  // The move page exchanges messages with its opener, which has another origin. At other names it does nothing.
  const needsOpener = path === movePage && /^antway\.localhost(:|$)/.test(host);
  return needsOpener ? 'unsafe-none' : 'same-origin-allow-popups';
}

/**
 * Content has paths on the same origin, so the policy lists the paths of the gateway's files. `127.0.0.1` is the only
 * IP address that a policy can match. For any other IP address the policy allows the whole origin.
 */
function policyOf(path: string, host: string): string {
  // The policy that names the host has 900 bytes, in each answer.
  if (runsNothing(path)) return "default-src 'none'; frame-ancestors 'none'";
  const isLoopback = /^127\.0\.0\.1(:|$)/.test(host);
  const isNamed = !/^\[|\.\d+(:|$)/.test(host);
  const own = (...paths: string[]) =>
    isNamed || isLoopback ? paths.map((path) => host + path).join(' ') : "'self'";
  const root = siteOfHost(host)?.rootHost;
  const sites = isNamed && !root ? `*.${host}` : "'none'";
  const none = "'none'";
  // The root origin frames the bridge, which is on a site's origin. A site's origin frames the root page.
  if (path === '/-/bridge.html') return ownPagePolicy(own, none, root ?? none);
  if (path === '/-/root.html') return ownPagePolicy(own, none, sites);
  if (path === '/-/site.html') return ownPagePolicy(own, root ?? none, none);
  if (path === movePage) return ownPagePolicy(own, none, none);
  // Firefox checks a response of the worker again, against the URL of the worker's script.
  const assets = own('/assets/', workerPath);
  return [
    "default-src 'none'",
    `script-src ${assets} 'wasm-unsafe-eval'`,
    `worker-src ${own(workerPath, '/assets/')}`,
    `style-src ${assets}`,
    "img-src 'self' data: blob:",
    "media-src 'self'",
    `font-src ${assets}`,
    `manifest-src ${own('/manifest.webmanifest', workerPath)}`,
    `frame-src ${root ?? sites}`,
    `connect-src ${connections}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** @param frames the pages that it may frame. @param ancestors the pages that may frame it. */
function ownPagePolicy(own: (...paths: string[]) => string, frames: string, ancestors: string): string {
  const files = own('/-/', workerPath);
  return `default-src 'none'; script-src ${files}; style-src ${files}; worker-src ${own(workerPath)}; connect-src 'self'; frame-src ${frames}; base-uri 'none'; form-action 'none'; frame-ancestors ${ancestors}`;
}
