import type { Clock } from './clock.ts';

/** Delays requests so that a node, which closes the connection of a client that is too fast, never sees too many. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #perSecond: number;
  readonly #burst: number;
  /** When the next request may be sent, if no burst were allowed. */
  #next = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, perSecond: number, burst: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#burst = burst;
  }

  /** Reserves a place, and waits for it. @throws the signal's reason when aborted. */
  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const now = this.#clock.now();
    const interval = 1000 / this.#perSecond;
    this.#next = Math.max(this.#next, now - (this.#burst - 1) * interval);
    const waitMs = this.#next - now;
    this.#next += interval;
    if (waitMs > 0) await this.#clock.delay(waitMs, signal);
  }
}
