import { Backoff } from '../../util/backoff.ts';

/** `half-open`: one request may probe. */
export type CircuitState = 'closed' | 'open' | 'half-open';

export interface CircuitOptions {
  failures: number;
  /** Time that the circuit stays open, in milliseconds. */
  firstMs: number;
  maxMs: number;
}

export type Permit = Record<never, never>;

/** Blocks requests to a target that fails. From time to time, one request probes whether the target recovered. */
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

  /** Call this before a request. If the circuit is half-open, the request becomes the only probe. */
  started(): Permit {
    const passage: Permit = {};
    if (this.state === 'half-open') this.#probe = passage;
    return passage;
  }

  succeeded(): void {
    this.reset();
  }

  reset(): void {
    this.#failures = 0;
    this.#openUntil = 0;
    this.#probe = undefined;
    this.#backoff.reset();
  }

  /** @param passage undefined if the request was not registered with `started`. */
  failed(passage?: Permit): void {
    const isProbe = this.#endProbe(passage);
    if (this.#openUntil > 0 && !isProbe) return;
    this.#failures++;
    if (isProbe || this.#failures >= this.#failuresToOpen) this.#open();
  }

  /** Opens the circuit at once: further requests are certain to fail. */
  trip(passage?: Permit): void {
    const isProbe = this.#endProbe(passage);
    if (this.#openUntil === 0 || isProbe) this.#open();
  }

  /** Call this if the request was cancelled: its outcome says nothing about the target. */
  abandoned(passage?: Permit): void {
    this.#endProbe(passage);
  }

  #open(): void {
    this.#openUntil = Date.now() + this.#backoff.next();
  }

  /** @returns whether the request was the probe. While the circuit is open, other outcomes are no news. */
  #endProbe(passage: Permit | undefined): boolean {
    if (!passage || passage !== this.#probe) return false;
    this.#probe = undefined;
    return true;
  }
}
