import { setMaxListeners } from 'node:events';
import type { Clock } from '../../src/nodes/clock.ts';

// Many requests wait with one signal. Node takes that for a leak.
setMaxListeners(0);

interface Timer {
  at: number;
  order: number;
  fire(): void;
}

/** Time that passes only when everything waits for it. The same program takes the same time on every machine. */
export class VirtualClock implements Clock {
  #now = 0;
  #order = 0;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer: Timer = {
        at: this.#now + Math.max(0, milliseconds),
        order: this.#order++,
        fire: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      const onAbort = () => {
        this.#timers.delete(timer);
        reject(signal?.reason);
      };
      this.#timers.add(timer);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Lets time pass until `promise` settles. @throws its error, or if nothing can settle it. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isSettled) return promise;
      if (!this.#step()) throw new Error('nothing is waiting for time, and the work has not ended');
    }
  }

  /** Lets a time pass. */
  pass(milliseconds: number): Promise<void> {
    return this.run(this.delay(milliseconds));
  }

  #step(): boolean {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (!next || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer;
    }
    if (!next) return false;
    this.#timers.delete(next);
    this.#now = next.at;
    next.fire();
    return true;
  }
}
