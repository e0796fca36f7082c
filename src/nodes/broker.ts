import type { Address } from '../address.ts';
import { AntwayError, isAbort } from '../errors.ts';
import { limits } from '../limits.ts';
import { raceAbort } from '../util/watchdog.ts';
import { type Clock, withTimeout } from './clock.ts';
import { LeaderPort } from './leader-port.ts';
import type { NodesStatus } from './nodes.ts';
import { portLimits } from './port-limits.ts';
import type { Port, RecordKind } from './port-messages.ts';
import { Semaphore } from './semaphore.ts';

export interface BrokerOptions {
  clock: Clock;
  /**
   * Asks the pages for a port to the leader, which then comes to `connect`.
   * @returns false if no page could have the connections.
   */
  findLeader(): Promise<boolean>;
}

export interface BrokerRequest<T> {
  signal: AbortSignal;
  /** Converts the received bytes, or throws `CORRUPT`. The page has verified them too, but is not trusted. */
  verify(received: Uint8Array<ArrayBuffer>): T;
  onFirstByte?(): void;
}

/** Reads records from nodes for a worker, through the page with the connections. */
export class NodeBroker {
  readonly #options: BrokerOptions;
  readonly #places = new Semaphore(portLimits.requests);
  #leader: LeaderPort | undefined;
  #search: Promise<LeaderPort> | undefined;
  #found: (leader: LeaderPort) => void = () => undefined;

  constructor(options: BrokerOptions) {
    this.#options = options;
  }

  /** Asks the leader for its status. @returns undefined if no page has the connections. */
  async status(): Promise<NodesStatus | undefined> {
    if (this.#leader && !this.#leader.lost) return this.#leader.report();
    // The next call may know the leader.
    this.#currentLeader(new AbortController().signal).catch(() => undefined);
    return undefined;
  }

  /** Uses a new leader. Requests in progress are asked again there. */
  connect(port: Port): void {
    const former = this.#leader;
    this.#leader = new LeaderPort(port, this.#options.clock);
    this.#found(this.#leader);
    former?.end();
  }

  /**
   * @throws AntwayError as `Nodes.chunk`; `CORRUPT` if the bytes do not verify; `PEERS_UNREACHABLE` with `details.problem`
   *   `no-page` if no page is open that could have the connections, `no-leader` if no page has them; the signal's
   *   reason when aborted.
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
        const leader = await this.#currentLeader(signal);
        try {
          return await leader.ask(kind, address, limit, { signal, onFirstByte });
        } catch (error) {
          const isReplaced = this.#leader !== leader;
          if (error !== leader.lost || (isAgain && !isReplaced)) throw error;
          isAgain ||= !isReplaced;
        }
      }
    } finally {
      release();
    }
  }

  /** Requests that need a leader share one search. */
  #currentLeader(signal: AbortSignal): Promise<LeaderPort> {
    if (this.#leader && !this.#leader.lost) return Promise.resolve(this.#leader);
    this.#search ??= this.#searchLeader().finally(() => {
      this.#search = undefined;
    });
    return raceAbort(this.#search, signal);
  }

  async #searchLeader(): Promise<LeaderPort> {
    const { clock, findLeader } = this.#options;
    const noLeader = (problem = 'no-leader') =>
      new AntwayError('PEERS_UNREACHABLE', 'No page of the gateway has connections to nodes.', { problem });
    return withTimeout(
      clock,
      portLimits.leaderWaitMs,
      undefined,
      () => noLeader(),
      (own) => {
        const found = new Promise<LeaderPort>((resolve, reject) => {
          this.#found = resolve;
          // A page may come later even if the pages could not be asked.
          findLeader().then(
            (isPossible) => isPossible || reject(noLeader('no-page')),
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
