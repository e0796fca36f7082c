/**
 * Delays between tries that grow from `firstMs` to `maxMs`. Each delay is a random value between half and all of its
 * step, so that clients that failed together do not all retry together.
 */
export class Backoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #failures = 0;

  constructor({ firstMs, maxMs }: { firstMs: number; maxMs: number }) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
  }

  /** Counts a failure. @returns the delay before the next try, in milliseconds. */
  next(): number {
    const step = Math.min(this.#firstMs * 2 ** this.#failures++, this.#maxMs);
    return step * (0.5 + Math.random() / 2);
  }

  /** Call this after a success: the next failure counts as the first. */
  reset(): void {
    this.#failures = 0;
  }
}
