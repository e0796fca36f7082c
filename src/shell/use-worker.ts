import { useEffect, useState } from 'preact/hooks';
import { asBootError, type BootError } from './boot-error.ts';
import { gateway } from './gateway-api.ts';
import { publishSession } from './publish/publish-session.ts';
import { registerWorker, untilActive } from './worker.ts';
import { type Busy, type Update, WorkerUpdate } from './worker-update.ts';

/**
 * The gateway's worker as the shell shows it.
 *
 * - `starting`: being fetched and installed.
 * - `running`: it answers this page's requests.
 * - `bypassed`: it is installed, but this page was loaded past it (a hard reload) and it has not taken over.
 * - `failed`: see `problem`.
 */
export type WorkerStatus = 'starting' | 'running' | 'bypassed' | 'failed';

/** A newer version of Antway, and what can be done about it: see `WorkerUpdate`. */
export interface OfferedUpdate extends Update {
  by: Pick<WorkerUpdate, 'apply' | 'applyNow' | 'cancel'>;
}

export interface WorkerState {
  status: WorkerStatus;
  problem: BootError | null;
  /** Null while there is none. */
  update: OfferedUpdate | null;
}

/** A worker that takes over on request does it at once; this only tells it from one that does not. */
const takeOverMs = 3_000;
/** How often a shell that stays open looks for a newer version. Browsers do so only on navigations. */
const updateEveryMs = 60 * 60_000;
/** How often an update that was asked for looks whether something is still being sent. */
const lookEveryMs = 1_000;

/** Registers the worker and follows it: its takeover of this page, and newer versions of it. */
export function useWorker(): WorkerState {
  const [status, setStatus] = useState<WorkerStatus>('starting');
  const [problem, setProblem] = useState<BootError | null>(null);
  const [update, setUpdate] = useState<OfferedUpdate | null>(null);

  useEffect(() => {
    const end = new AbortController();
    const start = async () => {
      const container = navigator.serviceWorker;
      let controller = container?.controller;
      if (controller) setStatus('running');

      let registration: ServiceWorkerRegistration | undefined;
      const workerUpdate = new WorkerUpdate({
        registration: {
          get active() {
            return registration?.active ?? null;
          },
          get waiting() {
            return registration?.waiting ?? null;
          },
        },
        busy,
        reload: () => location.reload(),
        tell: (update) => setUpdate({ ...update, by: workerUpdate }),
        lookEveryMs,
      });
      end.signal.addEventListener('abort', () => workerUpdate.cancel());
      container?.addEventListener(
        'controllerchange',
        () => {
          const former = controller;
          controller = container.controller;
          setStatus('running');
          // The files of this page belong to the version before.
          if (former) workerUpdate.tookOver();
        },
        end,
      );
      // A part of this page that was to be loaded later, and went with its version.
      window.addEventListener('vite:preloadError', () => workerUpdate.offer('elsewhere'), end);

      registration = await registerWorker();
      await untilActive(registration);
      onWaiting(registration, end.signal, () => workerUpdate.offer('ready'));
      every(updateEveryMs, end.signal, () => checkForUpdate(registration));

      if (container.controller) return;
      registration.active?.postMessage({ type: 'CLAIM' });
      setTimeout(() => {
        if (!end.signal.aborted && !container.controller) setStatus('bypassed');
      }, takeOverMs);
    };
    start().catch((error) => {
      // A failed update leaves the worker that is there.
      if (navigator.serviceWorker?.controller) return;
      setProblem(asBootError(error));
      setStatus('failed');
    });
    return () => end.abort();
  }, []);

  return { status, problem, update };
}

/**
 * Tells of each newer version that is installed and waits: of one that waits already, of the next one, and of the one
 * that comes after a version whose installation failed.
 */
function onWaiting(registration: ServiceWorkerRegistration, signal: AbortSignal, tell: () => void): void {
  if (registration.waiting) tell();
  const follow = (worker: ServiceWorker | null) =>
    worker?.addEventListener(
      'statechange',
      () => {
        if (worker.state === 'installed' && registration.active) tell();
      },
      { signal },
    );
  follow(registration.installing);
  registration.addEventListener('updatefound', () => follow(registration.installing), { signal });
}

/** Where the worker does not tell what it is sending, it has nothing to finish. */
async function busy(signal: AbortSignal): Promise<Busy> {
  const answers = await gateway.watchStats(signal).then(
    ({ requests }) => requests.active,
    () => 0,
  );
  return { answers, isPublishing: publishSession.isWorking };
}

function checkForUpdate(registration: ServiceWorkerRegistration): void {
  // Offline or a host that is down: the next try is an hour away.
  if (document.visibilityState === 'visible') registration.update().catch(() => {});
}

function every(milliseconds: number, signal: AbortSignal, work: () => void): void {
  const timer = setInterval(work, milliseconds);
  signal.addEventListener('abort', () => clearInterval(timer));
}
