import { decode, encode } from '@msgpack/msgpack';
import { concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { expect, it } from 'vitest';
import { bytesOf } from '../../src/payment/bytes.ts';
import vector from '../fixtures/payments/batch.json' with { type: 'json' };
import { readBatchProof } from '../support/read-batch-proof.ts';

const { proof, poolAddress, poolHash } = vector;
const { address, root, timestamp, leaf, pool } = proof;

const list = (hex: string) => [...hexToBytes(hex)];
const branch = (siblings: readonly string[], index: number, start: string, salt: string | null) => [
  siblings.map(list),
  index,
  2 ** siblings.length,
  list(start),
  list(root),
  salt === null ? null : list(salt),
];

/** The proof of the network's own code, as its crates write it. */
const bytes = concatBytes(
  Uint8Array.of(2),
  encode([
    list(address),
    branch(leaf.siblings, leaf.index, address, leaf.salt),
    [
      [branch(pool.siblings, pool.index, pool.midpoint, null), timestamp],
      pool.nodes.map((node) => [
        [...bytesOf(node.publicKey)],
        hexToBytes(BigInt(node.price).toString(16).padStart(64, '0')),
        hexToBytes(node.rewardsAddress.slice(2)),
        node.timestamp,
        [...bytesOf(node.signature)],
        node.committedKeyCount,
        node.commitmentPin && list(node.commitmentPin),
      ]),
    ],
    [],
  ]),
);

it('the nodes of tests read the proof of the network’s own code', () => {
  const depth = leaf.siblings.length;
  const peers = pool.nodes.map(({ peer }) => peer);
  expect(readBatchProof(bytes)).toEqual({ address, root, timestamp, depth, poolAddress, poolHash, peers });
});

/** Parts that prove the chunk. The way to the part, and a number to change in it. */
it.each<[string, number[]]>([
  ['the address', [0, 5]],
  ['a neighbour of the leaf', [1, 0, 0, 5]],
  ['the place of the leaf', [1, 1]],
  ['the number of leaves', [1, 2]],
  ['the address in the leaf', [1, 3, 5]],
  ['the root above the leaf', [1, 4, 5]],
  ['the salt', [1, 5, 5]],
  ['a neighbour of the midpoint', [2, 0, 0, 0, 0, 5]],
  ['the place of the midpoint', [2, 0, 0, 1]],
  ['the midpoint', [2, 0, 0, 3, 5]],
  ['the root above the midpoint', [2, 0, 0, 4, 5]],
  ['the time', [2, 0, 1]],
  ['the time of a node', [2, 1, 3, 3]],
])('the nodes of tests refuse a proof with another value in %s', (_, way) => {
  expect(() => readBatchProof(changed(way))).toThrow();
});

// The chain knows no payment for another hash.
it.each<[string, number[]]>([
  ['key', [2, 1, 3, 0, 5]],
  ['price', [2, 1, 3, 1, 31]],
  ['account', [2, 1, 3, 2, 5]],
  ['signature', [2, 1, 3, 4, 5]],
  ['number of records', [2, 1, 3, 5]],
])('a pool with another %s of a node has another hash', (_, way) => {
  expect(readBatchProof(changed(way)).poolHash).not.toBe(poolHash);
});

type Values = (number | Values)[];

function changed(way: readonly number[]): Uint8Array {
  const values = decode(bytes.subarray(1)) as Values;
  const last = way.at(-1)!;
  const part = way.slice(0, -1).reduce((list, i) => list[i] as Values, values);
  part[last] = Number(part[last]) ^ 1;
  return concatBytes(bytes.subarray(0, 1), encode(values));
}
