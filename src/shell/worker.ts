import { BootError } from './boot-error.ts';
import { texts } from './texts/texts.ts';

/** In development, the worker is a module that is built on request. Only a build creates a single classic script. */
const script = import.meta.env.DEV
  ? { url: '/dev-sw.js?dev-sw', type: 'module' as const }
  : { url: '/sw.js', type: 'classic' as const };

/**
 * @throws BootError `INSECURE_CONTEXT` or `WORKERS_UNAVAILABLE` if this page cannot have a worker;
 *   `REGISTRATION_REFUSED` if the browser refuses; `WORKER_NOT_FOUND`, `WORKER_UNREACHABLE` or `WORKER_BROKEN` for a
 *   problem with the script.
 */
export async function registerWorker(): Promise<ServiceWorkerRegistration> {
  if (!window.isSecureContext) {
    throw new BootError('INSECURE_CONTEXT', texts.boot.insecure(location.origin));
  }
  if (!('serviceWorker' in navigator)) {
    throw new BootError('WORKERS_UNAVAILABLE', texts.boot.noWorkers);
  }
  try {
    const { url, type } = script;
    return await navigator.serviceWorker.register(url, { scope: '/', updateViaCache: 'none', type });
  } catch (error) {
    throw await registrationError(error);
  }
}

/** The active worker need not control this page. @throws BootError `WORKER_BROKEN` when it fails to install. */
export function untilActive(registration: ServiceWorkerRegistration): Promise<void> {
  return new Promise((resolve, reject) => {
    const candidate = registration.active ?? registration.waiting ?? registration.installing;
    const look = () => {
      if (registration.active) {
        resolve();
      } else if (!candidate || candidate.state === 'redundant') {
        reject(new BootError('WORKER_BROKEN', texts.boot.notInstalled));
      } else {
        return;
      }
      candidate?.removeEventListener('statechange', look);
    };
    candidate?.addEventListener('statechange', look);
    look();
  });
}

async function registrationError(error: unknown): Promise<BootError> {
  const cause = { cause: error };
  if (
    error instanceof DOMException &&
    (error.name === 'SecurityError' || error.name === 'NotSupportedError')
  ) {
    return new BootError('REGISTRATION_REFUSED', texts.boot.refused(error.message), cause);
  }
  // A rejected registration does not say why, so request the script again.
  let status: number;
  try {
    status = (await fetch(script.url, { method: 'HEAD', cache: 'no-store' })).status;
  } catch {
    const { hostSilent, offline, unreachableAdvice: advice } = texts.boot;
    const message = navigator.onLine ? hostSilent(location.host) : offline;
    return new BootError('WORKER_UNREACHABLE', { message, advice }, cause);
  }
  if (status !== 200) {
    return new BootError('WORKER_NOT_FOUND', texts.boot.notFound(status, script.url), cause);
  }
  return new BootError('WORKER_BROKEN', texts.boot.broken, cause);
}
