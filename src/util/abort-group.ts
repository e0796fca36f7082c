/** Those for whom something is done, so that it can be given up when the last of them has gone. */
export class AbortGroup {
  readonly #controller = new AbortController();
  #present = 0;

  /** Aborts when all who joined have gone, with the last one's reason. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** @param signal aborts when they go; who has none stays. */
  join(signal: AbortSignal | undefined): void {
    this.#present++;
    const leave = () => {
      if (--this.#present === 0) this.#controller.abort(signal?.reason);
    };
    if (signal?.aborted) leave();
    else signal?.addEventListener('abort', leave, { once: true });
  }
}
