/**
 * Security headers of everything that comes from an address. In path mode all sites share the gateway's origin,
 * so a document may only do what cannot reach beyond itself, until the person trusts its address.
 */

/** Sent with every answer. The browser takes the type as given and never a document out of a picture. */
const always: Record<string, string> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** No scripts of any kind, nothing from other origins, no way to be framed by them. */
const untrustedPolicy = [
  "default-src 'self' data: blob:",
  "script-src 'none'",
  "worker-src 'none'",
  "object-src 'none'",
  "style-src 'self' 'unsafe-inline' data:",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** Scripts and whatever else the site brings or loads; still no plug-ins, and no framing by other origins. */
const trustedPolicy = ["object-src 'none'", "frame-ancestors 'self'"].join('; ');

/** @param isTrusted whether the person, or the host's config, trusts the address with scripts. */
export function contentHeaders(isTrusted: boolean): Record<string, string> {
  return { ...always, 'Content-Security-Policy': isTrusted ? trustedPolicy : untrustedPolicy };
}

/**
 * For pages that the gateway makes itself: listings and errors. They hold one style element, and no script.
 * @param script the one that a page has after all: its hash, as `sha256-…`, and whether it may ask this origin.
 */
export function ownPageHeaders(script?: { hash: string; mayAsk: boolean }): Record<string, string> {
  const asking = script?.mayAsk ? "; connect-src 'self'" : '';
  const scripts = script ? `; script-src '${script.hash}'${asking}` : '';
  return {
    ...always,
    'Content-Security-Policy': `default-src 'none'; style-src 'unsafe-inline'${scripts}; base-uri 'none'; form-action 'self'; frame-ancestors 'self'`,
  };
}

/** For `/-/…`: data for the shell, not to be shown in a frame, and useless as a document. */
export function internalHeaders(): Record<string, string> {
  return {
    ...always,
    'X-Frame-Options': 'DENY',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'Cache-Control': 'no-store',
  };
}
