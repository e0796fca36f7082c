import type { Address } from '../address.ts';
import { AntwayError, isAbort } from '../errors.ts';
import { limits } from '../limits.ts';
import { raceAbort } from '../util/watchdog.ts';
import { type Clock, withTimeout } from './clock.ts';
import type { NodesStatus } from './nodes.ts';
import { OwnerPort } from './owner-port.ts';
import { portLimits } from './port-limits.ts';
import type { Port, RecordKind } from './port-messages.ts';
import { Semaphore } from './semaphore.ts';

export interface BrokerOptions {
  clock: Clock;
  /**
   * Asks the pages for a port to the owner of the connections, which then comes to `connect`.
   * @returns false if no page could have the connections.
   */
  findOwner(): Promise<boolean>;
}

export interface BrokerRequest<T> {
  signal: AbortSignal;
  /** Converts the received bytes, or throws `CORRUPT`. The page has verified them too, but is not trusted. */
  verify(received: Uint8Array<ArrayBuffer>): T;
  onFirstByte?(): void;
}

/** Reads records from nodes for a worker, through the page that owns the connections. */
export class NodeBroker {
  readonly #options: BrokerOptions;
  readonly #places = new Semaphore(portLimits.requests);
  #owner: OwnerPort | undefined;
  #search: Promise<OwnerPort> | undefined;
  #found: (owner: OwnerPort) => void = () => undefined;

  constructor(options: BrokerOptions) {
    this.#options = options;
  }

  /** Asks the owner for its status. @returns undefined if no page has the connections. */
  async status(): Promise<NodesStatus | undefined> {
    if (this.#owner && !this.#owner.lost) return this.#owner.report();
    // The next call may know the owner.
    this.#currentOwner(new AbortController().signal).catch(() => undefined);
    return undefined;
  }

  /** Uses a new owner. Requests in progress are asked again there. */
  connect(port: Port): void {
    const former = this.#owner;
    this.#owner = new OwnerPort(port, this.#options.clock);
    this.#found(this.#owner);
    former?.end();
  }

  /**
   * @throws AntwayError as `Nodes.chunk`; `CORRUPT` if the bytes do not verify; `PEERS_UNREACHABLE` with `details.problem`
   *   `no-page` if no page is open that could have the connections, `no-owner` if no page has them; the signal's reason
   *   when aborted.
   */
  async fetch<T>(address: Address, options: BrokerRequest<T>): Promise<T> {
    const [record] = await this.#ask('chunk', address, limits.chunkBytes, options);
    return options.verify(new Uint8Array(record!));
  }

  /**
   * @param options `isKnown`: whether the caller has a record. Then a long lookup is not waited for.
   * @returns the pointer records that passed `verify`. @throws the signal's reason when aborted.
   */
  async pointers<T>(address: Address, options: BrokerRequest<T> & { isKnown: boolean }): Promise<T[]> {
    const { signal, isKnown, verify } = options;
    const ask = (own: AbortSignal) =>
      this.#ask('pointer', address, limits.pointerBytes, { ...options, signal: own });
    try {
      const late = () => new DOMException('A record is known.', 'AbortError');
      const records = isKnown
        ? await withTimeout(this.#options.clock, limits.pointerMs.answer, signal, late, ask)
        : await ask(signal);
      return records.flatMap((record) => passed(record, verify));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AntwayError || isAbort(error)) return [];
      throw error;
    }
  }

  async #ask(
    kind: RecordKind,
    address: Address,
    limit: number,
    { signal, onFirstByte }: BrokerRequest<unknown>,
  ): Promise<ArrayBuffer[]> {
    const release = await this.#places.take(signal);
    try {
      for (let isAgain = false; ; ) {
        const owner = await this.#currentOwner(signal);
        try {
          return await owner.ask(kind, address, limit, { signal, onFirstByte });
        } catch (error) {
          const isReplaced = this.#owner !== owner;
          if (error !== owner.lost || (isAgain && !isReplaced)) throw error;
          isAgain ||= !isReplaced;
        }
      }
    } finally {
      release();
    }
  }

  /** Requests that need an owner share one search. */
  #currentOwner(signal: AbortSignal): Promise<OwnerPort> {
    if (this.#owner && !this.#owner.lost) return Promise.resolve(this.#owner);
    this.#search ??= this.#searchOwner().finally(() => {
      this.#search = undefined;
    });
    return raceAbort(this.#search, signal);
  }

  async #searchOwner(): Promise<OwnerPort> {
    const { clock, findOwner } = this.#options;
    const noOwner = (problem = 'no-owner') =>
      new AntwayError('PEERS_UNREACHABLE', 'No page of the gateway has connections to nodes.', { problem });
    return withTimeout(
      clock,
      portLimits.ownerWaitMs,
      undefined,
      () => noOwner(),
      (own) => {
        const found = new Promise<OwnerPort>((resolve, reject) => {
          this.#found = resolve;
          // A page may come later even if the pages could not be asked.
          findOwner().then(
            (isPossible) => isPossible || reject(noOwner('no-page')),
            () => undefined,
          );
        });
        return raceAbort(found, own);
      },
    );
  }
}

/** @returns the value in a list; an empty list if the record is not one of the address. */
function passed<T>(record: ArrayBuffer, verify: (received: Uint8Array<ArrayBuffer>) => T): T[] {
  try {
    return [verify(new Uint8Array(record))];
  } catch (error) {
    if (error instanceof AntwayError) return [];
    throw error;
  }
}
