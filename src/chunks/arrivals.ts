import type { Address } from '../address.ts';
import type { VerifiedChunk } from './verified-chunk.ts';

interface Arrival {
  promise: Promise<VerifiedChunk | undefined>;
  /** Settles the promise; only the first call counts. */
  resolve(chunk: VerifiedChunk | undefined): void;
  isExpected: boolean;
}

/**
 * Chunks that a peer is sending ahead of their requests. Who wants one of them waits for it and does not ask again;
 * as soon as it is known that it will not come, they are told so.
 */
export class Arrivals {
  readonly #arrivals = new Map<string, Arrival>();
  #isPrepared = false;

  /** These will come. */
  expect(addresses: Iterable<Address>): void {
    for (const { hex } of addresses) this.#arrival(hex).isExpected = true;
  }

  /** All that will come is expected now. */
  prepared(): void {
    this.#isPrepared = true;
    for (const { isExpected, resolve } of this.#arrivals.values()) if (!isExpected) resolve(undefined);
  }

  arrived(chunk: VerifiedChunk): void {
    this.#arrival(chunk.address.hex).resolve(chunk);
  }

  /** Nothing more will come. */
  end(): void {
    this.#isPrepared = true;
    for (const { resolve } of this.#arrivals.values()) resolve(undefined);
  }

  /** @returns the chunk once it is here; undefined when it will not come. */
  async take({ hex }: Address): Promise<VerifiedChunk | undefined> {
    if (this.#isPrepared && !this.#arrivals.has(hex)) return undefined;
    return this.#arrival(hex).promise;
  }

  #arrival(hex: string): Arrival {
    let arrival = this.#arrivals.get(hex);
    if (!arrival) {
      let resolve!: Arrival['resolve'];
      const promise = new Promise<VerifiedChunk | undefined>((settle) => {
        resolve = settle;
      });
      arrival = { promise, resolve, isExpected: false };
      this.#arrivals.set(hex, arrival);
    }
    return arrival;
  }
}
