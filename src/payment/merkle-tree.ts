import { sha3_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { littleEndian } from './bytes.ts';

/** The way from a leaf or a midpoint to the root. Hashes are 64 hex digits. */
export interface Branch {
  index: number;
  /** The neighbours on the way, from the bottom up. */
  siblings: string[];
}

/** A tree that nodes accept has no more leaves. */
export const maxLeaves = 256;
const minLeaves = 2;

/**
 * A Merkle tree of the addresses of chunks, with the hashes of the network's crate `evmlib` 0.10: SHA3-256 over an address and
 * a random salt for a leaf, and over both children for any other node. Random leaves fill the tree up to a power of two.
 * The root is the hash of the node at the top.
 */
export class MerkleTree {
  /** From the leaves to the node at the top. */
  readonly #rows: Uint8Array[][];
  readonly #seed: Uint8Array;
  readonly #root: Uint8Array;

  /**
   * @param addresses 64 hex digits each.
   * @param seed 32 random bytes in hex digits. The salts are derived from it, so the same seed makes the same tree.
   * @throws RangeError for a number of addresses that no tree has.
   */
  constructor(addresses: readonly string[], seed: string) {
    if (addresses.length < minLeaves || addresses.length > maxLeaves)
      throw new RangeError(`A tree has ${minLeaves} to ${maxLeaves} leaves.`);
    this.#seed = hexToBytes(seed);
    const leaves = Array.from({ length: paddedLeaves(addresses.length) }, (_, i) => {
      const address = addresses[i];
      const salt = this.#salt(i);
      return address === undefined ? salt : sha3_256(concatBytes(hexToBytes(address), salt));
    });
    this.#rows = [leaves];
    for (let row = leaves; row.length > 1; this.#rows.push(row)) row = parents(row);
    this.#root = sha3_256(this.#rows.at(-1)![0]!);
  }

  /** The number of steps from a leaf to the node at the top. */
  get depth(): number {
    return this.#rows.length - 1;
  }

  get root(): string {
    return bytesToHex(this.#root);
  }

  /** How many midpoints there are. Each of them has a pool of nodes. */
  get pools(): number {
    return this.#midpoints.length;
  }

  /** The random bytes of a leaf. */
  salt(leaf: number): string {
    return bytesToHex(this.#salt(leaf));
  }

  midpoint(pool: number): string {
    return bytesToHex(this.#midpoints[pool]!);
  }

  leafBranch(leaf: number): Branch {
    return this.#branch(0, leaf);
  }

  poolBranch(pool: number): Branch {
    return this.#branch(this.#midpointRow, pool);
  }

  /** The address whose closest nodes make a pool. @param timestamp when it is paid, in seconds since 1970. */
  poolAddress(pool: number, timestamp: number): string {
    return poolAddress(this.midpoint(pool), this.root, timestamp);
  }

  /** The hash of the way from a midpoint to the root, which is a part of the pool's hash. */
  poolBranchHash(pool: number, timestamp: number): Uint8Array {
    const { siblings } = this.poolBranch(pool);
    return sha3_256(
      concatBytes(
        ...siblings.map(hexToBytes),
        littleEndian(pool, 8),
        littleEndian(this.pools, 8),
        this.#midpoints[pool]!,
        this.#root,
        // A midpoint has no salt.
        Uint8Array.of(0),
        littleEndian(timestamp, 8),
      ),
    );
  }

  /** Counted from the leaves, so that trees of odd depth have more midpoints, as the vault wants. */
  get #midpointRow(): number {
    return Math.floor(this.depth / 2);
  }

  get #midpoints(): readonly Uint8Array[] {
    return this.#rows[this.#midpointRow]!;
  }

  #salt(leaf: number): Uint8Array {
    return sha3_256(concatBytes(this.#seed, littleEndian(leaf, 8)));
  }

  #branch(row: number, index: number): Branch {
    const rows = this.#rows.slice(row, -1);
    return { index, siblings: rows.map((hashes, up) => bytesToHex(hashes[(index >> up) ^ 1]!)) };
  }
}

/**
 * The address whose closest nodes make the pool of a midpoint.
 * @param midpoint and `root`: 64 hex digits. @param timestamp in seconds since 1970.
 */
export function poolAddress(midpoint: string, root: string, timestamp: number): string {
  return bytesToHex(
    sha3_256(concatBytes(hexToBytes(midpoint), hexToBytes(root), littleEndian(timestamp, 8))),
  );
}

/** The number of leaves of a tree, with the random ones. */
export function paddedLeaves(addresses: number): number {
  return 2 ** Math.ceil(Math.log2(addresses));
}

/** How many pools the tree of so many addresses has: 2 to the power of half of its depth, rounded up. */
export function poolCount(addresses: number): number {
  return 2 ** Math.ceil(Math.log2(paddedLeaves(addresses)) / 2);
}

function parents(row: readonly Uint8Array[]): Uint8Array[] {
  return Array.from({ length: row.length / 2 }, (_, i) =>
    sha3_256(concatBytes(row[2 * i]!, row[2 * i + 1]!)),
  );
}
