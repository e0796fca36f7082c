import { Backoff } from './backoff.ts';

/** `closed`: requests go through. `open`: none do. `half-open`: one may try whether things have healed. */
export type CircuitState = 'closed' | 'open' | 'half-open';

export interface CircuitOptions {
  /** Failures in a row that open it. */
  failures: number;
  /** First and longest time that it stays open, in milliseconds. */
  firstMs: number;
  maxMs: number;
}

/** Keeps requests away from what fails, and lets one through now and then to see whether it has healed. */
export class CircuitBreaker {
  readonly #failuresToOpen: number;
  readonly #backoff: Backoff;
  #failures = 0;
  #openUntil = 0;
  #isProbing = false;

  constructor({ failures, firstMs, maxMs }: CircuitOptions) {
    this.#failuresToOpen = failures;
    this.#backoff = new Backoff({ firstMs, maxMs });
  }

  get state(): CircuitState {
    if (this.#openUntil === 0) return 'closed';
    return this.#isProbing || Date.now() < this.#openUntil ? 'open' : 'half-open';
  }

  /** A request is about to go through. While half-open it is the one probe, and others are kept away. */
  started(): void {
    if (this.state === 'half-open') this.#isProbing = true;
  }

  succeeded(): void {
    this.reset();
  }

  /** Closes it, as if nothing had ever failed. */
  reset(): void {
    this.#failures = 0;
    this.#openUntil = 0;
    this.#isProbing = false;
    this.#backoff.reset();
  }

  failed(): void {
    this.#failures++;
    const wasProbe = this.#isProbing;
    this.#isProbing = false;
    if (wasProbe || this.#failures >= this.#failuresToOpen) this.trip();
  }

  /** Opens it now: what failed is certain to fail again at once. */
  trip(): void {
    this.#isProbing = false;
    this.#openUntil = Date.now() + this.#backoff.next();
  }

  /** The request ended without telling anything: it was cancelled. */
  abandoned(): void {
    this.#isProbing = false;
  }
}
