import { Backoff } from '../../util/backoff.ts';

/** `closed`: requests go through. `open`: none do. `half-open`: one may try whether things have healed. */
export type CircuitState = 'closed' | 'open' | 'half-open';

export interface CircuitOptions {
  /** Failures in a row that open it. */
  failures: number;
  /** First and longest time that it stays open, in milliseconds. */
  firstMs: number;
  maxMs: number;
}

/** A request that went through. */
export type Permit = Record<never, never>;

/** Keeps requests away from what fails, and lets one through now and then to see whether it has healed. */
export class CircuitBreaker {
  readonly #failuresToOpen: number;
  readonly #backoff: Backoff;
  #failures = 0;
  #openUntil = 0;
  #probe: Permit | undefined;

  constructor({ failures, firstMs, maxMs }: CircuitOptions) {
    this.#failuresToOpen = failures;
    this.#backoff = new Backoff({ firstMs, maxMs });
  }

  get state(): CircuitState {
    if (this.#openUntil === 0) return 'closed';
    return this.#probe || Date.now() < this.#openUntil ? 'open' : 'half-open';
  }

  /**
   * A request is about to go through. While half-open it is the one probe, and others are kept away.
   * @returns what names the request when its outcome is told.
   */
  started(): Permit {
    const passage: Permit = {};
    if (this.state === 'half-open') this.#probe = passage;
    return passage;
  }

  succeeded(): void {
    this.reset();
  }

  /** Closes it, as if nothing had ever failed. */
  reset(): void {
    this.#failures = 0;
    this.#openUntil = 0;
    this.#probe = undefined;
    this.#backoff.reset();
  }

  /** @param passage undefined for a request that was not told of when it started. */
  failed(passage?: Permit): void {
    const isProbe = this.#endProbe(passage);
    if (this.#openUntil > 0 && !isProbe) return;
    this.#failures++;
    if (isProbe || this.#failures >= this.#failuresToOpen) this.#open();
  }

  /** A request failed in such a way that the next are certain to, too. */
  trip(passage?: Permit): void {
    const isProbe = this.#endProbe(passage);
    if (this.#openUntil === 0 || isProbe) this.#open();
  }

  /** The request ended without telling anything: it was cancelled. */
  abandoned(passage?: Permit): void {
    this.#endProbe(passage);
  }

  #open(): void {
    this.#openUntil = Date.now() + this.#backoff.next();
  }

  /** @returns whether it was the probe. Of those that ended while it is open, only that one says anything new. */
  #endProbe(passage: Permit | undefined): boolean {
    if (!passage || passage !== this.#probe) return false;
    this.#probe = undefined;
    return true;
  }
}
