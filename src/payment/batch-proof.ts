import { concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import type { BatchProof } from './batch.ts';
import { bytesOf } from './bytes.ts';
import type { Branch } from './merkle-tree.ts';
import { packArray, packBytes, packedNull, packNumber, packNumbers } from './message-pack.ts';
import type { NodePrice } from './node-price.ts';
import { packPin, packPrice } from './node-quote.ts';

const batchProof = Uint8Array.of(2);

/**
 * The proof that a chunk is in a batch that was paid for, as nodes read it: `MerklePaymentProof` of the network's crate
 * `evmlib`, without the commitments of the nodes. It has some 130 kB.
 */
export function encodeBatchProof({ address, timestamp, root, leaf, pool }: BatchProof): Uint8Array {
  const midpoint = packArray(packBranch(pool, pool.midpoint, root), packNumber(timestamp));
  const winner = packArray(midpoint, packArray(...pool.nodes.map(packNode)));
  const noCommitments = packArray();
  return concatBytes(
    batchProof,
    packArray(packHash(address), packBranch(leaf, address, root, leaf.salt), winner, noCommitments),
  );
}

/** `MerkleBranch` of the network's crate `evmlib`. @param start at the bottom. */
function packBranch({ index, siblings }: Branch, start: string, root: string, salt?: string): Uint8Array {
  return packArray(
    packArray(...siblings.map(packHash)),
    packNumber(index),
    packNumber(2 ** siblings.length),
    packHash(start),
    packHash(root),
    salt === undefined ? packedNull : packHash(salt),
  );
}

/** `MerklePaymentCandidateNode` of the network's crate `evmlib`. */
function packNode(node: NodePrice): Uint8Array {
  return packArray(
    packNumbers(bytesOf(node.publicKey)),
    packPrice(node),
    packBytes(hexToBytes(node.rewardsAddress.slice(2))),
    packNumber(node.timestamp),
    packNumbers(bytesOf(node.signature)),
    packNumber(node.committedKeyCount),
    packPin(node),
  );
}

const packHash = (hex: string) => packNumbers(hexToBytes(hex));
