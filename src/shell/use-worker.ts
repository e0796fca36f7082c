import { useEffect } from 'preact/hooks';
import { asBootError, type BootError } from './boot-error.ts';
import { gateway } from './gateway-api.ts';
import { publishSession } from './publish/publish-session.ts';
import { useFollowed } from './use-followed.ts';
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

/**
 * Registers the worker and follows it: its takeover of this page, and newer versions of it. One for the page and not for
 * a screen: an update that was asked for is waited for while the language changes, which makes every screen anew.
 */
class FollowedWorker {
  state: WorkerState = { status: 'starting', problem: null, update: null };
  #listeners = new Set<() => void>();
  #registration: ServiceWorkerRegistration | undefined;
  #isStarted = false;
  readonly #update: WorkerUpdate;

  constructor() {
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
      tell: (update) => this.#set({ update: { ...update, by: this.#update } }),
      lookEveryMs,
    });
  }

  /** @returns what ends the listening. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tries, unless it has worked: again also for the problem's text in the language of now. */
  start(): void {
    if (this.#isStarted && this.state.status !== 'failed') return;
    if (this.#isStarted) this.#set({ problem: null, status: 'starting' });
    else this.#listen();
    this.#isStarted = true;
    this.#register().catch((error) => {
      // A failed update leaves the worker that is there.
      if (navigator.serviceWorker?.controller) return;
      this.#set({ problem: asBootError(error), status: 'failed' });
    });
  }

  #listen(): void {
    const container = navigator.serviceWorker;
    let controller = container?.controller;
    if (controller) this.#set({ status: 'running' });
    container?.addEventListener('controllerchange', () => {
      const former = controller;
      controller = container.controller;
      this.#set({ status: 'running' });
      // The files of this page belong to the version before.
      if (former) this.#update.tookOver();
    });
    // A part of this page that was to be loaded later, and went with its version.
    window.addEventListener('vite:preloadError', () => this.#update.offer('elsewhere'));
  }

  async #register(): Promise<void> {
    const container = navigator.serviceWorker;
    const registration = await registerWorker();
    this.#registration = registration;
    await untilActive(registration);
    onWaiting(registration, () => this.#update.offer('ready'));
    setInterval(() => checkForUpdate(registration), updateEveryMs);

    if (container.controller) return;
    registration.active?.postMessage({ type: 'CLAIM' });
    setTimeout(() => {
      if (!container.controller) this.#set({ status: 'bypassed' });
    }, takeOverMs);
  }

  #set(part: Partial<WorkerState>): void {
    this.state = { ...this.state, ...part };
    for (const listener of this.#listeners) listener();
  }
}

const followed = new FollowedWorker();

/** The gateway's worker as it is now. */
export function useWorker(): WorkerState {
  useEffect(() => followed.start(), []);
  return useFollowed(followed, () => followed.state);
}

/**
 * Tells of each newer version that is installed and waits: of one that waits already, of the next one, and of the one
 * that comes after a version whose installation failed.
 */
function onWaiting(registration: ServiceWorkerRegistration, tell: () => void): void {
  if (registration.waiting) tell();
  const follow = (worker: ServiceWorker | null) =>
    worker?.addEventListener('statechange', () => {
      if (worker.state === 'installed' && registration.active) tell();
    });
  follow(registration.installing);
  registration.addEventListener('updatefound', () => follow(registration.installing));
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
