/** Recent failures by key, so that background work is not repeated immediately. */
export class RecentFailures<Failure> {
  readonly #forMs: number;
  readonly #now: () => number;
  readonly #failures = new Map<string, { failure: Failure; until: number }>();

  /** @param forMs how long to remember a failure, in milliseconds. */
  constructor(forMs: number, now: () => number = Date.now) {
    this.#forMs = forMs;
    this.#now = now;
  }

  add(key: string, failure: Failure): void {
    this.#failures.set(key, { failure, until: this.#now() + this.#forMs });
  }

  get(key: string): Failure | undefined {
    const known = this.#failures.get(key);
    if (known && known.until > this.#now()) return known.failure;
    this.#failures.delete(key);
    return undefined;
  }

  delete(key: string): void {
    this.#failures.delete(key);
  }

  clear(): void {
    this.#failures.clear();
  }
}
