import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from 'node:http';
import { pipeline } from 'node:stream/promises';
import { HttpError } from './http-error.ts';

/** Headers that belong to one connection. */
const connectionHeaders = [
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'te', 'trailer'],
];
/** The header `Connection` cannot remove these: access depends on them, or the length of the body. */
const endToEndHeaders = ['host', 'origin', 'content-length'];
const methodsWithBody = ['PUT', 'POST'];

/**
 * Refuses a body for a method without one. Node sends such a body on without its framing, so the next server would read
 * the body as a request.
 * @throws HttpError `BAD_REQUEST`
 */
export function refuseUnexpectedBody({ method, headers }: IncomingMessage): void {
  if (methodsWithBody.includes(method!)) return;
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return;
  throw new HttpError('BAD_REQUEST', { message: `a request with the method ${method} has no body` });
}

/**
 * Passes a request, which `refuseUnexpectedBody` has let pass, on to another server on this machine, with its headers, `Host` included, and its answer back.
 * @throws HttpError `BUSY` if the server cannot be reached; the error of a connection that broke.
 */
export async function forward(request: IncomingMessage, response: ServerResponse, to: URL): Promise<void> {
  const headers = withoutConnectionHeaders(request.headers);
  const onward = send({
    host: to.hostname.replace(/[[\]]/g, ''),
    port: to.port,
    method: request.method,
    path: request.url,
    headers,
  });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    onward.once('response', resolve).on('error', (cause) => reject(new HttpError('BUSY', { cause })));
  });
  response.once('close', () => onward.destroy());
  if (methodsWithBody.includes(request.method!)) request.pipe(onward);
  else onward.end();
  const answer = await answered;
  for (const [name, value] of Object.entries(withoutConnectionHeaders(answer.headers))) {
    if (value !== undefined) response.setHeader(name, value);
  }
  response.writeHead(answer.statusCode!);
  await pipeline(answer, response);
}

function withoutConnectionHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  // A set: a client can send a long list.
  const removed = new Set([...connectionHeaders, ...named.filter((name) => !endToEndHeaders.includes(name))]);
  const endToEnd = Object.entries(headers).filter(([name]) => !removed.has(name));
  return Object.fromEntries(endToEnd);
}
