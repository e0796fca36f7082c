/**
 * Waiting times between tries that grow from `firstMs` to `maxMs`, each drawn at random between a half and the
 * whole of its step, so that clients which failed together do not all come back together.
 */
export class Backoff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #failures = 0;

  constructor({ firstMs, maxMs }: { firstMs: number; maxMs: number }) {
    this.#firstMs = firstMs;
    this.#maxMs = maxMs;
  }

  /** One more failure. @returns how long to wait, in milliseconds. */
  next(): number {
    const step = Math.min(this.#firstMs * 2 ** this.#failures++, this.#maxMs);
    return step * (0.5 + Math.random() / 2);
  }

  /** It worked: the next failure is a first one again. */
  reset(): void {
    this.#failures = 0;
  }
}
