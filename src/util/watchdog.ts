import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';

export interface WatchdogOptions {
  /** Aborts after this time without a `touch`. */
  stallMs: number;
  /** Aborts after this time in any case: a peer that sends a byte now and then must not block its caller for ever. */
  totalMs: number;
  signal?: AbortSignal | undefined;
}

/** Returns the time that a transfer of `bytes` takes at the slowest accepted rate, in milliseconds. */
export function transferMs(bytes: number): number {
  return (1000 * bytes) / limits.minBytesPerSecond;
}

/**
 * Aborts if nothing arrives for a while, or when the caller's signal aborts. The browsers' own transports can hang
 * without an error (Safari's WebTransport is known for it), so every wait for a peer needs a watchdog.
 */
export class Watchdog {
  readonly #controller = new AbortController();
  readonly #parent: AbortSignal | undefined;
  readonly #stallMs: number;
  readonly #onParentAbort = () => this.#controller.abort(this.#parent?.reason);
  readonly #totalTimer: ReturnType<typeof setTimeout>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ stallMs, totalMs, signal }: WatchdogOptions) {
    this.#stallMs = stallMs;
    this.#parent = signal;
    if (signal?.aborted) this.#onParentAbort();
    else signal?.addEventListener('abort', this.#onParentAbort, { once: true });
    this.#totalTimer = setTimeout(() => {
      const seconds = Math.round(totalMs / 1000);
      this.#controller.abort(new AntwayError('PEERS_UNREACHABLE', `It took more than ${seconds} seconds.`));
    }, totalMs);
    this.touch();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Call this when bytes arrive: restarts the stall timer. */
  touch(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const seconds = this.#stallMs / 1000;
      this.#controller.abort(new AntwayError('PEERS_UNREACHABLE', `Nothing arrived for ${seconds} seconds.`));
    }, this.#stallMs);
  }

  /** Stops the timers. Must be called once the work is done. */
  stop(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#totalTimer);
    this.#parent?.removeEventListener('abort', this.#onParentAbort);
  }

  /** Settles as `promise`, or rejects with the signal's reason, whichever comes first. */
  race<T>(promise: Promise<T>): Promise<T> {
    return raceAbort(promise, this.signal);
  }
}

/** Settles as `promise`, or rejects with the signal's reason, whichever comes first. */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
