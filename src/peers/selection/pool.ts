import type { Address } from '../../address.ts';
import { asAntwayError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { NodesStatus } from '../../nodes/nodes.ts';
import type { PeerKind, PeerUrl } from '../../peer-url.ts';
import type { TransportChoice } from '../../server-config.ts';
import { RateMeter } from '../../stats/rate.ts';
import type { PeerTally, Stats } from '../../stats/stats.ts';
import { raceAbort } from '../../util/watchdog.ts';
import type {
  ChunkPeers,
  FetchOptions,
  LinkMeasure,
  NodeSource,
  PointerOptions,
  PrefetchOptions,
} from '../chunk-peers.ts';
import { Peer, type PeerState } from '../peer.ts';
import { PeerTransports } from '../transports/peer-transports.ts';
import type { BusyHint, PeerNetwork, PrefetchRange } from '../transports/protocol.ts';
import { FetchFailure } from './fetch-failure.ts';
import { HedgeBudget, type HedgedTry, hedge } from './hedge.ts';
import { PeersOfPeers } from './peers-of-peers.ts';
import type { PendingLookup } from './pending-lookups.ts';
import { rendezvousScore } from './ranking.ts';

/** A peer as `/-/peers` describes it. Includes its tally once it was asked. */
export interface PeerDescription extends Partial<PeerTally> {
  url: string;
  kind: PeerKind;
  /** The URL of the peer that named this peer; null for a configured peer. */
  namedBy: string | null;
  state: PeerState;
  /** Whether the peer answers at all. Null if that is not known yet. */
  answers: boolean | null;
  /** As the peer last described it. Null if it is not a client of a network, or has not been asked. */
  network: PeerNetwork | null;
}

export interface NetworkOfPeer {
  /** The peer's `PeerUrl.id`. */
  peer: string;
  /** Null if the peer says that it has none. Undefined if it says nothing about networks, as AntTP and antd do. */
  network: PeerNetwork | null | undefined;
}

/** Age of a network's description that is recent enough for an error page, in milliseconds. */
const recentMs = 2_000;

export interface PeerPoolOptions {
  /** Default: `'auto'`. */
  transport?: TransportChoice;
  /** Whether peers that the configured peers name are used too. */
  usePeersOfPeers?: boolean;
  /** The network's nodes, if the user allows them. They are asked after the peers. */
  nodes?: NodeSource | undefined;
}

/**
 * The configured peers and, if enabled, the peers that they name. Each address has its own order of peers, the same for
 * every client, so that each peer's cache stores its share. Health shifts a peer's place. A slow peer is hedged by the
 * next one. A peer that fails, or sends wrong bytes, moves to the end for a while. The network's nodes come after the
 * peers: for records that no peer has, and if all peers are slow.
 */
export class PeerPool implements ChunkPeers {
  readonly #peers: Peer[];
  readonly #peersOfPeers: PeersOfPeers | undefined;
  readonly #nodes: NodeSource | undefined;
  readonly #stats: Stats;
  readonly #rate = new RateMeter();
  readonly #hedges = new HedgeBudget(limits.hedgeShare, limits.hedgeBurst);

  constructor(
    peers: readonly PeerUrl[],
    stats: Stats,
    { transport = 'auto', usePeersOfPeers = false, nodes }: PeerPoolOptions = {},
  ) {
    const unique = new Map(peers.map((peer) => [peer.id, peer]));
    const onBytes = (bytes: number) => this.#rate.record(bytes, performance.now());
    const start = (peer: PeerUrl, namedBy: string | null = null) =>
      new Peer(peer, namedBy, new PeerTransports(peer, transport, onBytes), stats);
    this.#peers = Array.from(unique.values(), (peer) => start(peer));
    this.#nodes = nodes;
    this.#stats = stats;
    if (usePeersOfPeers) {
      this.#peersOfPeers = new PeersOfPeers([...this.#peers], (found, namedBy) =>
        this.#peers.push(start(found, namedBy)),
      );
    }
  }

  /**
   * @throws AntwayError with every attempt in its details: `CORRUPT` if a peer sent wrong bytes and no other peer had
   *   the right bytes, `NOT_FOUND` if all peers answered that they do not have the record, `DENIED` if some of them
   *   have blocked it instead, `OFFLINE` or `PEERS_UNREACHABLE` if a peer did not answer, because it may have the record.
   *   The signal's reason when aborted.
   */
  async fetch<T>(address: Address, options: FetchOptions<T>): Promise<T> {
    const { signal } = options;
    signal.throwIfAborted();
    this.#peersOfPeers?.discover();
    this.#hedges.earn();
    this.#limitSessions();
    const failure = new FetchFailure();
    const { honest, banned } = this.#order(address);
    // Every answer is verified, so a banned peer can only waste time. Ask it if no honest peer delivered the record or
    // answered NOT_FOUND.
    for (const order of [honest, banned]) {
      const nodes = order === honest ? this.#nodes : undefined;
      if (order.length === 0 && !nodes) continue;
      if (failure.isAbsent) break;
      const tries = order.map(
        (peer, i): HedgedTry<T> => ({
          run: (own, onFirstByte, isHedge, isBusy) => {
            const onBusy = ({ isOverloaded }: BusyHint) => {
              // The networks of the peers decide which peer may be asked in the meantime.
              void Promise.all(order.map(({ network }) => network.learn())).then(() => isBusy(isOverloaded));
            };
            const events = { onFirstByte, onBusy, observer: failure };
            return peer.fetch(address, { ...options, signal: own, isHedge, ...events });
          },
          hedgeDelayMs: nodes && i === order.length - 1 ? withNodes(peer) : peer.health.hedgeDelayMs,
          largestChunkMs: () => peer.health.largestChunkMs,
          looksUp: () => peer.looksUp,
        }),
      );
      if (nodes) tries.push(this.#askNodes(nodes, address, options, failure));
      const mayHedge = () => this.#hedges.spend();
      const waits = { lookupMs: limits.busyMs.hedge, lateMs: limits.stallMs };
      try {
        return await hedge(tries, { signal, maxParallel: limits.parallelTries, ...waits, mayHedge });
      } catch (error) {
        if (signal.aborted) throw error;
      }
    }
    throw failure.error(address, banned);
  }

  #askNodes<T>(
    nodes: NodeSource,
    address: Address,
    options: FetchOptions<T>,
    failure: FetchFailure,
  ): HedgedTry<T> {
    return {
      run: async (signal, onFirstByte) => {
        const startedMs = performance.now();
        const verify = (received: Uint8Array<ArrayBuffer>) => {
          const value = options.verify(received);
          this.#stats.fromNodes(received.length);
          return value;
        };
        try {
          return await nodes.fetch(address, { ...options, signal, onFirstByte, verify });
        } catch (error) {
          if (!signal.aborted) failure.nodesFailed(asAntwayError(error), startedMs);
          throw error;
        }
      },
      hedgeDelayMs: limits.defaultHedgeDelayMs,
      looksUp: () => true,
    };
  }

  async prefetch(address: Address, range: PrefetchRange, options: PrefetchOptions): Promise<void> {
    const order = this.#order(address).honest.filter(({ health }) => health.circuit.state === 'closed');
    const connected = () => order.find(({ transports }) => transports.canPrefetch);
    // Otherwise all requests would go to the peer with a session, and no other peer would ever get one.
    if (order[0] !== connected()) order[0]?.transports.connect();
    if (!connected()) await this.#firstSession(order, options.signal);
    const peer = connected();
    if (!peer) return;
    this.#limitSessions();
    if (order.length === 1) return peer.prefetch(address, range, options, undefined);
    // Another peer of a network would only repeat the lookup, so a lookup may take longer.
    const isLookup = order.every(({ looksUp }) => looksUp);
    const stallMs = Math.max(peer.health.prefetchStallMs, isLookup ? limits.stallMs : 0);
    return peer.prefetch(address, range, options, stallMs);
  }

  /**
   * Waits for the first session of those that are being connected, so that a page can be prefetched before there is one. Does
   * not wait if a request to the best peer would not wait either, and only for a part of the time for which that request would
   * be alone.
   */
  async #firstSession(peers: readonly Peer[], signal: AbortSignal): Promise<void> {
    const [best, ...others] = peers;
    const session = best?.transports.connecting;
    if (!session) return;
    const sessions = others.map(({ transports }) => transports.connecting ?? Promise.reject());
    const isAlone = others.length === 0 && !this.#nodes;
    const { firstByte } = best.health.hedgeDelayMs;
    const until = isAlone ? signal : AbortSignal.any([signal, AbortSignal.timeout(firstByte / 2)]);
    await raceAbort(Promise.any([session, ...sessions]), until).catch(() => undefined);
  }

  async pointers<T>(address: Address, options: PointerOptions<T>): Promise<T[]> {
    const { signal } = options;
    signal.throwIfAborted();
    const { honest, banned } = this.#order(address);
    const peers = [...honest, ...banned].filter(({ transports }) => transports.pointers);
    // A peer of a network may take long. It is waited for only while there is no record at all.
    const enough = new AbortController();
    const own = AbortSignal.any([signal, enough.signal]);
    let isLate = false;
    let hasRecord = options.isKnown;
    const check = () => {
      if (isLate && hasRecord) enough.abort(new DOMException('A record is known.', 'AbortError'));
    };
    const timer = setTimeout(() => {
      isLate = true;
      check();
    }, limits.pointerMs.answer);
    const ask = { ...options, signal: own };
    const noted = async (asking: Promise<T[]>): Promise<T[]> => {
      const records = await asking;
      hasRecord ||= records.length > 0;
      check();
      return records;
    };
    const asked = peers
      .slice(0, limits.pointerPeers)
      .map((peer) => noted(peer.pointer(address, ask).then((record) => [record])));
    if (this.#nodes) asked.push(noted(this.#nodes.pointers(address, ask)));
    const answers = await Promise.allSettled(asked);
    clearTimeout(timer);
    signal.throwIfAborted();
    return answers.filter((answer) => answer.status === 'fulfilled').flatMap(({ value }) => value);
  }

  link(): LinkMeasure | undefined {
    const delays = this.#peers
      .map(({ health }) => health.leastFirstByteMs)
      .filter((delay) => delay !== undefined);
    const bytesPerSecond = this.#rate.bytesPerSecond(performance.now());
    if (delays.length === 0 || bytesPerSecond === 0) return undefined;
    return { bytesPerSecond, delayMs: Math.min(...delays) };
  }

  /** Connects sessions with the peers that will be asked most, and learns which peers look records up in a network. */
  warm(): void {
    this.#peersOfPeers?.discover();
    for (const { network } of this.#peers) void network.learn();
    const best = this.#peers.toSorted((a, b) => b.health.weight - a.health.weight);
    for (const peer of best.slice(0, limits.warmSessions)) peer.transports.connect();
  }

  /** Call this when the network is back: failures are forgotten. */
  wake(): void {
    for (const peer of this.#peers) peer.wake();
  }

  /** The connections to the network's nodes. Undefined if there are none, or if nodes are not used. */
  async nodesStatus(): Promise<NodesStatus | undefined> {
    return this.#nodes?.status();
  }

  /** The records that peers are looking up now. */
  lookups(): PendingLookup[] {
    return this.#peers.flatMap((peer) => peer.lookups());
  }

  /** Asks each peer for the state of its network. Waits only for a short time. */
  async networks(): Promise<NetworkOfPeer[]> {
    await Promise.all(this.#peers.map(({ network }) => network.learn(recentMs)));
    return this.#peers.map(({ id, network }) => ({ peer: id, network: network.known }));
  }

  /** Finds out which peers answer. Waits for each of them only for a short time. */
  async check(isForced: boolean): Promise<void> {
    await Promise.all(this.#peers.map((peer) => peer.check(isForced)));
  }

  describe(): PeerDescription[] {
    const tallies = this.#stats.snapshot().peers;
    return this.#peers.map((peer) => ({
      ...tallies.find((tally) => tally.url === peer.id),
      url: peer.id,
      kind: peer.url.kind,
      namedBy: peer.namedBy,
      state: peer.state,
      answers: peer.answers,
      network: peer.network.known ?? null,
    }));
  }

  close(): void {
    for (const { transports } of this.#peers) transports.close();
  }

  /** Healthy peers by their score, then, as a last resort, peers whose circuit is open. */
  #order(address: Address): { honest: Peer[]; banned: Peer[] } {
    const order = this.#peers
      .map((peer) => ({
        peer,
        isOpen: peer.health.circuit.state === 'open',
        score: rendezvousScore(address, peer.id, peer.health.weight),
      }))
      .sort((a, b) => Number(a.isOpen) - Number(b.isOpen) || b.score - a.score)
      .map(({ peer }) => peer);
    return {
      honest: order.filter(({ health }) => !health.isBanned),
      banned: order.filter(({ health }) => health.isBanned),
    };
  }

  /** Closes the least recently used sessions. */
  #limitSessions(): void {
    const open = this.#peers.filter(({ transports }) => transports.hasSession);
    if (open.length <= limits.sessions) return;
    open.sort((a, b) => a.lastUsed - b.lastUsed);
    for (const { transports } of open.slice(0, open.length - limits.sessions)) transports.close();
  }
}

/** The delay before the nodes of the network are asked too. They cost more than another peer. */
function withNodes({ health }: Peer): HedgedTry<unknown>['hedgeDelayMs'] {
  const { firstByte, rest } = health.hedgeDelayMs;
  return { firstByte: Math.max(firstByte, limits.nodeHedgeMs), rest: Math.max(rest, limits.stallMs) };
}
