import type { Address } from '../address.ts';
import { asAntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { PeerUrl } from '../peer-url.ts';
import {
  type AttemptObserver,
  type AttemptRequest,
  PeerAttempt,
  type TransportName,
} from '../stats/peer-attempt.ts';
import { transferMs, Watchdog } from '../util/watchdog.ts';
import type { FetchOptions, PrefetchOptions } from './chunk-peers.ts';
import { NetworkWatch } from './network-watch.ts';
import { PeerHealth } from './selection/health.ts';
import { lostHedge } from './selection/hedge.ts';
import {
  askUntilAnswered,
  type MayAskAgain,
  type PeerAnswer,
  type PendingLookup,
  type PendingRequest,
} from './selection/pending-lookups.ts';
import type { PeerTransports } from './transports/peer-transports.ts';
import { type BusyHint, busyHint, type PrefetchRange } from './transports/protocol.ts';
import { isAnswer } from './transports/transport.ts';

/** A request of a peer of a network counts as a lookup after this time. A record of its store comes sooner. */
const silentLookupMs = 1_000;

export type PeerState = 'idle' | TransportName | 'unreachable' | 'banned';

export interface PeerRequestOptions<T> extends FetchOptions<T> {
  isHedge: boolean;
  onFirstByte(): void;
  /** Called when the peer has answered “busy”. The peer is asked again, unless the caller aborts. */
  onBusy(hint: BusyHint): void;
  observer: AttemptObserver;
}

export class Peer {
  readonly health = new PeerHealth();
  /** Milliseconds since 1970; 0 if the peer was never asked. */
  lastUsed = 0;
  readonly network: NetworkWatch;
  readonly #pending = new Set<PendingRequest>();
  readonly #observers: readonly AttemptObserver[];

  /** @param namedBy the `id` of the peer that named this peer; null for a configured peer. */
  constructor(
    readonly url: PeerUrl,
    readonly namedBy: string | null,
    readonly transports: PeerTransports,
    observer: AttemptObserver,
  ) {
    this.#observers = [this.health, transports, observer];
    this.network = new NetworkWatch({
      info: (signal) => transports.infoWithoutSession(signal),
      signOfLife: (signal) => transports.signOfLife(signal),
    });
  }

  get id(): string {
    return this.url.id;
  }

  get state(): PeerState {
    if (this.health.isBanned) return 'banned';
    if (this.health.circuit.state !== 'closed') return 'unreachable';
    return this.transports.last ?? 'idle';
  }

  /** Whether the peer answers. Null if that is not known. A ban and the last check count more than other requests. */
  get answers(): boolean | null {
    const { state } = this;
    if (state === 'banned') return false;
    return this.network.answers ?? (state === 'idle' ? null : state !== 'unreachable');
  }

  /**
   * Checks whether the peer answers, unless that was checked recently. Never rejects.
   * @param isForced whether to check a peer that answered recently, too.
   */
  async check(isForced: boolean): Promise<void> {
    const { fresh, again } = limits.checkMs;
    const wasSilent = this.network.answers === false;
    const isWell = this.answers && this.state !== 'unreachable';
    await this.network.check(isWell && !isForced ? fresh : isForced ? 0 : again);
    // Failures from before the peer came back say nothing.
    if (wasSilent && this.network.answers) this.wake();
  }

  /** Whether the peer looks records up in a network, which can take longer than any other answer. */
  get looksUp(): boolean {
    return this.network.known?.state === 'connected';
  }

  /** The records that the peer is looking up: it said “busy”, or it is a client of a network and is silent for long. */
  lookups(): PendingLookup[] {
    return [...this.#pending]
      .filter(({ isBusy, since }) => isBusy || (this.looksUp && Date.now() - since >= silentLookupMs))
      .map(({ address, since }) => ({ peer: this.id, address, since }));
  }

  /**
   * Asks for a chunk, and again while the peer is busy.
   * @throws the last failure; the signal's reason when aborted.
   */
  async fetch<T>(address: Address, options: PeerRequestOptions<T>): Promise<T> {
    const request = this.#started(address);
    const onFirstByte = () => {
      this.#pending.delete(request);
      options.onFirstByte();
    };
    const own = { ...options, onFirstByte };
    try {
      return await askUntilAnswered(
        request,
        (mayAskAgain) => this.#fetchOnce(address, own, mayAskAgain),
        options,
      );
    } catch (error) {
      if (request.isBusy && options.signal.reason === lostHedge) {
        this.health.lostLookup(Date.now() - request.since);
      }
      throw error;
    } finally {
      this.#pending.delete(request);
    }
  }

  #started(address: Address): PendingRequest {
    const request = { address, since: Date.now(), isBusy: false };
    this.#pending.add(request);
    return request;
  }

  /** Asks the transports in turn, best first. */
  async #fetchOnce<T>(
    address: Address,
    options: PeerRequestOptions<T>,
    mayAskAgain: MayAskAgain,
  ): Promise<PeerAnswer<T>> {
    const { signal, expectedBytes, verify, onFirstByte, isHedge, observer } = options;
    const permit = this.health.circuit.started();
    this.lastUsed = Date.now();
    const transports = this.transports.inOrder();
    for (const transport of transports) {
      const attempt = this.#attempt(
        { operation: 'get', transport: transport.name, isHedge, permit },
        observer,
      );
      const began = () => {
        attempt.began();
        onFirstByte();
      };
      try {
        const received = await transport.fetch(address, signal, began, expectedBytes);
        const value = await attempt.accept(received, verify);
        attempt.end('success');
        return { value };
      } catch (error) {
        if (signal.aborted) {
          attempt.end(signal.reason === lostHedge ? 'overtaken' : 'cancelled');
          throw signal.reason;
        }
        const failure = asAntwayError(error);
        const busy = busyHint(failure);
        if (busy && mayAskAgain(busy)) {
          attempt.end('busy');
          return { busy };
        }
        const isFinal = isAnswer(failure) || transport === transports.at(-1);
        attempt.end(failure, isFinal);
        if (isFinal) throw failure;
      }
    }
    this.health.unreachable(permit);
    throw this.transports.missing();
  }

  /** A wrong pointer bans no peer: peers cannot check signatures. @throws as `HttpTransport.pointer` or `verify`. */
  async pointer<T>(address: Address, options: FetchOptions<T>): Promise<T> {
    const request = this.#started(address);
    try {
      return await askUntilAnswered(
        request,
        (mayAskAgain) => this.#pointerOnce(address, options, mayAskAgain),
        options,
      );
    } finally {
      this.#pending.delete(request);
    }
  }

  async #pointerOnce<T>(
    address: Address,
    { signal, verify }: FetchOptions<T>,
    mayAskAgain: MayAskAgain,
  ): Promise<PeerAnswer<T>> {
    const { pointers } = this.transports;
    if (!pointers) throw this.transports.missing();
    const totalMs = this.looksUp ? limits.stallMs : limits.pointerMs.answer;
    const watchdog = new Watchdog({ stallMs: totalMs, totalMs, signal });
    const attempt = this.#attempt({ operation: 'pointer', transport: 'http' });
    try {
      return { value: verify(await pointers.pointer(address, limits.pointerBytes, watchdog.signal)) };
    } catch (error) {
      const failure = asAntwayError(error);
      const busy = signal.aborted ? undefined : busyHint(failure);
      if (busy && mayAskAgain(busy)) {
        attempt.end('busy');
        return { busy };
      }
      attempt.end(signal.aborted ? 'cancelled' : failure);
      throw error;
    } finally {
      watchdog.stop();
    }
  }

  /**
   * Requests everything that a range of a file needs (OPEN). This is a hint: the answer may end early or be empty
   * without an error. Wrong bytes ban the peer.
   * @param stallMs how long to wait for each record, because other peers could be asked. Undefined: no own limit.
   */
  async prefetch(
    address: Address,
    range: PrefetchRange,
    { signal, onRecord }: PrefetchOptions,
    stallMs: number | undefined,
  ): Promise<void> {
    const { webTransport } = this.transports;
    if (!webTransport) return;
    this.lastUsed = Date.now();
    const totalMs = transferMs(limits.prefetchBytes);
    const watchdog = stallMs === undefined ? undefined : new Watchdog({ stallMs, totalMs, signal });
    const own = watchdog?.signal ?? signal;
    const attempt = this.#attempt({ operation: 'open', transport: 'webtransport' });
    const request = this.#started(address);
    try {
      const began = () => {
        this.#pending.delete(request);
        attempt.began();
      };
      await webTransport.prefetch(address, range, own, began, async (of, bytes) => {
        await attempt.accept(bytes, () => onRecord(of, bytes));
        watchdog?.touch();
      });
      attempt.end('success');
    } catch (error) {
      if (signal.aborted) attempt.end('cancelled');
      else if (own.aborted) attempt.end('overtaken');
      // The missing chunks are requested one by one.
      else {
        const failure = asAntwayError(error);
        attempt.end(busyHint(failure) ? 'busy' : failure, false);
      }
    } finally {
      this.#pending.delete(request);
      watchdog?.stop();
    }
  }

  /** Call this when the network is back: failures without a network say nothing about this peer. A ban stays. */
  wake(): void {
    this.health.circuit.reset();
    this.transports.circuit.reset();
  }

  #attempt(request: Omit<AttemptRequest, 'peer'>, ...observers: AttemptObserver[]): PeerAttempt {
    return new PeerAttempt({ peer: this.id, ...request }, [...this.#observers, ...observers]);
  }
}
