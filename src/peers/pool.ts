import type { Address } from '../address.ts';
import type { PeerConfig } from '../config.ts';
import { AntwayError, type Attempt } from '../errors.ts';
import { limits } from '../limits.ts';
import type { PeerTally, Stats } from '../stats/stats.ts';
import { HedgeBudget, hedge, type Try } from './hedge.ts';
import { Peer, type PeerState } from './peer.ts';
import { rendezvousScore } from './ranking.ts';

export interface FetchOptions<T> {
  signal: AbortSignal;
  /** Turns received bytes into what the caller wants, or throws `CORRUPT`: then the next peer is asked. */
  verify(received: Uint8Array<ArrayBuffer>): T;
}

/** Where chunks come from. */
export interface ChunkPeers {
  fetch<T>(address: Address, options: FetchOptions<T>): Promise<T>;
}

/**
 * The configured peers. Each address has an order of its own among them, the same for every client, so that each
 * peer's cache holds its share; how a peer does shifts its place. One that is slow is hedged by the next, one that
 * fails or lies is left out for a while.
 */
export class PeerPool implements ChunkPeers {
  readonly #peers: readonly Peer[];
  readonly #stats: Stats;
  readonly #hedges = new HedgeBudget(limits.hedgeShare, limits.hedgeBurst);

  constructor(peers: readonly PeerConfig[], stats: Stats) {
    this.#peers = peers.map((peer) => new Peer(peer, stats));
    this.#stats = stats;
  }

  /**
   * @throws AntwayError with every attempt in its details: `CORRUPT` when a peer sent wrong bytes and no other
   *   had the right ones, `NOT_FOUND` when a peer answered that it has none, `OFFLINE` or `PEERS_UNREACHABLE`
   *   when none answered. The signal's reason when aborted.
   */
  async fetch<T>(address: Address, { signal, verify }: FetchOptions<T>): Promise<T> {
    signal.throwIfAborted();
    const banned = this.#peers.filter(({ health }) => health.isBanned);
    const attempts: Attempt[] = banned.map(leftOut);
    const order = this.#order(address);
    const tries = order.map(
      (peer): Try<T> => ({
        run: (own, onFirstByte) =>
          peer.ask(address, {
            signal: own,
            verify,
            onFirstByte,
            report: (attempt) => attempts.push(attempt),
          }),
        patienceMs: peer.health.patienceMs,
      }),
    );
    if (tries.length === 0) throw failure(address, attempts);
    this.#hedges.earn();
    this.#limitSessions();
    try {
      const mayHedge = () => this.#hedges.spend();
      const { value, index, hedged } = await hedge(tries, {
        signal,
        maxParallel: limits.parallelTries,
        mayHedge,
      });
      for (const other of hedged) this.#stats.hedged(order[other]!.url, other === index);
      return value;
    } catch (error) {
      if (signal.aborted) throw error;
      throw failure(address, attempts);
    }
  }

  /** Opens sessions with the peers that will be asked most, ahead of the first request. */
  warm(): void {
    const best = this.#peers.toSorted((a, b) => b.health.weight - a.health.weight);
    for (const peer of best.slice(0, limits.warmSessions)) peer.warm();
  }

  /** Each peer's state and tally, for `/-/peers`. */
  describe(): ({ url: string; state: PeerState } & Partial<PeerTally>)[] {
    const tallies = this.#stats.snapshot().peers;
    return this.#peers.map((peer) => ({
      ...tallies.find((tally) => tally.url === peer.url),
      url: peer.url,
      state: peer.state,
    }));
  }

  close(): void {
    for (const peer of this.#peers) peer.close();
  }

  /** Whom to ask for an address: healthy peers by their score, then, as a last resort, those that failed lately. */
  #order(address: Address): Peer[] {
    return this.#peers
      .filter(({ health }) => !health.isBanned)
      .map((peer) => ({
        peer,
        isOpen: peer.health.circuit === 'open',
        score: rendezvousScore(address, peer.url, peer.health.weight),
      }))
      .sort((a, b) => Number(a.isOpen) - Number(b.isOpen) || b.score - a.score)
      .map(({ peer }) => peer);
  }

  /** Closes the sessions that were used least lately, where there are too many. */
  #limitSessions(): void {
    const open = this.#peers.filter(({ hasSession }) => hasSession);
    if (open.length <= limits.sessions) return;
    open.sort((a, b) => a.lastUsed - b.lastUsed);
    for (const peer of open.slice(0, open.length - limits.sessions)) peer.close();
  }
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

function failure(address: Address, attempts: readonly Attempt[]): AntwayError {
  const details = { address: address.hex, attempts };
  const peers = [...new Set(attempts.map(({ peer }) => peer))].join(', ');
  if (attempts.length === 0) {
    return new AntwayError(
      'PEERS_UNREACHABLE',
      'No peer is configured that this browser can reach.',
      details,
    );
  }
  const wrong = attempts.filter(({ code }) => code === 'CORRUPT');
  if (wrong.length > 0) {
    const liars = [...new Set(wrong.map(({ peer }) => peer))].join(', ');
    const wasSent = wrong.some(({ stage }) => stage !== 'connect');
    const message = wasSent
      ? `Wrong bytes were sent for this address by ${liars}.`
      : `No other peer has this record, and ${liars} is left out for a while: it sent wrong bytes.`;
    return new AntwayError('CORRUPT', message, details);
  }
  if (attempts.some(({ code }) => code === 'NOT_FOUND')) {
    return new AntwayError('NOT_FOUND', `No peer has this record. Asked: ${peers}.`, details);
  }
  if (typeof navigator === 'object' && navigator.onLine === false) {
    return new AntwayError('OFFLINE', 'The browser is offline, and this was not kept here.', details);
  }
  return new AntwayError('PEERS_UNREACHABLE', `No peer answered in time. Asked: ${peers}.`, details);
}
