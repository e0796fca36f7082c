import type { Address } from '../address.ts';
import type { VerifiedChunk } from '../chunks/verified-chunk.ts';
import { raceAbort } from '../util/watchdog.ts';

interface Arrival {
  /** More than one if a data map lists the chunk several times. */
  left: number;
  promise: Promise<VerifiedChunk | undefined>;
  /** Only the first call has an effect. */
  resolve(chunk: VerifiedChunk | undefined): void;
}

/** The records expected in answer to one OPEN. Requests for them wait and ask no peer; others do not wait. */
export class PrefetchSession {
  readonly #arrivals = new Map<string, Arrival>();
  readonly #controller = new AbortController();
  #waiting = 0;
  #isUnwanted = false;
  #isPrepared = false;
  #hasEnded = false;
  /** Called when another record is expected, or when the session has ended. */
  #waiters: (() => void)[] = [];

  /** Aborts when no more of the answer is needed. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  expect({ hex }: Address): void {
    if (this.#hasEnded) return;
    let arrival = this.#arrivals.get(hex);
    if (!arrival) {
      let resolve!: Arrival['resolve'];
      const promise = new Promise<VerifiedChunk | undefined>((settle) => {
        resolve = settle;
      });
      arrival = { left: 0, promise, resolve };
      this.#arrivals.set(hex, arrival);
    }
    arrival.left++;
    this.#wakeWaiters();
  }

  /** Call this when all requested records are expected. */
  prepared(): void {
    this.#isPrepared = true;
    this.#wakeWaiters();
  }

  /**
   * Whether a record was requested. While nested maps are still being decrypted, this waits for them. A peer sends
   * records in the order in which they become known. So if a record is not known yet, the expected records before it
   * will not arrive, and requests stop waiting for them.
   */
  async admits({ hex }: Address): Promise<boolean> {
    const isExpected = () => (this.#arrivals.get(hex)?.left ?? 0) > 0;
    while (!isExpected() && !this.#isPrepared && !this.#hasEnded) {
      this.#giveUp();
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    }
    return isExpected();
  }

  arrived(chunk: VerifiedChunk): void {
    const arrival = this.#arrivals.get(chunk.address.hex);
    if (!arrival) return;
    arrival.left--;
    arrival.resolve(chunk);
  }

  /** @returns the chunk when it arrives; undefined if it will not arrive. @throws the signal's reason. */
  async take({ hex }: Address, signal: AbortSignal): Promise<VerifiedChunk | undefined> {
    const arrival = this.#arrivals.get(hex);
    if (!arrival) return undefined;
    this.#waiting++;
    try {
      return await raceAbort(arrival.promise, signal);
    } finally {
      this.#waiting--;
      this.#stopIfUnwanted();
    }
  }

  stop(): void {
    this.#controller.abort(new DOMException('The rest is not needed.', 'AbortError'));
    this.end();
  }

  /** Call this when all readers have aborted. Continues only while other requests wait for chunks of this session. */
  release(): void {
    this.#isUnwanted = true;
    this.#stopIfUnwanted();
  }

  /** Call this when no more records will arrive. */
  end(): void {
    this.#hasEnded = true;
    this.#giveUp();
    this.#wakeWaiters();
  }

  #stopIfUnwanted(): void {
    if (this.#isUnwanted && this.#waiting === 0) this.stop();
  }

  #giveUp(): void {
    for (const { resolve } of this.#arrivals.values()) resolve(undefined);
  }

  #wakeWaiters(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }
}
