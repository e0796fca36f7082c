import { Backoff } from '../util/backoff.ts';

/** Delays before storage that failed is tried again, in milliseconds. */
const retry = { firstMs: 5_000, maxMs: 120_000 };

/** Retries a database that does not open (blocked, private window, another tab). Callers continue without it. */
export class DatabaseAvailability {
  readonly #open: () => Promise<unknown>;
  readonly #onAvailable: () => void;
  readonly #backoff = new Backoff(retry);
  #isAvailable = true;
  #reason: string | null = null;
  /** In milliseconds since 1970; infinite while a try is running. */
  #retryAt = 0;

  constructor(open: () => Promise<unknown>, onAvailable: () => void) {
    this.#open = open;
    this.#onAvailable = onAvailable;
  }

  get isAvailable(): boolean {
    return this.#isAvailable;
  }

  /** The browser's error message if the database does not open; null otherwise. */
  get reason(): string | null {
    return this.#reason;
  }

  /** Whether the database can be used now. Starts another try if one is due. */
  check(): boolean {
    if (!this.#isAvailable && Date.now() >= this.#retryAt) {
      this.#retryAt = Number.POSITIVE_INFINITY;
      void this.#tryAgain();
    }
    return this.#isAvailable;
  }

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
