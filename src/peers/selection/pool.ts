import type { Address } from '../../address.ts';
import type { PeerConfig, PeerKind, TransportChoice } from '../../config.ts';
import { AntwayError, type Attempt } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { RateMeter } from '../../stats/rate.ts';
import type { PeerTally, Stats } from '../../stats/stats.ts';
import { transferMs, Watchdog } from '../../util/watchdog.ts';
import { Peer, type PeerState, type PrefetchOptions } from '../peer.ts';
import type { PrefetchRange } from '../transports/protocol.ts';
import { HedgeBudget, type HedgedTry, hedge } from './hedge.ts';
import { PeersOfPeers } from './peers-of-peers.ts';
import { rendezvousScore } from './ranking.ts';

export interface FetchOptions<T> {
  signal: AbortSignal;
  /** How large the chunk should be, where that is known: small ones may share a request. Nothing relies on it. */
  expectedBytes?: number | undefined;
  /** Turns received bytes into what the caller wants, or throws `CORRUPT`: then the next peer is asked. */
  verify(received: Uint8Array<ArrayBuffer>): T;
}

/** What the way to the peers has shown lately. */
export interface LinkMeasure {
  bytesPerSecond: number;
  /** The shortest time from a request to its answer's first byte, in milliseconds. */
  delayMs: number;
}

/** Where chunks come from. */
export interface ChunkPeers {
  fetch<T>(address: Address, options: FetchOptions<T>): Promise<T>;
  /**
   * Asks one peer for a file's map and for all that a range of it needs, where that costs one round trip.
   * A hint: what does not come this way must be fetched. Resolves when nothing more will come. A source without
   * round trips, such as a folder, lacks it.
   */
  prefetch?(address: Address, range: PrefetchRange, options: PrefetchOptions): Promise<void>;
  /**
   * Asks several at once for what they have at an address where records change, and waits for all of them.
   * @returns what passed `verify`; nothing when none answers. A source without such records lacks it.
   * @throws the signal's reason when aborted.
   */
  pointers?<T>(address: Address, options: FetchOptions<T>): Promise<T[]>;
  /** What was measured of the way to the peers; undefined before that. */
  link?(): LinkMeasure | undefined;
}

/** A peer as `/-/peers` tells of it; with its tally once it was asked. */
export interface PeerDescription extends Partial<PeerTally> {
  url: string;
  kind: PeerKind;
  /** The URL of the peer that named it; null for a configured one. */
  namedBy: string | null;
  state: PeerState;
}

export interface PeerPoolOptions {
  /** By what peers are asked. `'auto'` if not given. */
  transport?: TransportChoice;
  /** Whether peers that the configured ones name are asked too. */
  usePeersOfPeers?: boolean;
}

/**
 * The configured peers, and those that they name if that is wanted. Each address has an order of its own among them, the same for every client, so that each
 * peer's cache holds its share; how a peer does shifts its place. One that is slow is hedged by the next, one that
 * fails or lies is left out for a while.
 */
export class PeerPool implements ChunkPeers {
  readonly #peers: Peer[];
  readonly #peersOfPeers: PeersOfPeers | undefined;
  readonly #stats: Stats;
  readonly #rate = new RateMeter();
  readonly #hedges = new HedgeBudget(limits.hedgeShare, limits.hedgeBurst);

