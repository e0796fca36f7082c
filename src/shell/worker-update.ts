/**
 * A newer version of Antway.
 *
 * - `ready`: it is installed and waits to be put in place.
 * - `elsewhere`: it is in place, because another tab asked for it; this page is still the old one.
 * - `waiting`: it was asked for, and comes when nothing is under way any more.
 * - `handing-over`: it is being put in place. Browsers let the former worker finish what it sends, within limits.
 */
export interface Update extends Busy {
  state: 'ready' | 'elsewhere' | 'waiting' | 'handing-over';
}

/** What an update waits for. */
export interface Busy {
  /** Answers that the worker is sending, to whichever page. */
  answers: number;
  /** Whether this page is encrypting and uploading, which a reload would end. */
  isPublishing: boolean;
}

export interface UpdateOptions {
  /** Its worker in place, and the one that waits, as they are now. */
  registration: Pick<ServiceWorkerRegistration, 'active' | 'waiting'>;
  busy(signal: AbortSignal): Promise<Busy>;
  reload(): void;
  tell(update: Update): void;
  /** How often it is looked whether something is under way, in milliseconds. */
  lookEveryMs: number;
}

const idle: Busy = { answers: 0, isPublishing: false };

/** Puts a newer version in place when the user says so, and reloads this page. */
export class WorkerUpdate {
  readonly #options: UpdateOptions;
  #offered: 'ready' | 'elsewhere' = 'ready';
  #waiting: AbortController | undefined;
  /** From then on the next worker that takes over is the one that this page asked for. */
  #isHandingOver = false;

  constructor(options: UpdateOptions) {
    this.#options = options;
  }

  /** There is one that waits, or that another tab has put in place. */
  offer(state: 'ready' | 'elsewhere'): void {
    this.#offered = state;
    if (!this.#waiting && !this.#isHandingOver) this.#options.tell({ state, ...idle });
  }

  /** Another worker controls this page than before. Unasked it is not reloaded: a user may be in the middle of something. */
  tookOver(): void {
    if (this.#isHandingOver) this.#reload();
    else this.offer('elsewhere');
  }

  /** Waits until nothing is under way, then goes over to the new version. */
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

  /** Waits no longer, whatever is under way. */
  applyNow(): void {
    this.#waiting?.abort();
    this.#waiting = undefined;
    const { registration, tell } = this.#options;
    const { active, waiting } = registration;
    // Another tab was quicker. The worker in place is the new one then, and has nothing to hand over.
    if (!waiting) {
      this.#reload();
      return;
    }
    this.#isHandingOver = true;
    tell({ state: 'handing-over', ...idle });
    active?.postMessage({ type: 'HAND_OVER' });
    waiting.postMessage({ type: 'SKIP_WAITING' });
  }

  /** Takes it back: the version before stays for now. */
  cancel(): void {
    if (!this.#waiting) return;
    this.#waiting.abort();
    this.#waiting = undefined;
    this.offer(this.#offered);
  }

  /** The browser may ask first, where something would be lost, and the user may stay: the page is the old one then. */
  #reload(): void {
    this.#isHandingOver = false;
    this.offer('elsewhere');
    this.#options.reload();
  }
}
