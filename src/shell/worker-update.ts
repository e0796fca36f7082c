/**
 * A newer version of Antway.
 *
 * - `ready`: it is installed and waits for the user.
 * - `updated`: another tab has activated it. This page still belongs to the old version.
 * - `waiting`: the user has requested it. It is applied when no answer and no publishing task is running.
 * - `handing-over`: it is being activated. Browsers let the former worker finish its answers, within limits.
 */
export interface Update extends Busy {
  state: 'ready' | 'updated' | 'waiting' | 'handing-over';
}

/** The activities that an update waits for. */
export interface Busy {
  /** The number of answers that the worker is sending, to any page. */
  answers: number;
  /** Whether this page is encrypting and uploading. A reload would end it. */
  isPublishing: boolean;
}

interface UpdateOptions {
  /** The active worker and the waiting worker, as getters of the current values. */
  registration: Pick<ServiceWorkerRegistration, 'active' | 'waiting'>;
  busy(signal: AbortSignal): Promise<Busy>;
  reload(): void;
  tell(update: Update): void;
  /** How often to check for running activities, in milliseconds. */
  lookEveryMs: number;
}

const idle: Busy = { answers: 0, isPublishing: false };

/** Activates a newer version when the user agrees, and reloads this page. */
export class WorkerUpdate {
  readonly #options: UpdateOptions;
  #offered: 'ready' | 'updated' = 'ready';
  #waiting: AbortController | undefined;
  /** If true, the next worker that takes over is the one that this page has requested. */
  #isHandingOver = false;

  constructor(options: UpdateOptions) {
    this.#options = options;
  }

  /** Call this when a version waits, or when another tab has activated one. */
  offer(state: 'ready' | 'updated'): void {
    this.#offered = state;
    if (!this.#waiting && !this.#isHandingOver) this.#options.tell({ state, ...idle });
  }

  /** Call this when another worker took over this page. Reload only on the user's request: the user may be busy. */
  tookOver(): void {
    if (this.#isHandingOver) this.#reload();
    else this.offer('updated');
  }

  /** Waits until no activity is running, then activates the new version. */
  async apply(): Promise<void> {
    this.#waiting?.abort();
    const waiting = new AbortController();
    this.#waiting = waiting;
    for (;;) {
      const busy = await this.#options.busy(waiting.signal);
      if (waiting.signal.aborted) return;
      if (busy.answers === 0 && !busy.isPublishing) break;
      this.#options.tell({ state: 'waiting', ...busy });
      await new Promise((resolve) => setTimeout(resolve, this.#options.lookEveryMs));
      if (waiting.signal.aborted) return;
    }
    this.applyNow();
  }

  /** Activates the new version without waiting for running activities. */
  applyNow(): void {
    this.#waiting?.abort();
    this.#waiting = undefined;
    const { registration, tell } = this.#options;
    const { active, waiting } = registration;
    // Another tab was faster. The active worker is already the new one, and has nothing to hand over.
    if (!waiting) {
      this.#reload();
      return;
    }
    this.#isHandingOver = true;
    tell({ state: 'handing-over', ...idle });
    active?.postMessage({ type: 'HAND_OVER' });
    waiting.postMessage({ type: 'SKIP_WAITING' });
  }

  /** Cancels a requested update. The old version stays for now. */
  cancel(): void {
    if (!this.#waiting) return;
    this.#waiting.abort();
    this.#waiting = undefined;
    this.offer(this.#offered);
  }

  /** If data would be lost, the browser may ask the user, who may stay on the page of the old version. */
  #reload(): void {
    this.#isHandingOver = false;
    this.offer('updated');
    this.#options.reload();
  }
}
