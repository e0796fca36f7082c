import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLoopbackName, isSiteName, withoutPort } from './request-host.ts';

/** A longer list of tags counts as none. */
const maxTagsCharacters = 8_192;
/** Names have 253 characters. Answers repeat the origin, and a client may not read them. */
const maxOriginCharacters = 270;

/**
 * Whether a request may write without a token. A page may only if it has exactly the host and port of the peer, and
 * only under a name that is always this machine. Pages of sites are from strangers, so they never may. The rules are in
 * docs/reference/protocol.md.
 */
export function mayWrite({ headers: { origin, host = '' } }: IncomingMessage): boolean {
  const name = withoutPort(host);
  if (!isLoopbackName(name) || isSiteName(name)) return false;
  if (origin === undefined) return true;
  const originHost = hostOf(origin);
  if (originHost === undefined || isSiteName(withoutPort(originHost))) return false;
  return originHost === host.toLowerCase();
}

/**
 * Whether a page may use the chunks: a page of this machine, or one of an origin in `allowed`. The chunks tell which sites the
 * user opened. A page at another name that leads to this machine has the origin of that name, and sends no `Origin`.
 */
export function mayUse({ headers }: IncomingMessage, allowed: readonly string[]): boolean {
  if (allowed.includes('*')) return true;
  const { origin, host = '' } = headers;
  if (!isLoopbackName(withoutPort(host)) && !allowed.some((each) => hostOf(each) === host.toLowerCase()))
    return false;
  // Frames and windows send none. Pages of sites have the same site as the gateway.
  if (origin === undefined) return !['cross-site', 'same-site'].includes(`${headers['sec-fetch-site']}`);
  return allowed.includes(origin) || isLoopbackName(withoutPort(hostOf(origin) ?? ''));
}

function hostOf(origin: string): string | undefined {
  return /^[a-z][a-z\d+.-]*:\/\/(.+)$/i.exec(origin)?.[1]?.toLowerCase();
}

/** Adds the headers that let a page of the request's origin read. */
export function allowReading({ headers: { origin } }: IncomingMessage, response: ServerResponse): void {
  response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  if (origin === undefined || origin.length > maxOriginCharacters) return;
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Expose-Headers', 'ETag, Content-Length, Retry-After');
  response.setHeader('Timing-Allow-Origin', origin);
}

export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

export function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  const methods = mayWrite(request) ? 'GET, HEAD, PUT' : 'GET, HEAD';
  response.setHeader('Access-Control-Allow-Methods', methods);
  response.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, If-None-Match');
  response.setHeader('Access-Control-Max-Age', '7200');
  response.setHeader('Access-Control-Allow-Private-Network', 'true');
  response.writeHead(204).end();
}

/** Whether the client has the bytes with this tag already. */
export function matchesEtag({ headers }: IncomingMessage, etag: string): boolean {
  const list = headers['if-none-match'] ?? '';
  const tags = list.length > maxTagsCharacters ? [] : list.split(',');
  return tags.some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
