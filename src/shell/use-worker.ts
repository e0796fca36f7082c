import { useEffect } from 'preact/hooks';
import { delay } from '../util/delay.ts';
import { asBootError, type BootError } from './boot-error.ts';
import { gateway, holdRequests } from './gateway-api.ts';
import { Observable, useObserved } from './observable.ts';
import { publishSession } from './publish/publish-session.ts';
import { whenIdle } from './when-idle.ts';
import { registerWorker, untilActive } from './worker.ts';
import { type Busy, type Update, WorkerUpdate } from './worker-update.ts';

/**
 * The state of the gateway's worker, as the shell shows it.
 *
 * - `starting`: the browser is loading and installing it.
 * - `running`: it answers this page's requests.
 * - `bypassed`: it is installed, but a hard reload has loaded this page without it, and it has not taken over.
 * - `failed`: see `problem`.
 */
export type WorkerStatus = 'starting' | 'running' | 'bypassed' | 'failed';

export interface OfferedUpdate extends Update {
  by: Pick<WorkerUpdate, 'apply' | 'applyNow' | 'cancel'>;
}

interface WorkerState {
  status: WorkerStatus;
  problem: BootError | null;
  update: OfferedUpdate | null;
}

/** How long a worker may take to claim this page, in milliseconds. A worker that can do this does it at once. */
const takeOverMs = 3_000;
/** How often an open shell checks for a newer version, in milliseconds. Browsers check only on navigations. */
const updateEveryMs = 60 * 60_000;
/** How often a requested update checks whether the worker is still sending answers, in milliseconds. */
const lookEveryMs = 1_000;
/** How long this page's requests wait for the new worker. A browser may let the former one finish an answer first. */
const handOverMs = 3_000;
/** How long the first screen, and the content that it leads to, may load before the worker stores the other screens' files. */
const firstScreenMs = 5_000;

/** One instance per page: a requested update survives a change of the language, which mounts every screen anew. */
class FollowedWorker extends Observable<WorkerState> {
  #registration: ServiceWorkerRegistration | undefined;
  #isStarted = false;
  readonly #update: WorkerUpdate;

  constructor() {
    super({ status: 'starting', problem: null, update: null });
    const follower = this;
    this.#update = new WorkerUpdate({
      registration: {
        get active() {
          return follower.#registration?.active ?? null;
        },
        get waiting() {
          return follower.#registration?.waiting ?? null;
        },
      },
      busy,
      reload: () => location.reload(),
      tell: (update) => {
        if (update.state === 'handing-over') holdRequests(Promise.race([changedWorker(), delay(handOverMs)]));
        this.#change({ update: { ...update, by: this.#update } });
      },
      lookEveryMs,
    });
  }

  /** After a failure, a further call tries again, and updates the problem's text to the current language. */
  start(): void {
    if (this.#isStarted && this.state.status !== 'failed') return;
    if (this.#isStarted) this.#change({ problem: null, status: 'starting' });
    else this.#listen();
    this.#isStarted = true;
    this.#register().catch((error) => {
      // After a failed update, the present worker still works.
      if (navigator.serviceWorker?.controller) return;
      this.#change({ problem: asBootError(error), status: 'failed' });
    });
  }

  #listen(): void {
    const container = navigator.serviceWorker;
    let controller = container?.controller;
    if (controller) this.#change({ status: 'running' });
    container?.addEventListener('controllerchange', () => {
      const former = controller;
      controller = container.controller;
      this.#change({ status: 'running' });
      // The files of this page belong to the previous version.
      if (former) this.#update.tookOver();
    });
    window.addEventListener('vite:preloadError', async () => {
      // A part of this page is missing: it was deleted with the page's version, or is not stored yet.
      if (await isDeleted(import.meta.url)) this.#update.offer('updated');
    });
  }

  async #register(): Promise<void> {
    const container = navigator.serviceWorker;
    const registration = await registerWorker();
    this.#registration = registration;
    await untilActive(registration);
    onWaiting(registration, () => this.#update.offer('ready'));
    const storeFiles = () => registration.active?.postMessage({ type: 'STORE_FILES' });
    setTimeout(whenIdle, firstScreenMs, storeFiles);
    // An earlier attempt may have failed for want of a connection.
    window.addEventListener('online', storeFiles);
    setInterval(() => checkForUpdate(registration), updateEveryMs);

    if (container.controller) return;
    registration.active?.postMessage({ type: 'CLAIM' });
    setTimeout(() => {
      if (!container.controller) this.#change({ status: 'bypassed' });
    }, takeOverMs);
  }

  #change(part: Partial<WorkerState>): void {
    this.set({ ...this.state, ...part });
  }
}

const followed = new FollowedWorker();

export function useWorker(): WorkerState {
  useEffect(() => followed.start(), []);
  return useObserved(followed, () => followed.state);
}

/** Whether the gateway no longer has a file of this page. False if that is not known, for example offline. */
async function isDeleted(url: string): Promise<boolean> {
  return fetch(url, { cache: 'no-cache' }).then(
    ({ status }) => status === 404,
    () => false,
  );
}

/** Reports each newer version that is installed and waits, also after a failed installation. */
function onWaiting(registration: ServiceWorkerRegistration, tell: () => void): void {
  if (registration.waiting) tell();
  const follow = (worker: ServiceWorker | null) =>
    worker?.addEventListener('statechange', () => {
      if (worker.state === 'installed' && registration.active) tell();
    });
  follow(registration.installing);
  registration.addEventListener('updatefound', () => follow(registration.installing));
}

function changedWorker(): Promise<unknown> {
  return new Promise((resolve) => {
    navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true });
  });
}

/** If the worker does not report its requests, there is nothing to wait for. */
async function busy(signal: AbortSignal): Promise<Busy> {
  const answers = await gateway.watchStats(signal).then(
    ({ requests }) => requests.active,
    () => 0,
  );
  return { answers, isPublishing: publishSession.isWorking };
}

function checkForUpdate(registration: ServiceWorkerRegistration): void {
  // The browser is offline or the host is down. The next attempt is an hour later.
  if (document.visibilityState === 'visible') registration.update().catch(() => {});
}
