import { Address, toHex } from '../../src/address.ts';
import { compareDistance } from '../../src/nodes/distance.ts';
import type { NodeAddress } from '../../src/nodes/node-address.ts';
import type { NodeClient, RequestOptions } from '../../src/nodes/node-client.ts';
import { nodeError } from '../../src/nodes/node-error.ts';
import { nodeLimits } from '../../src/nodes/node-limits.ts';
import { type NodeMemory, noMemory } from '../../src/nodes/node-memory.ts';
import { Nodes } from '../../src/nodes/nodes.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** How a simulated node behaves. */
export type Behaviour =
  | 'honest'
  /** Does not answer a packet. */
  | 'dead'
  /** Takes no browsers, so others name it without an address. */
  | 'browserless'
  /** Everything takes twenty times as long. */
  | 'slow'
  /** Takes connections, and does not answer for very long. */
  | 'silent'
  /** Sends wrong bytes for every address. */
  | 'forger'
  /** Names nodes that do not exist, close to the target, and has no records. */
  | 'inventor'
  /** Names only itself and other liars of its kind, and has no records. */
  | 'circle';

export interface NetworkOptions {
  nodes: number;
  seed: number;
  clock: VirtualClock;
  /** Shares of the nodes. The rest is honest. */
  shares?: Partial<Record<Behaviour, number>>;
}

interface SimulatedNode {
  address: NodeAddress;
  id: Uint8Array;
  behaviour: Behaviour;
  roundTripMs: number;
  table?: SimulatedNode[];
}

/** Round trips to a node, in milliseconds. */
const roundTrips = { least: 20, most: 200 };
/** Round trips of ICE, DTLS, SCTP, the channel and the handshake; and the time to compute, in milliseconds. */
const connecting = { roundTrips: 6, ms: 60 };
const slowFactor = 20;
const silentMs = 1_000_000;

/** A network with the routing tables of Kademlia, without cryptography: each node has 20 nodes of each bucket. */
export class SimulatedNetwork {
  readonly nodes: SimulatedNode[];
  readonly records = new Map<string, { bytes: Uint8Array<ArrayBuffer>; holders: Set<string> }>();
  readonly counts = { connects: 0, failedConnects: 0, findNode: 0, getChunk: 0, getPointer: 0 };
  readonly #byHost: ReadonlyMap<string, SimulatedNode>;
  readonly #clock: VirtualClock;
  readonly #random: () => number;