  constructor(
    peers: readonly PeerConfig[],
    stats: Stats,
    { transport = 'auto', usePeersOfPeers = false }: PeerPoolOptions = {},
  ) {
    const unique = new Map(peers.map((peer) => [peer.url, peer]));
    const onBytes = (bytes: number) => this.#rate.record(bytes, performance.now());
    const start = (peer: PeerConfig, namedBy: string | null = null) =>
      new Peer(peer, { stats, transport, namedBy, onBytes });
    this.#peers = Array.from(unique.values(), (peer) => start(peer));
    this.#stats = stats;
    if (usePeersOfPeers) {
      this.#peersOfPeers = new PeersOfPeers([...this.#peers], (found, namedBy) =>
        this.#peers.push(start(found, namedBy)),
      );
    }
  }

  /**
   * @throws AntwayError with every attempt in its details: `CORRUPT` when a peer sent wrong bytes and no other
   *   had the right ones, `NOT_FOUND` when all peers answered that they have none, `OFFLINE` or `PEERS_UNREACHABLE`
   *   when one did not answer, as it may have it. The signal's reason when aborted.
   */
  async fetch<T>(address: Address, options: FetchOptions<T>): Promise<T> {
    const { signal } = options;
    signal.throwIfAborted();
    this.#peersOfPeers?.look();
    this.#hedges.earn();
    this.#limitSessions();
    const attempts: Attempt[] = [];
    const { honest, banned } = this.#order(address);
    // What a liar sends is checked, so it can do no harm but waste time: it is asked when nobody else answers.
    for (const order of [honest, banned]) {
      if (order.length === 0) continue;
      if (attempts.some(({ code }) => code === 'NOT_FOUND')) break;
      try {
        return await this.#fetchInOrder(order, address, attempts, options);
      } catch (error) {
        if (signal.aborted) throw error;
      }
    }
    const asked = new Set(attempts.map(({ peer }) => peer));
    throw failure(address, [...banned.filter(({ url }) => !asked.has(url)).map(leftOut), ...attempts]);
  }

  /** Asks peers in this order, as `hedge` does. Every failure is added to `attempts`. */
  async #fetchInOrder<T>(
    order: readonly Peer[],
    address: Address,
    attempts: Attempt[],
    { signal, expectedBytes, verify }: FetchOptions<T>,
  ): Promise<T> {
    const tries = order.map(
      (peer): HedgedTry<T> => ({
        run: (own, onFirstByte) =>
          peer.ask(address, {
            signal: own,
            expectedBytes,
            verify,
            onFirstByte,
            report: (attempt) => attempts.push(attempt),
          }),
        hedgeDelayMs: peer.health.hedgeDelayMs,
      }),
    );
    const { value, index, hedged } = await hedge(tries, {
      signal,
      maxParallel: limits.parallelTries,
      mayHedge: () => this.#hedges.spend(),
    });
    for (const other of hedged) this.#stats.hedged(order[other]!.url, other === index);
    return value;
  }

  async prefetch(
    address: Address,
    range: PrefetchRange,
    { signal, onRecord }: PrefetchOptions,
  ): Promise<void> {
    const order = this.#order(address).honest.filter(({ health }) => health.circuit === 'closed');
    const peer = order.find(({ canPrefetch: canOpen }) => canOpen);
    // Or whoever has a session would be asked for everything, and nobody else would ever get one.
    if (order[0] !== peer) order[0]?.warm();
    if (!peer) return;
    this.#limitSessions();
    // With nobody else to ask, it is waited for to the end.
    if (order.length === 1) return peer.prefetch(address, range, { signal, onRecord });
    let arrived = 0;
    let waitingSince = performance.now();
    const watchdog = new Watchdog({ ...openPatience(peer), signal });
    try {
      await peer.prefetch(address, range, {
        signal: watchdog.signal,
        onRecord: async (of, bytes) => {
          arrived++;
          await onRecord(of, bytes);
          watchdog.touch();
          waitingSince = performance.now();
        },
      });
    } finally {
      watchdog.stop();
    }
    const wasSlow = watchdog.signal.aborted && !signal.aborted;
    if (wasSlow) peer.health.lostHedge(performance.now() - waitingSince, arrived > 0);
  }

  async pointers<T>(address: Address, { signal, verify }: FetchOptions<T>): Promise<T[]> {
    signal.throwIfAborted();
    const { honest, banned } = this.#order(address);
    const asked = [...honest, ...banned].filter(({ givesPointers }) => givesPointers);
    const answers = await Promise.allSettled(
      asked.slice(0, limits.pointerPeers).map((peer) => peer.pointer(address, signal, verify)),
    );
    signal.throwIfAborted();
    return answers.filter((answer) => answer.status === 'fulfilled').map(({ value }) => value);
  }

  link(): LinkMeasure | undefined {
    const delays = this.#peers
      .map(({ health }) => health.leastFirstByteMs)
      .filter((delay) => delay !== undefined);
    const bytesPerSecond = this.#rate.bytesPerSecond(performance.now());
    if (delays.length === 0 || bytesPerSecond === 0) return undefined;
    return { bytesPerSecond, delayMs: Math.min(...delays) };
  }

  /** Opens sessions with the peers that will be asked most, ahead of the first request. */
  warm(): void {
    this.#peersOfPeers?.look();
    const best = this.#peers.toSorted((a, b) => b.health.weight - a.health.weight);
    for (const peer of best.slice(0, limits.warmSessions)) peer.warm();
  }

  /** There is a network again: peers are asked as if none of them had failed. */
  wake(): void {
    for (const peer of this.#peers) peer.wake();
  }

  /** Each peer's state and tally, for `/-/peers`. */
  describe(): PeerDescription[] {
    const tallies = this.#stats.snapshot().peers;
    return this.#peers.map((peer) => ({
      ...tallies.find((tally) => tally.url === peer.url),
      url: peer.url,
      kind: peer.kind,
      namedBy: peer.namedBy,
      state: peer.state,
    }));
  }

  close(): void {
    for (const peer of this.#peers) peer.close();
  }

  /**
   * Whom to ask for an address: healthy peers by their score, then, as a last resort, those that failed lately. Those
   * that lied lately are apart.
   */
  #order(address: Address): { honest: Peer[]; banned: Peer[] } {
    const order = this.#peers
      .map((peer) => ({
        peer,
        isOpen: peer.health.circuit === 'open',
        score: rendezvousScore(address, peer.url, peer.health.weight),
      }))
      .sort((a, b) => Number(a.isOpen) - Number(b.isOpen) || b.score - a.score)
      .map(({ peer }) => peer);
    return {
      honest: order.filter(({ health }) => !health.isBanned),
      banned: order.filter(({ health }) => health.isBanned),
    };
  }

  /** Closes the sessions that were used least lately, where there are too many. */
  #limitSessions(): void {
    const open = this.#peers.filter(({ hasSession }) => hasSession);
    if (open.length <= limits.sessions) return;
    open.sort((a, b) => a.lastUsed - b.lastUsed);
    for (const peer of open.slice(0, open.length - limits.sessions)) peer.close();
  }
}

