import { page } from './dom.ts';
import { DropInError } from './error.ts';
import type { ResolvedOptions } from './options.ts';

/** Whether the configuration trusts an address, given as hex or by a name of the configuration. */
export type IsTrusted = (id: string) => boolean;

/** How long a worker that runs may take to take over this page or to answer it, in milliseconds. */
const workerMs = 10_000;

/** How long after its `load` a page may take to register the site's own worker, in milliseconds. */
const registerMs = 10_000;

/**
 * Sees to it that the worker answers this page's requests: registers it, or waits for the site's own.
 * @returns what the configuration says.
 * @throws DropInError
 */
export async function control(options: ResolvedOptions): Promise<IsTrusted> {
  if (!isSecureContext) {
    throw new DropInError('INSECURE_CONTEXT', 'This page did not come over https.');
  }
  if (!('serviceWorker' in navigator)) {
    throw new DropInError('WORKERS_UNAVAILABLE', 'This browser has no service workers here.');
  }
  if (!location.href.startsWith(options.scope.href)) {
    throw new DropInError(
      'OUT_OF_SCOPE',
      `This page is not below ${options.scope.pathname}: put the worker's script higher up, or set data-scope.`,
    );
  }
  const worker = await activated(options.worker ? await register(options.worker, options) : await sitesOwn());
  await untilControlledBy(worker, options.worker !== undefined);
  return probe(options.prefix, worker);
}

/** The usual recipe registers it when the page is loaded. @throws DropInError `HANDLER_MISSING` when nothing does. */
async function sitesOwn(): Promise<ServiceWorker> {
  const { serviceWorker } = navigator;
  const tooLate = async () => {
    if (page.readyState !== 'complete') await new Promise((done) => addEventListener('load', done));
    await new Promise((done) => setTimeout(done, registerMs));
    // One that takes long to install is there.
    return serviceWorker.getRegistration();
  };
  const registration = await Promise.race([serviceWorker.ready, tooLate()]);
  const worker = registration && workerOf(registration);
  if (worker) return worker;
  throw new DropInError(
    'HANDLER_MISSING',
    'This site has no worker. Register one: it must import antway-handler.js.',
  );
}

export function workerOf({ active, waiting, installing }: ServiceWorkerRegistration): ServiceWorker | null {
  return active ?? waiting ?? installing;
}

/** Whether a worker is the drop-in's own, wherever its script is. */
export function isAntway(worker: ServiceWorker): Promise<boolean> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => resolve(true);
    worker.postMessage({ type: 'antway:who' }, [port2]);
    setTimeout(resolve, workerMs, false);
  });
}

/** @returns the worker that has these options: the one that is active, though an update may be on its way, if it has. */
async function register(script: URL, { scope, prefix, config }: ResolvedOptions): Promise<ServiceWorker> {
  const url = new URL(script);
  // In the URL, so that the worker has them whenever it starts again.
  url.searchParams.set('prefix', prefix.pathname);
  if (config) url.searchParams.set('config', JSON.stringify(config));
  const { serviceWorker } = navigator;
  try {
    const present = await serviceWorker.getRegistration(scope.href);
    const other = present?.scope === scope.href && workerOf(present);
    // A script that has moved is asked, since its name tells nothing.
    if (other && new URL(other.scriptURL).pathname !== url.pathname && !(await isAntway(other))) {
      throw new DropInError(
        'ANOTHER_WORKER',
        `This site has a worker of its own, ${other.scriptURL}. Set data-worker="none": it must import antway-handler.js.`,
      );
    }
    const { active, waiting, installing } = await serviceWorker.register(url, {
      scope: scope.href,
      updateViaCache: 'none',
    });
    const workers = [active, waiting, installing].filter(Boolean) as ServiceWorker[];
    return workers.find(({ scriptURL }) => scriptURL === url.href) ?? workers.at(-1)!;
  } catch (cause) {
    if (cause instanceof DropInError) throw cause;
    throw new DropInError(
      'REGISTRATION_REFUSED',
      `The worker ${url.pathname} could not be registered: ${(cause as Error).message}`,
      undefined,
      { cause },
    );
  }
}

/** Waits until a worker is active. @throws DropInError `WORKER_BROKEN` when it does not install. */
function activated(worker: ServiceWorker): Promise<ServiceWorker> {
  return new Promise((resolve, reject) => {
    const look = () => {
      switch (worker.state) {
        case 'installed':
          // One with other options serves pages that are open, and those would keep this one waiting.
          return worker.postMessage({ type: 'antway:skip-waiting' });
        case 'activated':
          return resolve(worker);
        case 'redundant':
          reject(new DropInError('WORKER_BROKEN', 'The worker did not install.'));
      }
    };
    worker.addEventListener('statechange', look);
    look();
  });
}

/** After a hard reload a page has no worker, until one claims it. */
function untilControlledBy(worker: ServiceWorker, isOurs: boolean): Promise<void> {
  const { serviceWorker } = navigator;
  const isControlled = () => {
    const { controller } = serviceWorker;
    return isOurs ? controller?.scriptURL === worker.scriptURL : controller;
  };
  return new Promise((resolve, reject) => {
    if (isControlled()) return resolve();
    serviceWorker.addEventListener('controllerchange', () => isControlled() && resolve());
    const tooLate = new DropInError('NOT_CONTROLLED', 'The browser does not let the worker answer.');
    setTimeout(reject, workerMs, tooLate);
    worker.postMessage({ type: 'antway:claim' });
  });
}

/** Whether the worker has Antway's handler, under the prefix that this page knows, and a configuration to work by. */
async function probe(prefix: URL, worker: ServiceWorker): Promise<IsTrusted> {
  const response = await fetch(`${prefix.href}-/config`);
  // What is no JSON is another's page.
  const { trusted, names, code, message, details } = await response.json().catch(() => ({}));
  if (trusted) return (id) => trusted.includes(names[id] ?? id);
  if (code === 'BAD_CONFIG') throw new DropInError(code, message, details.key);
  throw new DropInError(
    'HANDLER_MISSING',
    `The site's worker, ${worker.scriptURL}, does not answer for ${prefix.pathname}: it must import antway-handler.js.`,
  );
}
