import type { Address } from '../address.ts';
import type { VerifiedChunk } from '../chunks/verified-chunk.ts';
import { raceAbort } from '../util/watchdog.ts';

interface Arrival {
  /** How often it is still to come: a data map may list a chunk more than once. */
  left: number;
  promise: Promise<VerifiedChunk | undefined>;
  /** Settles the promise; only the first call counts. */
  resolve(chunk: VerifiedChunk | undefined): void;
}

/**
 * What a peer is to send ahead of requests, in answer to one OPEN. Who wants one of those chunks waits for it and does
 * not ask again; who wants another one is not held up.
 */
export class PrefetchSession {
  readonly #arrivals = new Map<string, Arrival>();
  readonly #controller = new AbortController();
  /** Requests that wait for a chunk. */
  #waiting = 0;
  #isUnwanted = false;
  #isPrepared = false;
  #hasEnded = false;
  /** Called when more is expected, or nothing more will be. */
  #told: (() => void)[] = [];

  /** Aborts when no more of the answer is wanted. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** One more record that was asked for. */
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
    this.#tell();
  }

  /** All that was asked for is expected now. */
  prepared(): void {
    this.#isPrepared = true;
    this.#tell();
  }

  /**
   * Whether a record that a peer begins to send was asked for. As long as the maps that say so are being opened, this
   * waits for them. A peer sends records in the order in which they become known, so what was to come before one that is
   * not known yet will not come: those who wait for it are told so.
   */
  async admits({ hex }: Address): Promise<boolean> {
    const isExpected = () => (this.#arrivals.get(hex)?.left ?? 0) > 0;
    while (!isExpected() && !this.#isPrepared && !this.#hasEnded) {
      this.#giveUp();
      await new Promise<void>((resolve) => this.#told.push(resolve));
    }
    return isExpected();
  }

  /** An expected record has come. */
  arrived(chunk: VerifiedChunk): void {
    const arrival = this.#arrivals.get(chunk.address.hex);
    if (!arrival) return;
    arrival.left--;
    arrival.resolve(chunk);
  }

  /** @returns the chunk once it is here; undefined when it will not come. @throws the signal's reason. */
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

  /** No more of the answer is needed. */
  stop(): void {
    this.#controller.abort(new DOMException('The rest is not needed.', 'AbortError'));
    this.end();
  }

  /** Those for whom it was asked have gone: it goes on only as long as others wait for a chunk of it. */
  release(): void {
    this.#isUnwanted = true;
    this.#stopIfUnwanted();
  }

  /** Nothing more will come. */
  end(): void {
    this.#hasEnded = true;
    this.#giveUp();
    this.#tell();
  }

  #stopIfUnwanted(): void {
    if (this.#isUnwanted && this.#waiting === 0) this.stop();
  }

  #giveUp(): void {
    for (const { resolve } of this.#arrivals.values()) resolve(undefined);
  }

  #tell(): void {
    for (const tell of this.#told.splice(0)) tell();
  }
}