  constructor({ nodes, seed, clock, shares = {} }: NetworkOptions) {
    this.#clock = clock;
    this.#random = seededRandom(seed);
    this.nodes = Array.from({ length: nodes }, (_, i) => this.#node(i, this.#behaviour(shares)));
    this.#byHost = new Map(this.nodes.map((node) => [node.address.host, node]));
    this.nodes.sort((a, b) => (toHex(a.id) < toHex(b.id) ? -1 : 1));
  }

  /** Some nodes that are honest, as seeds are. */
  seeds(count: number): NodeAddress[] {
    return this.nodes
      .filter(({ behaviour }) => behaviour === 'honest')
      .slice(0, count)
      .map(({ address }) => address);
  }

  /** A record that the closest living nodes hold, as after repair. */
  store(bytes: Uint8Array<ArrayBuffer>, address = randomAddress(this.#random)): Address {
    const holders = this.#closest(
      this.nodes.filter(({ behaviour }) => behaviour !== 'dead'),
      address.bytes,
      nodeLimits.closeGroup,
    );
    this.records.set(address.hex, { bytes, holders: new Set(holders.map(({ address }) => address.peerId)) });
    return address;
  }

  randomAddress(): Address {
    return randomAddress(this.#random);
  }

  /** The living nodes closest to an address, closest first. */
  closeGroup(address: Address, behaviour?: Behaviour): SimulatedNode[] {
    const living = this.nodes.filter((node) => node.behaviour !== 'dead');
    const group = this.#closest(living, address.bytes, nodeLimits.closeGroup);
    return behaviour ? group.filter((node) => node.behaviour === behaviour) : group;
  }

  /** All nodes, those closest to an address first. */
  closestOfAll(address: Address): SimulatedNode[] {
    return this.#closest(this.nodes, address.bytes, this.nodes.length);
  }

  /** A client of the network. */
  client(seeds: readonly NodeAddress[], memory: NodeMemory = noMemory): Nodes {
    return new Nodes({
      seeds,
      memory,
      clock: this.#clock,
      connect: (node, signal) => this.#connect(node, signal),
    });
  }

  async #connect(address: NodeAddress, signal: AbortSignal): Promise<NodeClient> {
    this.counts.connects++;
    const node = this.#byHost.get(address.host);
    if (!node || node.behaviour === 'dead' || node.behaviour === 'browserless') {
      this.counts.failedConnects++;
      await this.#clock.delay(nodeLimits.connectMs, signal);
      throw nodeError('timeout', 'no answer');
    }
    const factor = node.behaviour === 'slow' ? slowFactor : 1;
    await this.#clock.delay(connecting.roundTrips * node.roundTripMs * factor + connecting.ms, signal);
    if (node.address.peerId !== address.peerId) throw nodeError('identity', 'another node');
    return this.#client(node, factor);
  }

  #client(node: SimulatedNode, factor: number): NodeClient {
    let pending = 0;
    let isClosed = false;
    const answer = async <T>({ signal, onBytes }: RequestOptions, make: () => T): Promise<T> => {
      pending++;
      try {
        if (isClosed) throw nodeError('unreachable', 'closed');
        await this.#clock.delay(node.behaviour === 'silent' ? silentMs : node.roundTripMs * factor, signal);
        onBytes?.(1);
        return make();
      } finally {
        pending--;
      }
    };
    const get = (address: Address): Uint8Array<ArrayBuffer> | undefined => {
      if (node.behaviour === 'forger') return new Uint8Array([6, 6, 6]);
      const record = this.records.get(address.hex);
      const isHonest = node.behaviour === 'honest' || node.behaviour === 'slow';
      return isHonest && record?.holders.has(node.address.peerId) ? record.bytes : undefined;
    };
    return {
      address: node.address,
      get isClosed() {
        return isClosed;
      },
      get isBusy() {
        return pending > 0;
      },
      get isAwaited() {
        return pending > 0;
      },
      abilities: async () => ({ hasPointers: true, hasBatches: false, payment: undefined }),
      quoteChunk: () => Promise.reject(nodeError('refused', 'It takes no payments.')),
      putChunk: () => Promise.reject(nodeError('refused', 'It takes no payments.')),
      quoteCandidate: () => Promise.reject(nodeError('refused', 'It takes no payments.')),
      putBatchedChunk: () => Promise.reject(nodeError('refused', 'It takes no payments.')),
      putPointer: () => Promise.reject(nodeError('refused', 'It takes no payments.')),
      findNode: (target, options, count = nodeLimits.bucket) => {
        this.counts.findNode++;
        return answer(options, () => {
          const named = this.#named(node, target).slice(0, count);
          const addresses = named.filter(({ host }) => this.#byHost.get(host)?.behaviour !== 'browserless');
          return { addresses, peerIds: new Set(named.map(({ peerId }) => peerId)) };
        });
      },
      getChunk: (address, options) => {
        this.counts.getChunk++;
        return answer(options, () => get(address));
      },
      getPointer: (address, options) => {
        this.counts.getPointer++;
        return answer(options, () => get(address));
      },
      close: () => {
        isClosed = true;
      },
    };
  }

  #named(node: SimulatedNode, target: Uint8Array): NodeAddress[] {
    if (node.behaviour === 'inventor') {
      return Array.from({ length: nodeLimits.bucket }, () => this.#invented(target));
    }
    if (node.behaviour === 'circle') {
      const circle = this.nodes.filter(({ behaviour }) => behaviour === 'circle');
      return this.#closest(circle, target, nodeLimits.bucket).map(({ address }) => address);
    }
    node.table ??= this.#table(node);
    return this.#closest([node, ...node.table], target, nodeLimits.bucket).map(({ address }) => address);
  }

  /** A name that is closer to the target than any real node, at an address where nothing is. */
  #invented(target: Uint8Array): NodeAddress {
    const id = new Uint8Array(target);
    for (let i = 28; i < 32; i++) id[i] = this.#random() * 256;
    return addressOf(id, `45.${Array.from({ length: 3 }, () => Math.floor(this.#random() * 256)).join('.')}`);
  }

  /** Twenty nodes of each bucket. The nodes are sorted, so a bucket is a range. */
  #table(node: SimulatedNode): SimulatedNode[] {
    const table: SimulatedNode[] = [];
    let range = this.nodes;
    for (let bit = 0; bit < 256 && range.length > 1; bit++) {
      const own = bitOf(node.id, bit);
      const bucket = range.filter(({ id }) => bitOf(id, bit) !== own);
      range = range.filter(({ id }) => bitOf(id, bit) === own);
      const start = Math.floor(this.#random() * bucket.length);
      const count = Math.min(bucket.length, nodeLimits.bucket);
      for (let i = 0; i < count; i++) table.push(bucket[(start + i) % bucket.length]!);
    }
    return table;
  }

  #closest(nodes: readonly SimulatedNode[], target: Uint8Array, count: number): SimulatedNode[] {
    return nodes.toSorted((a, b) => compareDistance(target, a.id, b.id)).slice(0, count);
  }

  #behaviour(shares: Partial<Record<Behaviour, number>>): Behaviour {
    let rest = this.#random();
    for (const [behaviour, share] of Object.entries(shares)) {
      rest -= share;
      if (rest < 0) return behaviour as Behaviour;
    }
    return 'honest';
  }

  #node(i: number, behaviour: Behaviour): SimulatedNode {
    const id = Uint8Array.from({ length: 32 }, () => this.#random() * 256);
    const roundTripMs = roundTrips.least + this.#random() * (roundTrips.most - roundTrips.least);
    const host = `5.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
    return { address: addressOf(id, host), id, behaviour, roundTripMs };
  }
}

function addressOf(id: Uint8Array, host: string): NodeAddress {
  return { peerId: toHex(id), host, port: 10_001, certificateHash: new Uint8Array(32) };
}

function randomAddress(random: () => number): Address {
  return Address.fromBytes(Uint8Array.from({ length: 32 }, () => random() * 256));
}

/** Numbers from 0 to 1, the same for each seed (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function bitOf(id: Uint8Array, bit: number): number {
  return (id[bit >> 3]! >> (7 - (bit & 7))) & 1;
}
