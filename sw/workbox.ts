import { type AntwayHandler, createHandler, type HandlerOptions } from './handler.ts';

/** The arguments for `registerRoute` of workbox-routing. */
export interface AntwayRoute {
  match(options: { url: URL }): boolean;
  handler(options: { event: ExtendableEvent }): Promise<Response>;
  /** Register the route for each of these methods. `GET` and `HEAD` read content. The other methods change pins. */
  readonly methods: readonly ('GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE')[];
}

/**
 * Returns Antway's part of a worker as a route for Workbox:
 *
 * ```js
 * const { match, handler, methods } = antwayRoute({ config: { peers: ['https://peer.example:4433'] } });
 * for (const method of methods) registerRoute(match, handler, method);
 * ```
 *
 * Parameters and errors as for `createHandler`.
 */
export function antwayRoute(options?: HandlerOptions): AntwayRoute {
  const antway: AntwayHandler = createHandler(options);
  return {
    match: ({ url }) => antway.matches(url),
    // Workbox also runs routes for messages, so its type is wider. The event of a matched route is a fetch event.
    handler: ({ event }) => antway.handle(event as FetchEvent),
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
  };
}
