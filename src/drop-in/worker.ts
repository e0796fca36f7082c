import { page } from './dom.ts';
import { DropInError } from './error.ts';
import type { ResolvedOptions } from './options.ts';

/** The part of the worker's configuration that the page needs. */
export interface WorkerConfig {
  /** Addresses by name. */
  names: Readonly<Record<string, string>>;
  /** Whether the configuration trusts an address, given as hex or by a name of the configuration. */
  isTrusted(id: string): boolean;
}

/** How long a running worker may take to claim this page or to answer it, in milliseconds. */
const workerMs = 10_000;

/** How long a page may take to register the site's own worker after its `load` event, in milliseconds. */
const registerMs = 10_000;

/** Makes the drop-in's worker, or the site's own worker, control this page. @throws DropInError */
export async function control(options: ResolvedOptions): Promise<WorkerConfig> {
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

/** Most sites register their worker after the page load. @throws DropInError `HANDLER_MISSING` without a worker. */
async function sitesOwn(): Promise<ServiceWorker> {
  const { serviceWorker } = navigator;
  const tooLate = async () => {
    if (page.readyState !== 'complete') await new Promise((done) => addEventListener('load', done));
    await new Promise((done) => setTimeout(done, registerMs));
    // The site may have registered a worker whose installation takes longer.
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

/** Whether a worker is the drop-in's own worker, wherever its script is. */
export function isAntway(worker: ServiceWorker): Promise<boolean> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => resolve(true);
    worker.postMessage({ type: 'antway:who' }, [port2]);
    setTimeout(resolve, workerMs, false);
  });
}

/** Returns the worker with these options. If the active worker has them, it is returned even during an update. */
async function register(script: URL, { scope, prefix, config }: ResolvedOptions): Promise<ServiceWorker> {
  const url = new URL(script);
  // The worker reads its options from its URL each time it starts.
  url.searchParams.set('prefix', prefix.pathname);
  if (config) url.searchParams.set('config', JSON.stringify(config));
  const { serviceWorker } = navigator;
  try {
    const present = await serviceWorker.getRegistration(scope.href);
    const other = present?.scope === scope.href && workerOf(present);
    // The name of a moved script does not identify the drop-in's worker, so the worker is asked.
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

/** @throws DropInError `WORKER_BROKEN` when the installation fails. */
function activated(worker: ServiceWorker): Promise<ServiceWorker> {
  return new Promise((resolve, reject) => {
    const look = () => {
      switch (worker.state) {
        case 'installed':
          // Open pages still use a worker with other options. Without this message, the new worker would wait for them.
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

/** After a hard reload, no worker controls the page until a worker claims it. */
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

/** Checks that the worker has Antway's handler at this prefix, and a valid configuration. */
async function probe(prefix: URL, worker: ServiceWorker): Promise<WorkerConfig> {
  const response = await fetch(`${prefix.href}-/config`);
  // An answer that is not JSON comes from another server or worker.
  const { trusted, names, code, message, details } = await response.json().catch(() => ({}));
  if (trusted) return { names, isTrusted: (id) => trusted.includes(names[id] ?? id) };
  if (code === 'BAD_CONFIG') throw new DropInError(code, message, details.key);
  throw new DropInError(
    'HANDLER_MISSING',
    `The site's worker, ${worker.scriptURL}, does not answer for ${prefix.pathname}: it must import antway-handler.js.`,
  );
}
