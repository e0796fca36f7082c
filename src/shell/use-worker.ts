import { useEffect, useState } from 'preact/hooks';
import type { Workbox } from 'workbox-window';
import { asBootError, type BootError } from './boot-error.ts';
import { registerWorker, untilActive, workerOfThisPage } from './worker.ts';

/**
 * The gateway's worker as the shell shows it.
 *
 * - `starting`: being fetched and installed.
 * - `running`: it answers this page's requests.
 * - `bypassed`: it is installed, but this page was loaded past it (a hard reload) and it has not taken over.
 * - `failed`: see `problem`.
 */
export type WorkerStatus = 'starting' | 'running' | 'bypassed' | 'failed';

export interface WorkerState {
  status: WorkerStatus;
  problem: BootError | null;
  /** Installs the newer version that waits, and reloads this page. Null while none waits. */
  update: (() => void) | null;
}

/** A worker that takes over on request does it at once; this only tells it from one that does not. */
const takeOverMs = 3_000;
/** How often a shell that stays open looks for a newer version. Browsers do so only on navigations. */
const updateEveryMs = 60 * 60_000;

/** Registers the worker and follows it: its takeover of this page, and newer versions of it. */
export function useWorker(): WorkerState {
  const [status, setStatus] = useState<WorkerStatus>('starting');
  const [problem, setProblem] = useState<BootError | null>(null);
  const [waiting, setWaiting] = useState<Workbox | null>(null);

  useEffect(() => {
    const timers: ReturnType<typeof setTimeout>[] = [];
    const start = async () => {
      const worker = workerOfThisPage();
      const controlled = () => setStatus('running');
      if (navigator.serviceWorker.controller) controlled();
      navigator.serviceWorker.addEventListener('controllerchange', controlled);
      worker.addEventListener('waiting', () => setWaiting(worker));
      worker.addEventListener('controlling', (event) => {
        // The files of this page belong to the version before.
        if (event.isUpdate) location.reload();
      });

      const registration = await registerWorker(worker);
      await untilActive(registration);
      timers.push(setInterval(() => checkForUpdate(worker), updateEveryMs));
      if (navigator.serviceWorker.controller) return;
      registration.active?.postMessage({ type: 'CLAIM' });
      timers.push(
        setTimeout(() => {
          if (!navigator.serviceWorker.controller) setStatus('bypassed');
        }, takeOverMs),
      );
    };
    start().catch((error) => {
      // A failed update leaves the worker that is there.
      if (navigator.serviceWorker?.controller) return;
      setProblem(asBootError(error));
      setStatus('failed');
    });
    return () => timers.forEach(clearTimeout);
  }, []);

  return { status, problem, update: waiting && (() => waiting.messageSkipWaiting()) };
}

function checkForUpdate(worker: Workbox): void {
  // Offline or a host that is down: the next try is an hour away.
  if (document.visibilityState === 'visible') worker.update().catch(() => {});
}
