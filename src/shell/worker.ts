import { Workbox } from 'workbox-window';
import { BootError } from './boot-error.ts';

/** In development the worker is a module, built on request. Only a build makes the one classic script. */
const script = import.meta.env.DEV
  ? { url: '/dev-sw.js?dev-sw', type: 'module' as const }
  : { url: '/sw.js', type: 'classic' as const };

/**
 * The gateway's worker as this page sees it, not yet registered.
 * @throws BootError when this browser, or this page's origin, can have no worker.
 */
export function workerOfThisPage(): Workbox {
  if (!window.isSecureContext) {
    throw new BootError(
      'INSECURE_CONTEXT',
      `This page came over an unprotected connection (${location.origin}). Browsers run a gateway only over https, or on this same computer.`,
      'Open it by its https address. On the computer that runs it, use http://localhost or http://127.0.0.1.',
    );
  }
  if (!('serviceWorker' in navigator)) {
    throw new BootError(
      'WORKERS_UNAVAILABLE',
      'This browser offers no service workers here, and the gateway is one.',
      'Private windows of Firefox and in-app browsers leave them out: open this page in an ordinary window of an up-to-date browser.',
    );
  }
  return new Workbox(script.url, { scope: '/', updateViaCache: 'none', type: script.type });
}

/**
 * Registers the worker.
 * @throws BootError that tells a refusal by the browser from a script that is missing, unreachable or broken.
 */
export async function registerWorker(worker: Workbox): Promise<ServiceWorkerRegistration> {
  try {
    // Defined whenever `workerOfThisPage` found service workers.
    return (await worker.register({ immediate: true }))!;
  } catch (error) {
    throw await registrationError(error);
  }
}

/**
 * Waits until the registration has a worker that can answer a navigation. It need not control this page.
 *
 * Not `Workbox.active`: after a hard reload this page has no controller, and that promise would wait for an
 * update that never comes.
 *
 * @throws BootError `WORKER_BROKEN` when the worker fails to install.
 */
export function untilActive(registration: ServiceWorkerRegistration): Promise<void> {
  return new Promise((resolve, reject) => {
    const candidate = registration.active ?? registration.waiting ?? registration.installing;
    const look = () => {
      if (registration.active) {
        resolve();
      } else if (!candidate || candidate.state === 'redundant') {
        reject(
          new BootError(
            'WORKER_BROKEN',
            'The gateway was fetched, but it could not be installed.',
            'Try again: a file may have failed to load. If it stays so, this browser may be out of storage, or block it for this site.',
          ),
        );
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
    return new BootError(
      'REGISTRATION_REFUSED',
      `The browser does not allow this site to install its gateway: ${error.message}`,
      'Allow site data (cookies) for this site, leave the private window, or ask whoever manages this browser.',
      cause,
    );
  }
  // A rejected registration does not tell why, so ask for the script again.
  let status: number;
  try {
    status = (await fetch(script.url, { method: 'HEAD', cache: 'no-store' })).status;
  } catch {
    return new BootError(
      'WORKER_UNREACHABLE',
      navigator.onLine
        ? `The host of this gateway (${location.host}) does not answer.`
        : 'This browser is offline, and the gateway is not installed in it yet.',
      'Check the connection, then try again. Once installed, the gateway also works offline.',
      cause,
    );
  }
  if (status !== 200) {
    return new BootError(
      'WORKER_NOT_FOUND',
      `The host has no gateway to install: it answered ${status} for ${script.url}.`,
      'Try again later. If this is your host, see that it serves all files of the build.',
      cause,
    );
  }
  return new BootError(
    'WORKER_BROKEN',
    'The gateway was fetched, but this browser could not run it.',
    'Update the browser, then try again. If it stays so, the host of this gateway has to look into it.',
    cause,
  );
}
