import { typeOfName } from '../src/gateway/http/content-type.ts';
import { siteOfHost } from '../src/gateway/origins/site-host.ts';

/** Where pages may connect to: to peers anywhere, and to this machine. A policy cannot name `[::1]`. */
const connections = "'self' https: http://127.0.0.1:* http://localhost:* http://*.localhost:*";

const workerPath = '/sw.js';

/** The page that takes over the library of the same gateway at another name. */
const movePage = '/-/move.html';

/** The gateway's own files on a site's origin. */
export const isForSites = (path: string): boolean => /^\/-\/(bridge|site)\./.test(path);

/**
 * The headers that the gateway's own files are answered with. A cache can hold other ones, so they come from nowhere
 * else. The host sends the same ones (`peer/src/http/web/`).
 *
 * @param host name and port of this origin.
 */
export function shellHeaders(path: string, host: string): Record<string, string> {
  return {
    'Content-Type': typeOfName(path) ?? 'application/octet-stream',
    'Cache-Control': 'no-cache',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': openerPolicyOf(path),
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Origin-Agent-Cluster': '?1',
    'X-DNS-Prefetch-Control': 'off',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
    'Content-Security-Policy': policyOf(path, host),
  };
}

function openerPolicyOf(path: string): string {
  // A page of the site must not get hold of the window of one that may use the worker's endpoints.
  if (isForSites(path)) return 'same-origin';
  // It talks to the window that opened it, which is of another origin.
  return path === movePage ? 'unsafe-none' : 'same-origin-allow-popups';
}

/**
 * Content has paths on the same origin, so the policy names those of the gateway's files. Policies match no address but
 * `127.0.0.1`: by any other the whole origin is allowed.
 */
function policyOf(path: string, host: string): string {
  const isLoopback = /^127\.0\.0\.1(:|$)/.test(host);
  const isNamed = !/^\[|\.\d+(:|$)/.test(host);
  const own = (...paths: string[]) =>
    isNamed || isLoopback ? paths.map((path) => host + path).join(' ') : "'self'";
  const root = siteOfHost(host)?.rootHost;
  const sites = isNamed && !root ? `*.${host}` : "'none'";
  const none = "'none'";
  // The bridge is framed by the root origin on a site's origin, and the root page the other way round.
  if (path === '/-/bridge.html') return ownPagePolicy(own, none, root ?? none);
  if (path === '/-/root.html') return ownPagePolicy(own, none, sites);
  if (path === '/-/site.html') return ownPagePolicy(own, root ?? none, none);
  if (path === movePage) return ownPagePolicy(own, none, none);
  // Firefox checks an answer of the worker once more, against the URL of the worker's script.
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

/** Of the pages below `/-/`: what they may frame, and by whom they may be framed. */
function ownPagePolicy(own: (...paths: string[]) => string, frames: string, ancestors: string): string {
  const files = own('/-/', workerPath);
  return `default-src 'none'; script-src ${files}; style-src ${files}; worker-src ${own(workerPath)}; connect-src 'self'; frame-src ${frames}; base-uri 'none'; form-action 'none'; frame-ancestors ${ancestors}`;
}
