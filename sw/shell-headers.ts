import { typeOfName } from '../src/gateway/content-type.ts';
import { siteOfHost } from '../src/gateway/site-host.ts';

/**
 * The headers that the shell's files are answered with. A cache can hold other ones, so they come from nowhere else. The
 * host sends the same policy with the first visit (`peer/src/http/web/mod.rs`).
 *
 * @param origin of the gateway.
 */
export function shellHeaders(path: string, origin: string): Record<string, string> {
  return {
    'Content-Type': typeOfName(path) ?? 'application/octet-stream',
    'Cache-Control': 'no-cache',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
    'Content-Security-Policy': path.startsWith('/-/') ? framePolicy(path, origin) : shellPolicy(origin),
    ...(/\.html$/.test(path) && { 'Origin-Agent-Cluster': '?1', 'X-DNS-Prefetch-Control': 'off' }),
  };
}

/**
 * Scripts and styles are the shell's own files only: content has the same origin in path mode. Peers may be anywhere. A
 * policy cannot name `[::1]`, which Chromium calls an invalid source, so there the whole origin is allowed.
 */
function shellPolicy(origin: string): string {
  const { protocol, host } = new URL(origin);
  const isNamed = !host.startsWith('[');
  const own = (path: string) => (isNamed ? origin + path : "'self'");
  return [
    "default-src 'none'",
    `script-src ${own('/assets/')} 'wasm-unsafe-eval'`,
    `worker-src ${own('/sw.js')} ${own('/assets/')}`,
    `style-src ${own('/assets/')}`,
    "img-src 'self' data: blob:",
    "media-src 'self'",
    "font-src 'self'",
    `manifest-src ${own('/manifest.webmanifest')}`,
    "connect-src 'self' https: http://127.0.0.1:* http://localhost:*",
    `frame-src ${isNamed ? `${protocol}//*.${host}` : "'none'"}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * Pages below `/-/`: the gateway's own origin frames `/-/bridge` of a site's origin, and that frames `/-/root` of the
 * gateway's.
 */
function framePolicy(path: string, origin: string): string {
  const { protocol, host } = new URL(origin);
  const site = siteOfHost(host);
  const root = site ? `${protocol}//${site.rootHost}` : "'none'";
  const sites = site || host.startsWith('[') ? "'none'" : `${protocol}//*.${host}`;
  const ancestors = path === '/-/bridge.html' ? root : path === '/-/root.html' ? sites : "'none'";
  return [
    "default-src 'none'",
    `script-src ${origin}/-/`,
    `style-src ${origin}/-/`,
    `worker-src ${origin}/sw.js`,
    "connect-src 'self'",
    `frame-src ${path === '/-/site.html' ? root : "'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
  ].join('; ');
}
