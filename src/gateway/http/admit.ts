import { AntwayError } from '../../errors.ts';

const methods = ['GET', 'HEAD', 'OPTIONS'];

/** @throws AntwayError `METHOD`, or `REFUSED` for a service worker's script. */
export function admit(request: Request): void {
  if (!methods.includes(request.method)) {
    throw new AntwayError('METHOD', `${request.method} is not possible: content is read-only.`, {
      allow: methods.join(', '),
    });
  }
  if (request.headers.get('Service-Worker') === 'script') {
    throw new AntwayError('REFUSED', 'Content may not register a service worker on the gateway.');
  }
}

/** The response has no CORS headers, because requests of other origins never reach a service worker. */
export function allowedMethods(): Response {
  return new Response(null, { status: 204, headers: { Allow: methods.join(', ') } });
}
