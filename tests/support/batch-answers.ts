import { encode } from '@msgpack/msgpack';
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { type Batch, depthOf, poolPayments, signedPoolBytes } from '../../src/payment/batch.ts';
import { type NodePrice, priceOf } from '../../src/payment/node-price.ts';
import { encodeCommitment } from '../../src/payment/node-quote.ts';
import type { NodeIdentity } from './node-server.ts';
import { type ReadBatchProof, readBatchProof } from './read-batch-proof.ts';
import { commit, noCommitment, signOnce } from './relay-double.ts';

/** Positions of the messages in the network's `ChunkMessageBody`. */
export const batchMessages = { put: 0, putAnswer: 1, candidateAnswer: 7, candidate: 9 };
/** Nodes accept a pool if so many of its nodes are among the 32 that are closest to its address. */
const pools = { close: 9, searched: 32 };

/** A batch that the chain knows as paid, and the pool that it chose. */
export interface PaidBatch {
  batch: Batch;
  pool: number;
}

/** The honest price of a node for a pool. */
export function candidateOf(
  { publicKey, secretKey }: NodeIdentity,
  timestamp: number,
  committed: number,
): NodePrice {
  const peer = bytesToHex(blake3(publicKey));
  const binding = committed === 0 ? noCommitment : commit(committed, peer, publicKey, secretKey);
  const terms = {
    timestamp,
    price: `${priceOf(committed)}`,
    rewardsAddress: `0x${'07'.repeat(20)}`,
    ...binding,
  };
  const signature = signOnce(signedPoolBytes(terms), secretKey);
  return {
    peer,
    ...terms,
    publicKey: Buffer.from(publicKey).toString('base64'),
    signature: Buffer.from(signature).toString('base64'),
  };
}

/** The time in a request for a price: after the address, the kind and the size in four bytes. */
export function timeIn(request: Uint8Array): number {
  const start = 32 + 1 + 4;
  let time = 0;
  for (let at = start, factor = 1; ; at++, factor *= 128) {
    time += (request[at]! & 0x7f) * factor;
    if (request[at]! < 0x80) return time;
  }
}

/** The answer to a request for a price, as the network's crates write it. */
export function candidateAnswer(price: NodePrice): Uint8Array {
  const numbers = (base64: string) => [...Buffer.from(base64, 'base64')];
  const { commitment, commitmentPin: pin } = price;
  const candidate = encode([
    numbers(price.publicKey),
    hexToBytes(BigInt(price.price).toString(16).padStart(64, '0')),
    hexToBytes(price.rewardsAddress.slice(2)),
    price.timestamp,
    numbers(price.signature),
    price.committedKeyCount,
    pin && [...hexToBytes(pin)],
  ]);
  const option = commitment
    ? concatBytes(Uint8Array.of(1), withLength(encodeCommitment(price, commitment)))
    : Uint8Array.of(0);
  return concatBytes(Uint8Array.of(0), withLength(candidate), option);
}

/** The parts of a request to store a chunk. */
export function partsOf(request: Uint8Array): { address: string; bytes: Uint8Array; proof: Uint8Array } {
  const content = afterLength(request.subarray(32));
  return {
    address: bytesToHex(request.subarray(0, 32)),
    bytes: content.value.slice(),
    proof: afterLength(content.rest.subarray(1)).value,
  };
}

/**
 * Whether a node accepts the payment for a chunk of a batch.
 * @param closest the peer ids that the node finds closest to an address.
 */
export function isPaidFor(
  { address, proof }: { address: string; proof: Uint8Array },
  paid: readonly PaidBatch[],
  closest: (address: string, count: number) => readonly string[],
): boolean {
  let read: ReadBatchProof;
  try {
    read = readBatchProof(proof);
  } catch {
    return false;
  }
  const isKnown = paid.some(
    ({ batch, pool }) =>
      bytesToHex(poolPayments(batch)[pool]!.hash) === read.poolHash &&
      depthOf(batch) === read.depth &&
      batch.timestamp === read.timestamp,
  );
  const near = closest(read.poolAddress, pools.searched);
  const close = read.peers.filter((peer) => near.includes(peer)).length;
  return isKnown && read.address === address && close >= pools.close;
}

/** The answer to a request to store a chunk. */
export function putAnswer(result: 'stored' | 'unpaid' | 'full', address: string): Uint8Array {
  const errors = { unpaid: 6, full: 5 };
  return result === 'stored'
    ? concatBytes(Uint8Array.of(0), hexToBytes(address))
    : Uint8Array.of(3, errors[result], 0);
}

/** Bytes after their length, as the format postcard writes them. */
function withLength(bytes: Uint8Array): Uint8Array {
  const length: number[] = [];
  let rest = bytes.length;
  for (; rest > 0x7f; rest >>= 7) length.push((rest & 0x7f) | 0x80);
  return concatBytes(Uint8Array.of(...length, rest), bytes);
}

function afterLength(bytes: Uint8Array): { value: Uint8Array; rest: Uint8Array } {
  let [length, at] = [0, 0];
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++]!;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return { value: bytes.subarray(at, at + length), rest: bytes.subarray(at + length) };
}
