import type { ServerResponse } from 'node:http';

/** The errors of a peer's HTTP interface: status, message. docs/reference/protocol.md lists the codes. */
const errors = {
  BAD_ADDRESS: [400, 'an address is 64 lower-case hex characters'],
  BAD_REQUEST: [400, 'the request body is incomplete'],
  FORBIDDEN: [403, 'this peer or this page does not allow writes'],
  NOT_FOUND: [404, 'not found on this peer'],
  METHOD: [405, 'the method is not allowed here'],
  TIMEOUT: [408, 'the request took too long to arrive'],
  TOO_LARGE: [413, 'a chunk has at most 4194304 bytes, a pointer 5303'],
  MISMATCH: [422, 'the bytes do not match the address'],
  BAD_POINTER: [422, 'the bytes are not a pointer that the owner of this address signed'],
  OUTDATED: [409, 'this peer has a pointer with the same or a larger counter'],
  HEADERS: [431, 'a request has at most 200 header fields'],
  FAILED: [500, 'the peer failed to answer'],
  BUSY: [503, 'the peer is overloaded; try again later'],
  FULL: [507, 'the store is full'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type HttpErrorCode = keyof typeof errors;

/** An error that the client gets as JSON with a stable code. */
export class HttpError extends Error {
  override readonly name = 'HttpError';

  constructor(
    readonly code: HttpErrorCode,
    { message = errors[code][1], ...options }: ErrorOptions & { message?: string } = {},
  ) {
    super(message, options);
  }

  get status(): number {
    return errors[this.code][0];
  }
}

/** Answers with the error, unless an answer has begun. Then the connection breaks, so that the client notices. */
export function sendError(response: ServerResponse, error: HttpError): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (error.code === 'BUSY') response.setHeader('Retry-After', '1');
  sendJson(response, { code: error.code, message: error.message }, error.status);
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  const body = Buffer.from(JSON.stringify(value));
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Content-Length', body.length);
  response.writeHead(status).end(response.req.method === 'HEAD' ? undefined : body);
}
