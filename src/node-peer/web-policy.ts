import type { RequestHost } from './request-host.ts';

/** The pages below `/-/` that connect the origins of one gateway. docs/explanation/own-origins.md describes them. */
export const gatewayPages = {
  bridge: '/-/bridge.html',
  root: '/-/root.html',
  site: '/-/site.html',
  move: '/-/move.html',
} as const;

/** The script of the service worker. */
export const worker = '/sw.js';
/** The file that a site's own origin has as `worker`. It imports that script from the gateway's origin. */
export const siteWorker = '/-/site-worker.js';

const none = "'none'";
/** Files that are neither a document with scripts nor the script of a worker. */
const runsNothing = /\.(css|ico|json|png|svg|txt|wasm|webmanifest)$|^\/-\/.*\.js$/;
/** Chromium rejects `[::1]` as an invalid source. */
const connect = "'self' https: http://127.0.0.1:* http://localhost:* http://*.localhost:*";

/**
 * The Content-Security-Policy of a hosted file. Content has paths on the same origins, so the policies list the paths of
 * hosted files instead of `'self'`. The peer in Rust sends the same policies; a test compares them.
 */
export function policyOf(host: RequestHost, path: string): string {
  const root = host.kind === 'site' ? host.root : none;
  switch (path) {
    case gatewayPages.bridge:
      return gatewayPagePolicy(host, none, root);
    case gatewayPages.root:
      return gatewayPagePolicy(host, none, host.kind === 'root' ? `*.${host.own}` : none);
    case gatewayPages.site:
      return gatewayPagePolicy(host, root, none);
    case gatewayPages.move:
      return gatewayPagePolicy(host, none, none);
    case siteWorker:
      return shellPolicy(host, host.kind === 'site' ? ` ${host.root}${worker}` : '');
    default:
      return runsNothing.test(path) ? "default-src 'none'; frame-ancestors 'none'" : shellPolicy(host, '');
  }
}

/** @param imported the source of the script that the worker imports, after a space. */
function shellPolicy(host: RequestHost, imported: string): string {
  const assets = sources(host, '/assets/', worker);
  const frames = host.kind === 'root' ? `*.${host.own}` : host.kind === 'site' ? host.root : none;
  return [
    "default-src 'none'",
    `script-src ${assets}${imported} 'wasm-unsafe-eval'`,
    `worker-src ${sources(host, worker, '/assets/')}`,
    `style-src ${assets}`,
    "img-src 'self' data: blob:",
    "media-src 'self'",
    `font-src ${assets}`,
    `manifest-src ${sources(host, '/manifest.webmanifest', worker)}`,
    `frame-src ${frames}`,
    `connect-src ${connect}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function gatewayPagePolicy(host: RequestHost, frames: string, ancestors: string): string {
  const own = sources(host, '/-/', worker);
  return [
    "default-src 'none'",
    `script-src ${own}`,
    `style-src ${own}`,
    `worker-src ${sources(host, worker)}`,
    "connect-src 'self'",
    `frame-src ${frames}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
  ].join('; ');
}

/** The source expressions of these paths on this host; `'self'` if a policy cannot name the host. */
function sources(host: RequestHost, ...paths: string[]): string {
  return 'own' in host ? paths.map((path) => host.own + path).join(' ') : "'self'";
}

/** The opener policy of a hosted file. */
export function openerPolicyOf(host: RequestHost, path: string): string {
  // The bridge may use the worker's endpoints. A page of the site must not get a reference to its window.
  if (path === gatewayPages.bridge || path === gatewayPages.site) return 'same-origin';
  const isApp = host.kind === 'root' && host.own.split(':')[0] === 'antway.localhost';
  // This page talks to the window that opened it, which has another origin.
  if (path === gatewayPages.move && isApp) return 'unsafe-none';
  return 'same-origin-allow-popups';
}
