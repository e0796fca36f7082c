import { sha3_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import * as v from 'valibot';
import * as s from '../schema.ts';
import { bytesOf, littleEndian } from './bytes.ts';
import { paymentError } from './errors.ts';
import { type Branch, MerkleTree } from './merkle-tree.ts';
import {
  bindingBytes,
  checkCommitment,
  checkNodePrice,
  type NodePrice,
  nodePriceSchema,
  paymentFactor,
} from './node-price.ts';

/** A chunk of a batch. */
export interface BatchedChunk {
  /** 64 hex digits. */
  address: string;
  /** In bytes. */
  size: number;
}

/**
 * Many chunks that one transaction pays for: a Merkle tree of their addresses, and the nodes that may be paid, after all
 * checks. Its JSON can be stored.
 */
export interface Batch {
  /** The root of the tree: 64 hex digits. */
  root: string;
  /** When it is paid, in seconds since 1970. Nodes accept the payment for seven days. */
  timestamp: number;
  /** The salts of the tree are derived from it. */
  seed: string;
  chunks: readonly BatchedChunk[];
  /** Of each midpoint of the tree, the nodes with their prices. */
  pools: readonly (readonly NodePrice[])[];
}

/** A batch before the nodes are known. */
export interface BatchRequest extends Omit<Batch, 'pools'> {
  /** The addresses whose closest nodes make the pools. */
  poolAddresses: readonly string[];
}

/** The proof that a chunk is in a batch that was paid for, as relays read it. `encodeBatchProof` makes what nodes read. */
export interface BatchProof {
  address: string;
  size: number;
  timestamp: number;
  root: string;
  leaf: Branch & { salt: string };
  pool: Branch & { midpoint: string; nodes: readonly NodePrice[] };
}

/** The amounts of one pool, as the vault reads them. */
export interface PoolPayment {
  hash: Uint8Array;
  nodes: readonly { rewardsAddress: string; amount: bigint }[];
  /** The amount that the vault takes if it chooses this pool, in atto. */
  charge: bigint;
}

/** The nodes of a pool. */
export const poolNodes = 16;
/** Of 16 amounts in ascending order, the vault takes this one. */
const middleNode = 8;
/** Nodes accept a pool if so many of its nodes are close to its address. */
export const closePoolNodes = 9;
/** Views of nodes differ, so more nodes than that have to be named by both relays. */
const minCommonNodes = 12;
/** Nodes refuse payments of the future, and clocks differ. `checkDue` wants that the chain has reached this time. */
const clockMarginSeconds = 60;

const poolSchema = v.pipe(
  s.list(nodePriceSchema, poolNodes),
  v.length(poolNodes, `it must have ${poolNodes} nodes`),
);

/** Makes the tree of some chunks, with random salts. */
export function requestBatch(chunks: readonly BatchedChunk[], nowMs = Date.now()): BatchRequest {
  const seed = bytesToHex(randomBytes(32));
  const timestamp = Math.floor(nowMs / 1000) - clockMarginSeconds;
  const tree = new MerkleTree(
    chunks.map(({ address }) => address),
    seed,
  );
  const poolAddresses = Array.from({ length: tree.pools }, (_, pool) => tree.poolAddress(pool, timestamp));
  return { root: tree.root, timestamp, seed, chunks, poolAddresses };
}

/**
 * Checks the nodes of a pool that a relay names: their keys, signatures, times and commitments, and the network's price
 * rule. They do not sign the address of the pool, so only other relays can tell that they are close to it.
 * @throws Error that says what is wrong.
 */
export function checkPool(value: unknown, timestamp: number): NodePrice[] {
  const nodes = s.parse(poolSchema, value, 'CORRUPT');
  checkNodes(nodes, timestamp);
  for (const node of nodes) checkCommitment(node);
  return nodes;
}

function checkNodes(nodes: readonly NodePrice[], timestamp: number): void {
  if (new Set(nodes.map(({ peer }) => peer)).size < nodes.length) throw new Error('A node is in it twice.');
  for (const node of nodes) checkCandidate(node, timestamp);
}

/** Checks one node of a pool, but not its commitment. @throws Error that says what is wrong. */
export function checkCandidate(node: NodePrice, timestamp: number): void {
  if (node.timestamp !== timestamp) throw new Error('A node signed another time.');
  checkNodePrice(node, signedPoolBytes(node));
}

/** The bytes that a node signs: `MerklePaymentCandidateNode::bytes_to_sign` of the network's crate `evmlib`. */
export function signedPoolBytes(
  node: Omit<NodePrice, 'peer' | 'publicKey' | 'signature' | 'commitment'>,
): Uint8Array {
  return concatBytes(...termsOf(node), bindingBytes(node));
}

function termsOf({
  price,
  rewardsAddress,
  timestamp,
}: Pick<NodePrice, 'price' | 'rewardsAddress' | 'timestamp'>): Uint8Array[] {
  return [littleEndian(BigInt(price), 32), hexToBytes(rewardsAddress.slice(2)), littleEndian(timestamp, 8)];
}

/** How many of the nodes that one relay names another one names, too. */
export function commonNodes(one: readonly NodePrice[], other: readonly NodePrice[]): number {
  const nodes = new Set(other.map(({ peer }) => peer));
  return one.filter(({ peer }) => nodes.has(peer)).length;
}

/**
 * Compares the nodes that two relays name, so that none of them can invent the pool. A few may differ: views of honest
 * relays do, and a pool cannot be paid without all of its nodes.
 * @returns `different` if one of them may be dishonest, `similar` if nodes may refuse the pool.
 */
export function comparePools(
  one: readonly NodePrice[],
  other: readonly NodePrice[],
): 'same' | 'similar' | 'different' {
  const common = commonNodes(one, other);
  if (common >= minCommonNodes) return 'same';
  // Otherwise one of the relays may be dishonest.
  return common >= closePoolNodes ? 'similar' : 'different';
}

/** @param pools after their checks, in the order of the request. */
export function batchOf(
  { poolAddresses: _, ...request }: BatchRequest,
  pools: readonly (readonly NodePrice[])[],
): Batch {
  // Nodes ask each other for the commitments. With them, a proof would be too long.
  return { ...request, pools: pools.map((nodes) => nodes.map((node) => ({ ...node, commitment: null }))) };
}

/**
 * Checks a batch that this program has stored.
 * @throws AntwayError `QUOTE`.
 */
export function checkStoredBatch(batch: Batch): Batch {
  try {
    const tree = treeOf(batch);
    if (tree.root !== batch.root) throw new Error('It has another root.');
    if (batch.pools.length !== tree.pools) throw new Error('It has another number of pools.');
    for (const nodes of batch.pools) checkNodes(s.parse(poolSchema, nodes, 'CORRUPT'), batch.timestamp);
    return batch;
  } catch (error) {
    const message = `A stored batch is not valid: ${(error as Error).message}`;
    throw paymentError('QUOTE', message, { root: batch.root }, error);
  }
}

/**
 * The amounts of all pools. The vault chooses one of them, and takes for each leaf the amount in its middle. Each node
 * gets at least three times its price. No pool costs half of the dearest one or less: so a permission for the dearest one
 * never suffices for two payments.
 */
export function poolPayments(batch: Batch): PoolPayment[] {
  const tree = treeOf(batch);
  const honest = batch.pools.map((nodes) => nodes.map(({ price }) => paymentFactor * BigInt(price)));
  const least = max(honest.map(middleOf)) / 2n + 1n;
  return batch.pools.map((nodes, pool) => {
    const amounts = honest[pool]!.map((amount) => max([amount, least]));
    return {
      hash: poolHash(tree, pool, batch),
      nodes: nodes.map(({ rewardsAddress }, i) => ({ rewardsAddress, amount: amounts[i]! })),
      charge: chargeOf(middleOf(amounts), tree.depth),
    };
  });
}

/** The most that the vault takes, in atto. */
export function mostOf(batch: Batch): bigint {
  return max(poolPayments(batch).map(({ charge }) => charge));
}

/** The vault pays as many nodes as the tree is deep, the same amount each. */
function chargeOf(perLeaf: bigint, depth: number): bigint {
  const total = perLeaf << BigInt(depth);
  return total - (total % BigInt(depth));
}

function middleOf(amounts: readonly bigint[]): bigint {
  return ascending(amounts)[middleNode]!;
}

const max = (amounts: readonly bigint[]) => ascending(amounts).at(-1)!;

const ascending = (amounts: readonly bigint[]) => amounts.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));

