import type { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { raceAbort } from '../util/watchdog.ts';
import type { Clock } from './clock.ts';
import { type LookupOptions, lookup } from './lookup.ts';
import type { NodeAddress } from './node-address.ts';
import type { NodeClient } from './node-client.ts';
import { nodeError } from './node-error.ts';
import { nodeLimits } from './node-limits.ts';
import type { NodeMemory } from './node-memory.ts';
import { type ConnectNode, NodePool } from './node-pool.ts';
import { HedgeState, RecordGate } from './record-gate.ts';
import { RoutingTable } from './routing-table.ts';

export interface NodesOptions {
  seeds: readonly NodeAddress[];
  connect: ConnectNode;
  memory: NodeMemory;
  clock: Clock;
  /** Allows nodes in private networks, and any number of nodes at one host. Only for networks of one's own. */
  isLocal?: boolean;
}

export interface RecordReadOptions<T> {
  signal?: AbortSignal;
  onFirstByte?(): void;
  /** Checks the bytes of a stranger, and may keep them. It throws if they are not those of the address. */
  verify(bytes: Uint8Array<ArrayBuffer>): T | Promise<T>;
}

/** A node close to an address. */
export interface CloseNode {
  node: NodeAddress;
  /** The peer ids of the nodes that it knows as the closest ones, also of those that take no browsers. */
  known: ReadonlySet<string>;
}

export interface NodesStatus {
  /** Open connections. */
  connected: number;
  /** Nodes that are known, with those that never answered. */
  known: number;
  /** Lookups in progress. */
  lookups: number;
}

/** Reads records from the nodes of a network, without a peer. */
export class Nodes {
  readonly #options: NodesOptions;
  readonly #table = new RoutingTable();
  readonly #pool: NodePool;
  readonly #closed = new AbortController();
  readonly #hedgeState = new HedgeState();
  #start: Promise<void> | undefined;
  #hasLookedUp = false;
  #lookups = 0;
  #isSaving = false;

  constructor(options: NodesOptions) {
    this.#options = options;
    const { connect, clock, isLocal = false } = options;
    this.#pool = new NodePool({
      connect,
      clock,
      isLocal,
      onAnswered: (node) => {
        this.#table.answered(node, clock.now());
        this.#saveLater();
      },
      onFailed: (node) => this.#table.remove(node),
    });
  }

  get status(): NodesStatus {
    return { connected: this.#pool.connected, known: this.#table.size, lookups: this.#lookups };
  }

  /**
   * Reads a chunk. The first answer that verifies counts.
   * @throws AntwayError `NOT_FOUND` if the lookup is finished and a majority of the close group does not have it;
   *   `PEERS_UNREACHABLE` if too few nodes answered; the signal's reason when aborted.
   */
  async chunk<T>(address: Address, options: RecordReadOptions<T>): Promise<T> {
    const { signal, verify, onFirstByte } = options;
    const found = new AbortController();
    const gate = new RecordGate(this.#options.clock, this.#hedgeState);
    const denials = new Set<string>();
    let value: { value: T } | undefined;
    let hasBegun = false;

    /** @returns whether the record was read. */
    const get = (client: NodeClient, own: AbortSignal): Promise<boolean> =>
      // The turn lasts until the record is verified: the next node would send a record that is not needed any more.
      gate.run(own, async (arrived) => {
        const onBytes = (count: number) => {
          if (!hasBegun) onFirstByte?.();
          hasBegun = true;
          arrived(count);
        };
        const bytes = await client.getChunk(address, { signal: own, onBytes });
        if (!bytes) {
          denials.add(client.address.peerId);
          return false;
        }
        let verified: T;
        try {
          verified = await verify(bytes);
        } catch (cause) {
          throw nodeError('wrong-bytes', 'A node sent bytes of another address.', cause);
        }
        value ??= { value: verified };
        found.abort();
        return true;
      });

    const group = await this.#lookup(address.bytes, signal, found.signal, async (node, isClose, own) => {
      const client = await this.#pool.client(node, own);
      const before = isClose();
      if (before && (await get(client, own))) return [];
      const named = await this.#namesOf(client, address.bytes, own);
      this.#named(named);
      if (!before && isClose(named)) await get(client, own);
      return named;
    });
    if (value) return value.value;
    const votes = group.filter(({ peerId }) => denials.has(peerId)).length;
    // A node that was not close when it was asked may be close now.
    const unasked = group.filter(({ peerId }) => !denials.has(peerId));
    if (votes < group.length) {
      await this.#askRest(unasked, signal, found.signal, get);
      const late = value as { value: T } | undefined;
      if (late) return late.value;
    }
    throw this.#absent(address, group.filter(({ peerId }) => denials.has(peerId)).length);
  }

  /**
   * Reads the pointer records that the close group holds. Nodes can hold different states; the caller selects one.
   * @returns the verified records, one for each node that has one.
   * @throws as `chunk`. `NOT_FOUND` if a majority of the close group has none.
   */
  async pointers<T>(address: Address, options: RecordReadOptions<T>): Promise<T[]> {
    const { records, denials } = await this.pointerVotes(address, options);
    if (records.length + denials < nodeLimits.majority || records.length === 0) {
      throw this.#absent(address, records.length > 0 ? 0 : denials);
    }
    return records;
  }

  /**
   * Asks the close group for the records of a pointer.
   * @returns the verified records, one for each node that has one, and how many nodes have none. The others are silent.
   * @throws the signal's reason when aborted.
   */
  async pointerVotes<T>(
    address: Address,
    { signal, verify }: RecordReadOptions<T>,
  ): Promise<{ records: T[]; denials: number }> {
    const never = new AbortController().signal;
    const ask = async (node: NodeAddress, own: AbortSignal) => {
      const client = await this.#pool.client(node, own);
      const { addresses: named } = await client.findNode(address.bytes, { signal: own });
      this.#named(named);
      return named;
    };
    const { lateMs } = nodeLimits;
    const group = await this.#lookup(address.bytes, signal, never, (node, _, own) => ask(node, own), {
      lateMs,
    });
    const records: T[] = [];
    let denials = 0;
    await this.#askRest(group, signal, never, async (client, own) => {
      if (!(await client.abilities(own)).hasPointers) return;
      const record = await client.getPointer(address, { signal: own });
      if (!record) denials++;
      else records.push(await verify(record));
    });
    return { records, denials };
  }

  /**
   * Finds the nodes closest to an address that answer.
   * @param count at least the close group.
   * @param width how many of them are certainly the closest ones of all that answer, at most a bucket.
   * @returns at most `count` nodes, closest first. @throws the signal's reason when aborted.
   */
  async closest(
    address: Address,
    count: number,
    signal: AbortSignal,
    width: number = nodeLimits.closeGroup,
  ): Promise<CloseNode[]> {
    const never = new AbortController().signal;
    const known = new Map<string, ReadonlySet<string>>();
    const ask = async (node: NodeAddress, own: AbortSignal) => {
      const client = await this.#pool.client(node, own);
      const { addresses: named, peerIds } = await client.findNode(address.bytes, { signal: own });
      known.set(node.peerId, peerIds);
      this.#named(named);
      return named;
    };
    const options = { count, width, lateMs: nodeLimits.lateMs };
    const nodes = await this.#lookup(address.bytes, signal, never, (node, _, own) => ask(node, own), options);
    return nodes.map((node) => ({ node, known: known.get(node.peerId)! }));
  }

  /**
   * Works with one node. If the work throws that the node is hostile, the node is left out for an hour.
   * @throws the error of `work`; AntwayError `PEERS_UNREACHABLE` without a connection; the signal's reason when aborted.
   */
  use<T>(
    node: NodeAddress,
    signal: AbortSignal,
    work: (client: NodeClient, own: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const own = AbortSignal.any([this.#closed.signal, signal]);
    return this.#watched(node, own, async () => work(await this.#pool.client(node, own), own));
  }

  /** Call this when the browser is online again. */
  wake(): void {
    this.#pool.wake();
  }

  /** Ends all connections and reads. */
  close(): void {
    this.#closed.abort(nodeError('unreachable', 'The connections to nodes were closed.'));
    this.#pool.close();
  }

  /** @param ask is called with a signal that aborts when the caller aborts or `done` does. */
  async #lookup(
    target: Uint8Array,
    signal: AbortSignal | undefined,
    done: AbortSignal,
    ask: (
      node: NodeAddress,
      isClose: (named?: readonly NodeAddress[]) => boolean,
      own: AbortSignal,
    ) => Promise<readonly NodeAddress[]>,
    extent: Pick<LookupOptions, 'count' | 'width' | 'lateMs'> = {},
  ): Promise<NodeAddress[]> {
    this.#start ??= this.#load();
    await raceAbort(this.#start, this.#closed.signal);
    signal?.throwIfAborted();
    const own = AbortSignal.any([this.#closed.signal, done, ...(signal ? [signal] : [])]);
    const start = [...this.#table.closest(target, nodeLimits.bucket), ...this.#options.seeds];
    this.#lookups++;
    try {
      return await lookup(target, {
        start,
        clock: this.#options.clock,
        isAllowed: (node) => this.#pool.isAllowed(node),
        ask: (node, isClose) => this.#watched(node, own, () => ask(node, isClose, own)),
        signal: own,
        ...extent,
      });
    } catch (error) {
      if (done.aborted && !signal?.aborted) return [];
      throw error;
    } finally {
      this.#lookups--;
      this.#hasLookedUp = true;
    }
  }

  /** Asks a node for names: for few while only a few are known, because those come in one round trip. */
  async #namesOf(client: NodeClient, target: Uint8Array, signal: AbortSignal): Promise<NodeAddress[]> {
    const isFirst = !this.#hasLookedUp && this.#table.size < nodeLimits.bucket;
    if (isFirst) {
      const { addresses, peerIds } = await client.findNode(target, { signal }, nodeLimits.firstNames);
      // The others take no browsers.
      if (addresses.length === peerIds.size) return addresses;
    }
    return (await client.findNode(target, { signal })).addresses;
  }

  async #askRest(
    nodes: readonly NodeAddress[],
    signal: AbortSignal | undefined,
    done: AbortSignal,
    ask: (client: NodeClient, own: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    const own = AbortSignal.any([this.#closed.signal, done, ...(signal ? [signal] : [])]);
    await Promise.allSettled(
      nodes.map((node) => this.#watched(node, own, async () => ask(await this.#pool.client(node, own), own))),
    );
    this.#closed.signal.throwIfAborted();
    signal?.throwIfAborted();
  }

  /** Reports a failure of a node to the pool. */
  async #watched<T>(node: NodeAddress, own: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!own.aborted) this.#pool.failed(node, error);
      throw error;
    }
  }

  #named(nodes: readonly NodeAddress[]): void {
    for (const node of nodes) if (this.#pool.isAllowed(node)) this.#table.named(node);
  }

  #absent(address: Address, denials: number): AntwayError {
    if (denials >= nodeLimits.majority) {
      return new AntwayError('NOT_FOUND', 'The network has no record of this address.', {
        address: address.hex,
      });
    }
    const details = { address: address.hex, problem: 'unreachable' };
    return new AntwayError('PEERS_UNREACHABLE', 'Too few nodes of the network answered.', details);
  }

  async #load(): Promise<void> {
    for (const node of await this.#options.memory.load()) this.#table.named(node);
  }

  /** Writes the nodes that answered, at most once in a while. */
  #saveLater(): void {
    if (this.#isSaving) return;
    this.#isSaving = true;
    this.#options.clock
      .delay(nodeLimits.rememberMs, this.#closed.signal)
      .then(() => this.#options.memory.save(this.#table.recent(nodeLimits.remembered)))
      // The memory only makes the next start faster.
      .catch(() => undefined)
      .finally(() => {
        this.#isSaving = false;
      });
  }
}
