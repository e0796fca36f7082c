/** Error codes of the drop-in. The codes are stable: scripts of a site may compare them. */
export type DropInErrorCode =
  /** An attribute or option is unknown, or its value is invalid. `key` names it. */
  | 'BAD_CONFIG'
  /** The given text is not a content address. */
  | 'BAD_ADDRESS'
  /** The page was loaded over plain HTTP, where browsers run no service workers. */
  | 'INSECURE_CONTEXT'
  /** The browser has no service workers here, for example in a private window or an in-app browser. */
  | 'WORKERS_UNAVAILABLE'
  /** The page is not below the worker's scope. */
  | 'OUT_OF_SCOPE'
  /** The site has its own worker in that scope. The drop-in's worker would replace it. */
  | 'ANOTHER_WORKER'
  /** The browser refused to register the worker, or the host does not have its script. */
  | 'REGISTRATION_REFUSED'
  /** The browser fetched the worker, but the installation failed. */
  | 'WORKER_BROKEN'
  /** The worker runs, but does not answer this page. */
  | 'NOT_CONTROLLED'
  /** The site's own worker does not have Antway's handler. */
  | 'HANDLER_MISSING'
  /** An endpoint of the worker returned an error, which is the `cause`: `{ code, message, details }`. */
  | 'FAILED'
  /** The program has no page, such as a server that renders pages. Only of the modules. */
  | 'NO_PAGE';

/** The only error class of the drop-in. `message` is a sentence for the site's owner. */
export class DropInError extends Error {
  override readonly name = 'DropInError';

  constructor(
    readonly code: DropInErrorCode,
    message: string,
    /** The name of the wrong attribute or option. */
    readonly key?: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
