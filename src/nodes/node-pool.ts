import { LruCache } from '../util/lru-cache.ts';
import { SingleFlight } from '../util/single-flight.ts';
import { type Clock, withTimeout } from './clock.ts';
import { hostNetwork, isPublicHost } from './host.ts';
import type { NodeAddress } from './node-address.ts';
import type { NodeClient } from './node-client.ts';
import { isHostile, nodeError, problemOf } from './node-error.ts';
import { nodeLimits } from './node-limits.ts';
import { Semaphore } from './semaphore.ts';

/** Connects to a node and authenticates it. @throws AntwayError; the signal's reason when aborted. */
export type ConnectNode = (node: NodeAddress, signal: AbortSignal) => Promise<NodeClient>;

export interface PoolOptions {
  connect: ConnectNode;
  clock: Clock;
  /** Allows nodes in private networks, and any number of nodes at one host. Only for networks of one's own. */
  isLocal?: boolean;
  onAnswered(node: NodeAddress): void;
  onFailed(node: NodeAddress): void;
}

interface Failure {
  count: number;
  until: number;
}

/** Most failures that are remembered. */
const mostFailures = 5_000;
/** A socket at which so many names failed is excluded for a while. */
const falseNames = 3;

/** The connections to nodes: one for each node, a limited number in all and for each host. */
export class NodePool {
  readonly #options: PoolOptions;
  readonly #clients = new Map<string, { client: NodeClient; usedAt: number }>();
  readonly #connecting = new SingleFlight<NodeClient>();
  readonly #attempts = new Semaphore(nodeLimits.attemptsAtOnce);
  /** The attempts that are young. One to a dead node costs little while it waits, so it does not delay others for long. */
  readonly #young = new Semaphore(nodeLimits.connectsAtOnce);
  /** Connections that are open or being opened, by host. */
  readonly #hosts = new Map<string, number>();
  /**
   * By peer id and socket, and by socket alone. Anyone can name an honest node at a wrong socket, or a false node at an
   * honest socket. So a failure says something about this pair. A socket counts only after several failures.
   */
  readonly #failures = new Map<string, Failure>();
  /** The sockets at which nodes answered, with their peer ids. */
  readonly #answered = new LruCache<string>(mostFailures);

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** The number of open connections. */
  get connected(): number {
    return [...this.#clients.values()].filter(({ client }) => !client.isClosed).length;
  }

  isConnected({ peerId }: NodeAddress): boolean {
    return this.#open(peerId) !== undefined;
  }

  /** Whether a node may be dialled: its address is acceptable, and it did not fail lately. */
  isAllowed(node: NodeAddress): boolean {
    if (!this.#options.isLocal && !isPublicHost(node.host)) return false;
    if (this.#isLeftOut(pairOf(node), 1)) return false;
    return this.#answered.get(socketOf(node)) === node.peerId || !this.#isLeftOut(socketOf(node), falseNames);
  }

  /**
   * Returns the open connection to a node, or connects. Callers for the same node share one attempt.
   * @throws AntwayError `PEERS_UNREACHABLE`, `CORRUPT`; the signal's reason when aborted.
   */
  async client(node: NodeAddress, signal: AbortSignal): Promise<NodeClient> {
    const open = this.#open(node.peerId);
    if (open) {
      open.usedAt = this.#options.clock.now();
      return open.client;
    }
    if (!this.isAllowed(node))
      throw nodeError('unreachable', 'This node failed before, and is excluded for a while.');
    return this.#connecting.run(node.peerId, signal, (shared) => this.#connect(node, shared));
  }

  /** Call this when a node failed after it was connected. Closes a connection that nothing can use. */
  failed(node: NodeAddress, error: unknown): void {
    if (isHostile(error)) {
      this.#leaveOut(pairOf(node), nodeLimits.banMs);
      this.#close(node.peerId);
      this.#options.onFailed(node);
    } else if (problemOf(error) === 'timeout') this.#close(node.peerId);
  }

  /** Call this when the browser is online again: failures without a network say nothing about nodes. */
  wake(): void {
    const now = this.#options.clock.now();
    for (const [key, { until }] of this.#failures) {
      if (until - now <= nodeLimits.retryMs.first) this.#failures.delete(key);
    }
  }

  close(): void {
    for (const peerId of [...this.#clients.keys()]) this.#close(peerId);
  }

  #isLeftOut(key: string, failures: number): boolean {
    const failure = this.#failures.get(key);
    return failure !== undefined && failure.count >= failures && failure.until > this.#options.clock.now();
  }

  #open(peerId: string) {
    const entry = this.#clients.get(peerId);
    if (!entry) return undefined;
    const idleMs = this.#options.clock.now() - entry.usedAt;
    if (!entry.client.isClosed && (entry.client.isBusy || idleMs < nodeLimits.idleMs)) return entry;
    this.#close(peerId);
    return undefined;
  }

  #close(peerId: string): void {
    const entry = this.#clients.get(peerId);
    if (!entry) return;
    this.#clients.delete(peerId);
    this.#countHost(entry.client.address, -1);
    entry.client.close();
  }

  async #connect(node: NodeAddress, signal: AbortSignal): Promise<NodeClient> {
    const { connect, clock, isLocal } = this.#options;
    const leave = await this.#attempts.take(signal);
    const timer = new AbortController();
    let growOld: () => void = () => undefined;
    try {
      growOld = await this.#young.take(signal);
      clock.delay(nodeLimits.youngMs, timer.signal).then(growOld, () => undefined);
      await this.#untilRoom(signal);
      const host = hostNetwork(node.host);
      if (!isLocal && (this.#hosts.get(host) ?? 0) >= nodeLimits.connectionsPerHost) {
        throw nodeError('refused', `There are enough connections to ${host}.`);
      }
      this.#countHost(node, 1);
      try {
        const totalMs = nodeLimits.connectMs + nodeLimits.handshakeMs;
        const late = () => nodeError('timeout', `The node at ${node.host} does not answer.`);
        const client = await withTimeout(clock, totalMs, signal, late, (own) => connect(node, own));
        this.#clients.set(node.peerId, { client, usedAt: clock.now() });
        this.#makeRoom(client);
        void this.#greeted(node, client);
        return client;
      } catch (error) {
        this.#countHost(node, -1);
        if (!signal.aborted) this.#notConnected(node, error);
        throw error;
      }
    } finally {
      timer.abort();
      growOld();
      leave();
    }
  }

  /** A node counts as working once it has said what it can do. */
  async #greeted(node: NodeAddress, client: NodeClient): Promise<void> {
    const isOwn = () => this.#clients.get(node.peerId)?.client === client;
    try {
      await client.abilities(new AbortController().signal);
      if (!isOwn()) return;
      this.#failures.delete(pairOf(node));
      this.#failures.delete(socketOf(node));
      this.#answered.set(socketOf(node), node.peerId);
      this.#options.onAnswered(node);
    } catch (error) {
      if (isOwn()) this.#close(node.peerId);
      this.#notConnected(node, error);
    }
  }

  #notConnected(node: NodeAddress, error: unknown): void {
    const { first, most } = nodeLimits.retryMs;
    const count = (this.#failures.get(pairOf(node))?.count ?? 0) + 1;
    const forMs = isHostile(error) ? nodeLimits.banMs : Math.min(most, first * 2 ** (count - 1));
    this.#leaveOut(pairOf(node), forMs, count);
    const socket = this.#failures.get(socketOf(node));
    const isRecent = socket !== undefined && socket.until > this.#options.clock.now();
    this.#leaveOut(socketOf(node), first, isRecent ? socket.count + 1 : 1);
    this.#options.onFailed(node);
  }

  /** A further failure never shortens the time. */
  #leaveOut(key: string, forMs: number, count = 1): void {
    const until = Math.max(this.#failures.get(key)?.until ?? 0, this.#options.clock.now() + forMs);
    this.#failures.delete(key);
    this.#failures.set(key, { count, until });
    if (this.#failures.size > mostFailures) this.#failures.delete(this.#failures.keys().next().value!);
  }

  /** Forgets connections that ended. @returns how many are open. */
  #openCount(): number {
    for (const peerId of [...this.#clients.keys()]) this.#open(peerId);
    return this.#clients.size;
  }

  /**
   * Waits until there may be one more connection. If all are in use, one ends whose callers have left, for example because
   * enough other nodes have stored their chunk.
   * @throws AntwayError `PEERS_UNREACHABLE` if callers wait at all of them for long; the signal's reason when aborted.
   */
  async #untilRoom(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const until = clock.now() + nodeLimits.roomMs;
    while (this.#openCount() >= nodeLimits.mostConnections && !this.#oldest(isIdle)) {
      const abandoned = this.#oldest(({ isAwaited }) => !isAwaited);
      if (abandoned) this.#close(abandoned);
      else if (clock.now() < until) await clock.delay(nodeLimits.roomStepMs, signal);
      else throw nodeError('refused', 'All connections to nodes are in use.');
    }
  }

  /** Closes idle connections beyond the limit, but not the new one. An attempt to a dead node closes none. */
  #makeRoom(latest: NodeClient): void {
    while (this.#openCount() > nodeLimits.connections) {
      const oldest = this.#oldest((client) => isIdle(client) && client !== latest);
      if (!oldest) return;
      this.#close(oldest);
    }
  }

  /** The peer id of the matching connection that was not used for the longest time. */
  #oldest(matches: (client: NodeClient) => boolean): string | undefined {
    const found = [...this.#clients.entries()].filter(([, { client }]) => matches(client));
    return found.sort(([, a], [, b]) => a.usedAt - b.usedAt)[0]?.[0];
  }

  #countHost({ host }: NodeAddress, change: number): void {
    const network = hostNetwork(host);
    const count = (this.#hosts.get(network) ?? 0) + change;
    if (count > 0) this.#hosts.set(network, count);
    else this.#hosts.delete(network);
  }
}

const isIdle = ({ isBusy }: NodeClient) => !isBusy;
const pairOf = (node: NodeAddress) => `${node.peerId} ${socketOf(node)}`;
const socketOf = ({ host, port }: NodeAddress) => `${host} ${port}`;
