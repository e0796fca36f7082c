import { type AntwayHandler, createHandler, type HandlerOptions } from './handler.ts';

/** What `registerRoute` of workbox-routing takes. */
export interface AntwayRoute {
  match(options: { url: URL }): boolean;
  handler(options: { event: ExtendableEvent }): Promise<Response>;
  /** The methods to register it for: content is read, and pins are changed by the others. */
  readonly methods: readonly ('GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE')[];
}

/**
 * Antway's part of a worker as a route for Workbox:
 *
 * ```js
 * const { match, handler, methods } = antwayRoute({ config: { peers: ['https://peer.example:4433'] } });
 * for (const method of methods) registerRoute(match, handler, method);
 * ```
 *
 * Parameters and errors as of `createHandler`.
 */
export function antwayRoute(options?: HandlerOptions): AntwayRoute {
  const antway: AntwayHandler = createHandler(options);
  return {
    match: ({ url }) => antway.matches(url),
    // Workbox's type is wider, since it also runs routes for messages; a route that is matched has a fetch event.
    handler: ({ event }) => antway.handle(event as FetchEvent),
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
  };
}
