import type { RequestHost } from './host.ts';

/** The pages below `/-/` that connect the origins of one gateway. docs/explanation/own-origins.md describes them. */
export const gatewayPages = {
  bridge: '/-/bridge.html',
  root: '/-/root.html',
  site: '/-/site.html',
  move: '/-/move.html',
} as const;

const none = "'none'";
const worker = '/sw.js';
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
    default:
      return shellPolicy(host);
  }
}

function shellPolicy(host: RequestHost): string {
  const assets = sources(host, '/assets/', worker);
  const frames = host.kind === 'root' ? `*.${host.own}` : host.kind === 'site' ? host.root : none;
  return [
    "default-src 'none'",
    `script-src ${assets} 'wasm-unsafe-eval'`,
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
