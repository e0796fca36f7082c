import type { Clock } from './clock.ts';
import { nodeLimits } from './node-limits.ts';

/**
 * Decides when a node is asked for a record: at once if no other is being asked, else after a delay, because a record can
 * have four megabytes.
 */
export class RecordGate {
  readonly #clock: Clock;
  #inProgress = 0;
  #nextAt = 0;
  #changed = Promise.resolve();
  #change: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#arm();
  }

  /**
   * Waits for a turn, and runs `work` in it.
   * @param work calls `onFirstByte` when the record begins to arrive.
   */
  async run<T>(signal: AbortSignal, work: (onFirstByte: () => void) => Promise<T>): Promise<T> {
    while (this.#inProgress > 0) {
      const waitMs = this.#nextAt - this.#clock.now();
      if (waitMs <= 0 && this.#inProgress < nodeLimits.recordsAtOnce) break;
      const timer = new AbortController();
      const waits: Promise<unknown>[] = [this.#changed];
      if (waitMs > 0) waits.push(this.#clock.delay(waitMs, timer.signal).catch(() => undefined));
      await Promise.race(waits);
      timer.abort();
      signal.throwIfAborted();
    }
    this.#inProgress++;
    this.#hold(nodeLimits.hedgeMs.firstByte);
    try {
      return await work(() => this.#hold(nodeLimits.hedgeMs.rest));
    } finally {
      this.#inProgress--;
      this.#change();
      this.#arm();
    }
  }

  #hold(milliseconds: number): void {
    this.#nextAt = this.#clock.now() + milliseconds;
  }

  #arm(): void {
    this.#changed = new Promise((resolve) => {
      this.#change = resolve;
    });
  }
}