/**
 * How long to wait for each record that a peer sends ahead, while others could be asked: whoever wants one of them
 * waits too. What was measured with small answers must not make it too short for a large one.
 */
function openPatience({ health }: Peer): { stallMs: number; totalMs: number } {
  const total = ({ firstByte, rest }: { firstByte: number; rest: number }) => firstByte + rest;
  return {
    stallMs: Math.max(total(health.hedgeDelayMs), total(limits.firstPatienceMs)),
    totalMs: transferMs(limits.openBytes),
  };
}

function leftOut(peer: Peer): Attempt {
  return {
    peer: peer.url,
    transport: 'http',
    stage: 'connect',
    code: 'CORRUPT',
    message: 'Left out for a while, because it sent a wrong chunk.',
    milliseconds: 0,
  };
}

function namesOf(attempts: readonly Attempt[]): string {
  return [...new Set(attempts.map(({ peer }) => peer))].join(', ');
}

function failure(address: Address, attempts: readonly Attempt[]): AntwayError {
  const details = { address: address.hex, attempts };
  const peers = namesOf(attempts);
  if (attempts.length === 0) {
    return new AntwayError(
      'PEERS_UNREACHABLE',
      'No peer is configured that this browser can reach.',
      details,
    );
  }
  const wrong = attempts.filter(({ code }) => code === 'CORRUPT');
  if (wrong.length > 0) {
    const liars = namesOf(wrong);
    const wasSent = wrong.some(({ stage }) => stage !== 'connect');
    const message = wasSent
      ? `Wrong bytes were sent for this address by ${liars}.`
      : `No other peer has this record, and ${liars} is left out for a while: it sent wrong bytes.`;
    return new AntwayError('CORRUPT', message, details);
  }
  const without = new Set(attempts.filter(({ code }) => code === 'NOT_FOUND').map(({ peer }) => peer));
  const silent = attempts.filter(({ peer }) => !without.has(peer));
  if (silent.length === 0) {
    return new AntwayError('NOT_FOUND', `No peer has this record. Asked: ${peers}.`, details);
  }
  // A browser without a network still reaches a peer on its own computer: one that is busy is no want of a network.
  const isCutOff = attempts.every(({ answered }) => !answered);
  if (isCutOff && typeof navigator === 'object' && navigator.onLine === false) {
    return new AntwayError('OFFLINE', 'The browser is offline, and this was not kept here.', details);
  }
  const message =
    without.size > 0
      ? `No peer that answered has this record, and ${namesOf(silent)} did not answer. Asked: ${peers}.`
      : `No peer answered in time. Asked: ${peers}.`;
  return new AntwayError('PEERS_UNREACHABLE', message, details);
}
