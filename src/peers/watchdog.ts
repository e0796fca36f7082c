import { AntwayError } from '../errors.ts';

/**
 * Aborts when nothing has happened for a while, or when the caller's signal aborts. Browsers' own transports
 * can hang without an error (Safari's WebTransport is known for it), so every wait on a peer is under one.
 */
export class Watchdog {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal | undefined;
  readonly #stallMs: number;
  readonly #onParentAbort = () => this.#controller.abort(this.#parent?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(stallMs: number, parent?: AbortSignal) {
    this.#stallMs = stallMs;
    this.#parent = parent;
    if (parent?.aborted) this.#onParentAbort();
    else parent?.addEventListener('abort', this.#onParentAbort, { once: true });
    this.touch();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Something arrived: start the wait anew. */
  touch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const seconds = this.#stallMs / 1000;
      this.#controller.abort(new AntwayError('PEERS_UNREACHABLE', `Nothing arrived for ${seconds} seconds.`));
    }, this.#stallMs);
  }

  /** Ends the watch; must be called once the work is done. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#parent?.removeEventListener('abort', this.#onParentAbort);
  }

  /** `promise`, or a rejection with the signal's reason, whichever comes first. */
  race<T>(promise: Promise<T>): Promise<T> {
    return raceAbort(promise, this.signal);
  }
}

/** `promise`, or a rejection with the signal's reason, whichever comes first. */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
