import { useEffect, useState } from 'preact/hooks';
import { asBootError, type BootError } from './boot-error.ts';
import { gateway } from './gateway-api.ts';
import { registerWorker, untilActive } from './worker.ts';

/**
 * The gateway's worker as the shell shows it.
 *
 * - `starting`: being fetched and installed.
 * - `running`: it answers this page's requests.
 * - `bypassed`: it is installed, but this page was loaded past it (a hard reload) and it has not taken over.
 * - `failed`: see `problem`.
 */
export type WorkerStatus = 'starting' | 'running' | 'bypassed' | 'failed';

/**
 * A newer version of Antway.
 *
 * - `ready`: it is installed and waits to be put in place.
 * - `waiting`: it was asked for, and is put in place when nothing is being sent any more.
 * - `elsewhere`: it is in place, because another tab asked for it; this page is still the old one.
 */
export interface Update {
  state: 'ready' | 'waiting' | 'elsewhere';
  /** Answers that were being sent when it was last looked, while it waits for them. */
  running: number;
  /** Puts it in place, if that is still to be done, and reloads this page. */
  apply(): void;
}

export interface WorkerState {
  status: WorkerStatus;
  problem: BootError | null;
  /** Null while there is none. */
  update: Update | null;
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
  const [update, setUpdate] = useState<Update | null>(null);

  useEffect(() => {
    const end = new AbortController();
    const start = async () => {
      let isAsked = false;
      const container = navigator.serviceWorker;
      let controller = container?.controller;
      if (controller) setStatus('running');

      container?.addEventListener(
        'controllerchange',
        () => {
          const former = controller;
          controller = container.controller;
          setStatus('running');
          // The files of this page belong to the version before.
          if (isAsked) location.reload();
          // Not unasked: nobody knows what a person is about to do in it.
          else if (former) setUpdate({ state: 'elsewhere', running: 0, apply: () => location.reload() });
        },
        end,
      );
      // A part of this page that was to be loaded later, and went with its version.
      window.addEventListener(
        'vite:preloadError',
        () => setUpdate({ state: 'elsewhere', running: 0, apply: () => location.reload() }),
        end,
      );

      const registration = await registerWorker();
      await untilActive(registration);
      const apply = async () => {
        isAsked = true;
        for (;;) {
          const running = await runningAnswers(end.signal);
          if (end.signal.aborted) return;
          if (running === 0) break;
          setUpdate({ state: 'waiting', running, apply: () => {} });
          await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
        }
        // Another tab may have been quicker.
        if (!registration.waiting) location.reload();
        registration.active?.postMessage({ type: 'HAND_OVER' });
        registration.waiting?.postMessage({ type: 'SKIP_WAITING' });
      };
      onWaiting(registration, end.signal, () => setUpdate({ state: 'ready', running: 0, apply }));
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

/** Answers that are being sent. None where the worker does not tell: it then has none to finish. */
async function runningAnswers(signal: AbortSignal): Promise<number> {
  try {
    return (await gateway.watchStats(signal)).requests.active;
  } catch {
    return 0;
  }
}

function checkForUpdate(registration: ServiceWorkerRegistration): void {
  // Offline or a host that is down: the next try is an hour away.
  if (document.visibilityState === 'visible') registration.update().catch(() => {});
}

function every(milliseconds: number, signal: AbortSignal, work: () => void): void {
  const timer = setInterval(work, milliseconds);
  signal.addEventListener('abort', () => clearInterval(timer));
}
