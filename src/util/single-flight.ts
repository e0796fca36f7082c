/** Concurrent callers for the same key share one run, which continues until every waiting caller has aborted. */
export class SingleFlight<T, Key = string> {
  readonly #flights = new Map<Key, Flight<T>>();

  /**
   * @param work started unless a run for `key` is in progress. Its signal aborts when no caller waits any more,
   *   and after it has failed, for the parts of it that still run.
   * @param onJoin called if the caller joined a run in progress.
   * @throws the error of `work`, or the reason of the caller's own signal.
   */
  run(
    key: Key,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
    onJoin?: () => void,
  ): Promise<T> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    let flight = this.#flights.get(key);
    if (flight) onJoin?.();
    else {
      const controller = new AbortController();
      flight = { controller, waiting: 0, promise: work(controller.signal) };
      this.#flights.set(key, flight);
      const started = flight;
      const end = () => this.#end(key, started);
      flight.promise.then(end, (error) => {
        end();
        started.controller.abort(error);
      });
    }
    return this.#join(key, flight, signal);
  }

  #join(key: Key, flight: Flight<T>, signal: AbortSignal | undefined): Promise<T> {
    flight.waiting++;
    if (!signal) return flight.promise; // never leaves, so the count never falls to zero
    return new Promise((resolve, reject) => {
      const leave = () => {
        reject(signal.reason);
        if (--flight.waiting === 0) {
          // Remove the flight first: a new caller must start a new run and not join the aborted one.
          this.#end(key, flight);
          flight.controller.abort(signal.reason);
        }
      };
      signal.addEventListener('abort', leave, { once: true });
      flight.promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    });
  }

  #end(key: Key, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}

interface Flight<T> {
  controller: AbortController;
  waiting: number;
  promise: Promise<T>;
}
