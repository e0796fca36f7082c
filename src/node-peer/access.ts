import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLoopbackName, isSiteName, withoutPort } from './request-host.ts';

/**
 * Whether a request may write without a token. A page may only if it has exactly the host and port of the peer, and
 * only under a name that is always this machine. Pages of sites are from strangers, so they never may. The rules are in
 * docs/reference/protocol.md.
 */
export function mayWrite({ headers: { origin, host = '' } }: IncomingMessage): boolean {
  const name = withoutPort(host);
  if (!isLoopbackName(name) || isSiteName(name)) return false;
  if (origin === undefined) return true;
  const originHost = /^[a-z][a-z\d+.-]*:\/\/(.+)$/i.exec(origin)?.[1];
  if (originHost === undefined || isSiteName(withoutPort(originHost))) return false;
  return originHost.toLowerCase() === host.toLowerCase();
}

/** Adds the headers that let pages of all origins read. */
export function allowReading(response: ServerResponse): void {
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Expose-Headers', 'ETag, Content-Length, Retry-After');
  response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  response.setHeader('Timing-Allow-Origin', '*');
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
  const tags = headers['if-none-match']?.split(',') ?? [];
  return tags.some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
