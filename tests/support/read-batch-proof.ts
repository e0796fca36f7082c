import { decode } from '@msgpack/msgpack';
import { blake3 } from '@noble/hashes/blake3.js';
import { sha3_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes } from '@noble/hashes/utils.js';

/** The contents of a proof of payment for a batch, as a node reads them. Hashes and peers are 64 hex digits. */
export interface ReadBatchProof {
  address: string;
  root: string;
  timestamp: number;
  /** The number of steps from the leaf to the top. */
  depth: number;
  poolAddress: string;
  /** The chain knows the payment by it. */
  poolHash: string;
  peers: string[];
}

type Branch = [
  siblings: unknown[],
  index: number,
  count: number,
  start: unknown,
  root: unknown,
  salt: unknown,
];
type Candidate = [
  key: unknown,
  price: unknown,
  account: unknown,
  timestamp: number,
  signature: unknown,
  committed: number,
  pin: unknown,
];

/**
 * Reads a proof and checks it as `verify_merkle_proof` of the network's crate `evmlib` does. It shares no code with the
 * client, so that a mistake of the client shows.
 * @throws Error that says what is wrong.
 */
export function readBatchProof(bytes: Uint8Array): ReadBatchProof {
  if (bytes[0] !== 2) throw new Error('the tag of another proof');
  const [address, leaf, [[midpoint, timestamp], candidates], sidecars] = decode(bytes.subarray(1)) as [
    unknown,
    Branch,
    [[Branch, number], Candidate[]],
    unknown[],
  ];
  if (sidecars.length > 0) throw new Error('commitments, which make a proof too long');
  if (candidates.length !== 16) throw new Error(`${candidates.length} nodes`);
  if (candidates.some((candidate) => candidate[3] !== timestamp)) throw new Error('another time');
  const root = numbers(leaf[4], 32);
  if (hex(numbers(midpoint[4], 32)) !== hex(root)) throw new Error('two roots');
  if (hex(numbers(leaf[3], 32)) !== hex(numbers(address, 32))) throw new Error('the leaf of another chunk');
  if (midpoint[5] !== null) throw new Error('a midpoint with a salt');
  const bottom = sha3_256(concatBytes(numbers(leaf[3], 32), numbers(leaf[5], 32)));
  const start = numbers(midpoint[3], 32);
  for (const [branch, hash] of [
    [leaf, bottom],
    [midpoint, start],
  ] as const) {
    if (hex(rootFrom(branch, hash)) !== hex(root)) throw new Error('a way to another root');
  }
  const depth = leaf[0].length;
  if (midpoint[0].length !== Math.ceil(depth / 2)) throw new Error('a midpoint at another height');
  const time = little(timestamp, 8);
  return {
    address: hex(numbers(address, 32)),
    root: hex(root),
    timestamp,
    depth,
    poolAddress: hex(sha3_256(concatBytes(start, root, time))),
    poolHash: hex(poolHash(midpoint, time, candidates)),
    peers: candidates.map(([key]) => hex(blake3(numbers(key, 1952)))),
  };
}

function rootFrom([siblings, index, count]: Branch, start: Uint8Array): Uint8Array {
  if (count !== 2 ** siblings.length || index >= count) throw new Error('a place outside the tree');
  let hash = start;
  for (const [up, sibling] of siblings.entries()) {
    const other = numbers(sibling, 32);
    hash = sha3_256((index >> up) % 2 === 0 ? concatBytes(hash, other) : concatBytes(other, hash));
  }
  return sha3_256(hash);
}

/** `MerklePaymentCandidatePool::hash` of the network's crate `evmlib`. */
function poolHash(
  [siblings, index, count, start, root]: Branch,
  time: Uint8Array,
  candidates: readonly Candidate[],
): Uint8Array {
  const hashes = [...siblings.map((one) => numbers(one, 32)), little(index, 8), little(count, 8)];
  const noSalt = Uint8Array.of(0);
  const way = sha3_256(concatBytes(...hashes, numbers(start, 32), numbers(root, 32), noSalt, time));
  const nodes = candidates.flatMap(([key, price, account, , signature, committed, pin]) => [
    numbers(key, 1952),
    binary(price, 32).toReversed(),
    binary(account, 20),
    time,
    little(committed, 4),
    pin === null ? Uint8Array.of(0) : concatBytes(Uint8Array.of(1), numbers(pin, 32)),
    numbers(signature, 3309),
  ]);
  return sha3_256(concatBytes(way, little(candidates.length, 4), ...nodes));
}

/** Bytes that the network's crates write as a list of numbers. */
function numbers(value: unknown, length: number): Uint8Array {
  if (!Array.isArray(value) || value.length !== length) throw new Error(`not a list of ${length} bytes`);
  return Uint8Array.from(value);
}

/** Bytes that the network's crates write as such. */
function binary(value: unknown, length: number): Uint8Array {
  if (!(value instanceof Uint8Array) || value.length !== length) throw new Error(`not ${length} bytes`);
  return value;
}

function little(value: number, length: number): Uint8Array {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntLE(value, 0, Math.min(length, 6));
  return bytes;
}

const hex = bytesToHex;
