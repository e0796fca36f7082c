import { compareDistance } from './distance.ts';
import { isSameNode, type NodeAddress, peerIdBytes } from './node-address.ts';
import { nodeLimits } from './node-limits.ts';

/** A node that the table knows. */
export interface KnownNode {
  readonly address: NodeAddress;
  readonly id: Uint8Array;
  /** When it last answered the hello of a connection: milliseconds of the clock. Undefined if only other nodes have named it. */
  answeredAt: number | undefined;
}

/**
 * The nodes that are known, in a bucket for each first byte of their ids. Strangers name most of them, so a node that
 * has answered gives its place to no named one, and no stranger fills more than the free places of a bucket.
 */
export class RoutingTable {
  readonly #buckets = new Map<number, KnownNode[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(peerId: string): KnownNode | undefined {
    return this.#bucket(Number.parseInt(peerId.slice(0, 2), 16)).find(
      ({ address }) => address.peerId === peerId,
    );
  }

  /** Adds a node that another one named. A known node keeps its address until `remove`. */
  named(address: NodeAddress): void {
    if (!this.get(address.peerId)) this.#add({ address, id: peerIdBytes(address), answeredAt: undefined });
  }

  /** Call this when an authenticated node has answered the hello at an address. */
  answered(address: NodeAddress, now: number): void {
    const known = this.get(address.peerId);
    const next = { address, id: peerIdBytes(address), answeredAt: now };
    if (known) this.#replace(known, next);
    else this.#add(next);
  }

  /** Call this when a node did not answer at an address. */
  remove(address: NodeAddress): void {
    const bucket = this.#bucket(Number.parseInt(address.peerId.slice(0, 2), 16));
    const at = bucket.findIndex((known) => isSameNode(known.address, address));
    if (at < 0) return;
    bucket.splice(at, 1);
    this.#size--;
  }

  /** The known nodes closest to a target, closest first. */
  closest(target: Uint8Array, count: number): NodeAddress[] {
    return [...this.#buckets.values()]
      .flat()
      .sort((a, b) => compareDistance(target, a.id, b.id))
      .slice(0, count)
      .map(({ address }) => address);
  }

  /** The nodes that answered, those that answered last first. */
  recent(count: number): NodeAddress[] {
    return [...this.#buckets.values()]
      .flat()
      .filter(({ answeredAt }) => answeredAt !== undefined)
      .sort((a, b) => b.answeredAt! - a.answeredAt!)
      .slice(0, count)
      .map(({ address }) => address);
  }

  #bucket(byte: number): KnownNode[] {
    return this.#buckets.get(byte) ?? [];
  }

  #add(node: KnownNode): void {
    const byte = node.id[0]!;
    const bucket = this.#bucket(byte);
    if (bucket.length >= nodeLimits.bucket) {
      const named = bucket.findIndex(({ answeredAt }) => answeredAt === undefined);
      if (node.answeredAt === undefined) return;
      bucket.splice(Math.max(named, 0), 1);
      this.#size--;
    }
    bucket.push(node);
    this.#buckets.set(byte, bucket);
    this.#size++;
  }

  #replace(known: KnownNode, next: KnownNode): void {
    const bucket = this.#bucket(known.id[0]!);
    // The end of the bucket has the nodes that answered last, so `#add` removes the oldest.
    bucket.splice(bucket.indexOf(known), 1);
    bucket.push(next);
  }
}
