/** The reason why a page of the gateway on a site's origin cannot work. */
export class WorkerProblem extends Error {
  override readonly name = 'WorkerProblem';

  constructor(
    readonly code: 'WORKERS_UNAVAILABLE' | 'REGISTRATION_REFUSED' | 'NOT_ANSWERED',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const controlMs = 10_000;

function isOwn(
  controller: ServiceWorker,
  { active, waiting, installing }: ServiceWorkerRegistration,
): boolean {
  return [active, waiting, installing].includes(controller);
}

/**
 * Registers the gateway's worker on this origin and waits until the worker controls this page.
 * @throws WorkerProblem if service workers are unavailable, the registration fails, or the worker does not take
 *   control.
 */
export async function controlledByWorker(): Promise<void> {
  const { serviceWorker } = navigator;
  if (!serviceWorker)
    throw new WorkerProblem('WORKERS_UNAVAILABLE', 'This browser does not support service workers here.');
  const registration = await serviceWorker
    .register('/sw.js', { scope: '/', updateViaCache: 'none' })
    .catch((cause) => {
      throw new WorkerProblem(
        'REGISTRATION_REFUSED',
        `The worker could not be registered: ${cause.message}`,
        {
          cause,
        },
      );
    });
  // A page of the site can register the gateway's script for a narrower scope, which would take precedence.
  for (const other of await serviceWorker.getRegistrations()) {
    if (other.scope !== `${location.origin}/`) await other.unregister();
  }
  if (serviceWorker.controller) {
    if (isOwn(serviceWorker.controller, registration)) return;
    throw new WorkerProblem('NOT_ANSWERED', 'Another worker answered for this page. Try again.');
  }
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new WorkerProblem('NOT_ANSWERED', 'The worker does not answer.')),
      controlMs,
    );
    serviceWorker.addEventListener(
      'controllerchange',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
    // After a hard reload an active worker does not control this page, until it claims the page.
    registration.active?.postMessage({ type: 'CLAIM' });
  });
}
