import { Backoff } from '../util/backoff.ts';

/** After how long storage that failed is tried again, in milliseconds. */
const retry = { firstMs: 5_000, maxMs: 120_000 };

/**
 * Whether a database opens. One that does not (blocked, a private window, held by another tab) is tried again after a while,
 * and nobody waits for that.
 */
export class Availability {
  readonly #open: () => Promise<unknown>;
  readonly #onAvailable: () => void;
  readonly #backoff = new Backoff(retry);
  #isAvailable = true;
  #reason: string | null = null;
  /** In milliseconds since 1970; infinite while the database is being tried. */
  #retryAt = 0;

  /**
   * @param open tries the database; rejects when it does not open.
   * @param onAvailable called when the database opens again.
   */
  constructor(open: () => Promise<unknown>, onAvailable: () => void) {
    this.#open = open;
    this.#onAvailable = onAvailable;
  }

  get isAvailable(): boolean {
    return this.#isAvailable;
  }

  /** Why the database does not open, in the browser's words; null when it does. */
  get reason(): string | null {
    return this.#reason;
  }

  /** Whether the database can be used now. Begins another try when one is due. */
  check(): boolean {
    if (!this.#isAvailable && Date.now() >= this.#retryAt) {
      this.#retryAt = Number.POSITIVE_INFINITY;
      void this.#tryAgain();
    }
    return this.#isAvailable;
  }

  /** The database did not open. */
  failed(error: unknown): void {
    const isKnown = !this.#isAvailable && Number.isFinite(this.#retryAt);
    if (isKnown) return;
    this.#isAvailable = false;
    this.#reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    this.#retryAt = Date.now() + this.#backoff.next();
  }

  async #tryAgain(): Promise<void> {
    try {
      await this.#open();
      this.#isAvailable = true;
      this.#reason = null;
      this.#backoff.reset();
      this.#onAvailable();
    } catch (error) {
      this.failed(error);
    }
  }
}
