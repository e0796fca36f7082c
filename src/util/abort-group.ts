/** An abort signal shared by several callers. It fires when the last caller has aborted. */
export class AbortGroup {
  readonly #controller = new AbortController();
  #present = 0;

  /** Aborts when all callers have aborted, with the reason of the last one. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** @param signal the caller's signal. A caller without a signal never aborts. */
  join(signal: AbortSignal | undefined): void {
    this.#present++;
    const leave = () => {
      if (--this.#present === 0) this.#controller.abort(signal?.reason);
    };
    if (signal?.aborted) leave();
    else signal?.addEventListener('abort', leave, { once: true });
  }
}