/** The depth of its tree, as the vault counts it. */
export const depthOf = (batch: Batch) => treeOf(batch).depth;

/** @param pool the one that the vault has chosen. @returns undefined for a chunk of another batch. */
export function proofOf(batch: Batch, pool: number, address: string): BatchProof | undefined {
  const index = batch.chunks.findIndex((chunk) => chunk.address === address);
  if (index < 0) return undefined;
  const tree = treeOf(batch);
  const { root, timestamp } = batch;
  return {
    address,
    size: batch.chunks[index]!.size,
    timestamp,
    root,
    leaf: { ...tree.leafBranch(index), salt: tree.salt(index) },
    pool: { ...tree.poolBranch(pool), midpoint: tree.midpoint(pool), nodes: batch.pools[pool]! },
  };
}

/** `MerklePaymentCandidatePool::hash` of the network's crate `evmlib`: the vault knows the payment by it. */
function poolHash(tree: MerkleTree, pool: number, { pools, timestamp }: Batch): Uint8Array {
  const nodes = pools[pool]!;
  const parts = nodes.flatMap((node) => [
    bytesOf(node.publicKey),
    ...termsOf(node),
    bindingBytes(node),
    bytesOf(node.signature),
  ]);
  const branch = tree.poolBranchHash(pool, timestamp);
  return sha3_256(concatBytes(branch, littleEndian(nodes.length, 4), ...parts));
}

const trees = new WeakMap<Batch, MerkleTree>();

function treeOf(batch: Batch): MerkleTree {
  let tree = trees.get(batch);
  if (!tree) {
    tree = new MerkleTree(
      batch.chunks.map(({ address }) => address),
      batch.seed,
    );
    trees.set(batch, tree);
  }
  return tree;
}
