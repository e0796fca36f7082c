import type { Address } from '../../address.ts';
import type { TransportChoice } from '../../config.ts';
import { AntwayError, type Attempt } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { PeerKind, PeerUrl } from '../../peer-url.ts';
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
  /** Expected size of the chunk in bytes, if known: small chunks may share a request. Only a hint. */
  expectedBytes?: number | undefined;
  /** Converts received bytes to the caller's value, or throws `CORRUPT`: then the next peer is asked. */
  verify(received: Uint8Array<ArrayBuffer>): T;
}

/** Measurements of the link to the peers. */
export interface LinkMeasure {
  bytesPerSecond: number;
  /** The shortest measured time from a request to its answer's first byte, in milliseconds. */
  delayMs: number;
}

/** A source of chunks. */
export interface ChunkPeers {
  fetch<T>(address: Address, options: FetchOptions<T>): Promise<T>;
  /**
   * Asks one peer for a file's map and for everything that a range of the file needs, if that costs one round trip.
   * This is a hint: chunks that do not arrive must be fetched. Resolves when nothing more will arrive. A source without
   * round trips, such as a folder, does not have this method.
   */
  prefetch?(address: Address, range: PrefetchRange, options: PrefetchOptions): Promise<void>;
  /**
   * Asks several peers at once for their mutable record at an address, and waits for all of them.
   * @returns the records that passed `verify`; an empty list if no peer answers. A source without mutable records does
   *   not have this method.
   * @throws the signal's reason when aborted.
   */
  pointers?<T>(address: Address, options: FetchOptions<T>): Promise<T[]>;
  /** Measurements of the link to the peers; undefined before the first measurement. */
  link?(): LinkMeasure | undefined;
}

/** A peer as `/-/peers` describes it. Includes its tally once it was asked. */
export interface PeerDescription extends Partial<PeerTally> {
  url: string;
  kind: PeerKind;
  /** The URL of the peer that named this peer; null for a configured peer. */
  namedBy: string | null;
  state: PeerState;
}

export interface PeerPoolOptions {
  /** Transports to use. `'auto'` if not given. */
  transport?: TransportChoice;
  /** Whether peers that the configured peers name are used too. */
  usePeersOfPeers?: boolean;
}

/**
 * The configured peers and, if enabled, the peers that they name. Each address has its own order of peers, the same for
 * every client, so that each peer's cache stores its share. The health of a peer shifts its place. A slow peer is
 * hedged by the next one. A peer that fails, or sends wrong bytes, moves to the end for a while.
 */
export class PeerPool implements ChunkPeers {
  readonly #peers: Peer[];
  readonly #peersOfPeers: PeersOfPeers | undefined;
  readonly #stats: Stats;
  readonly #rate = new RateMeter();
  readonly #hedges = new HedgeBudget(limits.hedgeShare, limits.hedgeBurst);

  constructor(
    peers: readonly PeerUrl[],
    stats: Stats,
    { transport = 'auto', usePeersOfPeers = false }: PeerPoolOptions = {},
  ) {
    const unique = new Map(peers.map((peer) => [peer.id, peer]));
    const onBytes = (bytes: number) => this.#rate.record(bytes, performance.now());
    const start = (peer: PeerUrl, namedBy: string | null = null) =>
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
   * @throws AntwayError with every attempt in its details: `CORRUPT` if a peer sent wrong bytes and no other peer had
   *   the right bytes, `NOT_FOUND` if all peers answered that they do not have the record, `OFFLINE` or
   *   `PEERS_UNREACHABLE` if a peer did not answer, because it may have the record. The signal's reason when aborted.
   */
  async fetch<T>(address: Address, options: FetchOptions<T>): Promise<T> {
    const { signal } = options;
    signal.throwIfAborted();
    this.#peersOfPeers?.look();
    this.#hedges.earn();
    this.#limitSessions();
    const attempts: Attempt[] = [];
    const { honest, banned } = this.#order(address);
    // Every answer is verified, so a banned peer can only waste time. It is asked only if no other peer delivered the
    // record or answered NOT_FOUND.
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
    throw failure(address, [...banned.filter(({ id }) => !asked.has(id)).map(leftOut), ...attempts]);
  }

  /** Asks peers in this order, with hedging. Every failure is added to `attempts`. */
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
    for (const other of hedged) this.#stats.hedged(order[other]!.id, other === index);
    return value;
  }

  async prefetch(
    address: Address,
    range: PrefetchRange,
    { signal, onRecord }: PrefetchOptions,
  ): Promise<void> {
    const order = this.#order(address).honest.filter(({ health }) => health.circuit === 'closed');
    const peer = order.find(({ canPrefetch: canOpen }) => canOpen);
    // Otherwise the peer with a session would get all requests, and no other peer would ever get a session.
    if (order[0] !== peer) order[0]?.warm();
    if (!peer) return;
    this.#limitSessions();
    // With no other peer to ask, there is no time limit here.
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

  /** Connects sessions with the peers that will be asked most, before the first request. */
  warm(): void {
    this.#peersOfPeers?.look();
    const best = this.#peers.toSorted((a, b) => b.health.weight - a.health.weight);
    for (const peer of best.slice(0, limits.warmSessions)) peer.warm();
  }

  /** Call this when the network is back: all peers are asked as if they had not failed. */
  wake(): void {
    for (const peer of this.#peers) peer.wake();
  }

  /** Each peer's state and tally, for `/-/peers`. */
  describe(): PeerDescription[] {
    const tallies = this.#stats.snapshot().peers;
    return this.#peers.map((peer) => ({
      ...tallies.find((tally) => tally.url === peer.id),
      url: peer.id,
      kind: peer.url.kind,
      namedBy: peer.namedBy,
      state: peer.state,
    }));
  }

  close(): void {
    for (const peer of this.#peers) peer.close();
  }

  /**
   * Returns the order of peers for an address: healthy peers by their score, then, as a last resort, peers whose
   * circuit is open. Banned peers are returned separately.
   */
  #order(address: Address): { honest: Peer[]; banned: Peer[] } {
    const order = this.#peers
      .map((peer) => ({
        peer,
        isOpen: peer.health.circuit === 'open',
        score: rendezvousScore(address, peer.id, peer.health.weight),
      }))
      .sort((a, b) => Number(a.isOpen) - Number(b.isOpen) || b.score - a.score)
      .map(({ peer }) => peer);
    return {
      honest: order.filter(({ health }) => !health.isBanned),
      banned: order.filter(({ health }) => health.isBanned),
    };
  }

  /** Closes the least recently used sessions if there are too many. */
  #limitSessions(): void {
    const open = this.#peers.filter(({ hasSession }) => hasSession);
    if (open.length <= limits.sessions) return;
    open.sort((a, b) => a.lastUsed - b.lastUsed);
    for (const peer of open.slice(0, open.length - limits.sessions)) peer.close();
  }
}

/**
 * How long to wait for each record of a prefetch while other peers could be asked: requests for these chunks wait too.
 * Delays measured with small answers must not make the wait too short for a large chunk.
 */
function openPatience({ health }: Peer): { stallMs: number; totalMs: number } {
  const total = ({ firstByte, rest }: { firstByte: number; rest: number }) => firstByte + rest;
  return {
    stallMs: Math.max(total(health.hedgeDelayMs), total(limits.firstPatienceMs)),
    totalMs: transferMs(limits.prefetchBytes),
  };
}

function leftOut(peer: Peer): Attempt {
  return {
    peer: peer.id,
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
  // A browser without a network can still reach a peer on its own computer. If that peer answers "busy", the browser is
  // not offline.
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
