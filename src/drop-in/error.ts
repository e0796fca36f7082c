/** Why the drop-in cannot do what it is for. Stable: a site's scripts may match on them. */
export type DropInErrorCode =
  /** An attribute or option is not known, or its value is not valid; `key` names it. */
  | 'BAD_CONFIG'
  /** What was given as an address is none. */
  | 'BAD_ADDRESS'
  /** The page came over plain HTTP, where browsers run no service workers. */
  | 'INSECURE_CONTEXT'
  /** The browser has no service workers here: a private window, an in-app browser. */
  | 'WORKERS_UNAVAILABLE'
  /** The page is not below the worker's scope. */
  | 'OUT_OF_SCOPE'
  /** The site has a worker of its own in that scope, which would be replaced. */
  | 'ANOTHER_WORKER'
  /** The browser refused to register the worker, or the host does not have its script. */
  | 'REGISTRATION_REFUSED'
  /** The worker was fetched, and did not install. */
  | 'WORKER_BROKEN'
  /** The worker runs, and does not answer this page. */
  | 'NOT_CONTROLLED'
  /** The site's own worker does not have Antway's handler. */
  | 'HANDLER_MISSING'
  /** An endpoint of the worker answered with an error. */
  | 'FAILED';

/** The drop-in's one error. `message` is a sentence for the site's owner. */
export class DropInError extends Error {
  override readonly name = 'DropInError';

  constructor(
    readonly code: DropInErrorCode,
    message: string,
    /** The attribute or option that is wrong. */
    readonly key?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
