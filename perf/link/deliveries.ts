interface Delivery {
  atMs: number;
  deliver(): void;
}

/** Things to do later, in the order in which they were added; their times never go back. */
export class Deliveries {
  readonly #waiting: Delivery[] = [];
  #next = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** @param atMs as `performance.now()`. */
  add(atMs: number, deliver: () => void): void {
    this.#waiting.push({ atMs, deliver });
    if (!this.#timer) this.#watch();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #watch(): void {
    const next = this.#waiting[this.#next];
    if (!next || this.#isClosed) return;
    // Timers have whole milliseconds: a delivery that is due within half a millisecond goes now.
    this.#timer = setTimeout(() => this.#deliver(), Math.max(next.atMs - performance.now(), 0));
  }

  #deliver(): void {
    this.#timer = undefined;
    const due = performance.now() + 0.5;
    let next = this.#waiting[this.#next];
    while (next && next.atMs <= due) {
      this.#next++;
      next.deliver();
      next = this.#waiting[this.#next];
    }
    if (this.#next > 1024 || !next) {
      this.#waiting.splice(0, this.#next);
      this.#next = 0;
    }
    this.#watch();
  }
}
