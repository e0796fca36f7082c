import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import * as v from 'valibot';
import * as s from '../schema.ts';
import { bytesOf, littleEndian } from './bytes.ts';
import { hasSigned } from './node-signature.ts';

export const hash = s.pattern(/^[0-9a-f]{64}$/, 'it must be 64 hex digits');
export const evmHash = s.pattern(/^0x[0-9a-f]{64}$/, 'it must be 0x and 64 hex digits');
export const evmAddress = s.pattern(/^0x[0-9a-f]{40}$/, 'it must be 0x and 40 hex digits');
export const amount = s.pattern(/^(0|[1-9][0-9]{0,38})$/, 'it must be a decimal number');
const base64 = (bytes: number) => {
  const expectation = `it must be ${bytes} bytes in base64`;
  const length = Math.ceil(bytes / 3) * 4;
  return v.pipe(
    s.pattern(/^[A-Za-z0-9+/]+={0,2}$/, expectation),
    v.length(length, expectation),
    // Relays refuse a text whose last digit has spare bits, and a plan must be good for all relays.
    v.check((text) => btoa(atob(text)) === text, expectation),
  );
};
const publicKey = base64(1952);
const signature = base64(3309);
const count = s.integer('records');
/** The last second that relays know. */
const maxTimestamp = 253_402_300_799;
const timestamp = v.pipe(
  s.integer('seconds'),
  v.maxValue(maxTimestamp, 'it must be a time before the year 10000'),
);

/** The price that a node signs. */
export const nodePriceSchema = s.strictObject({
  peer: hash,
  timestamp,
  price: amount,
  rewardsAddress: evmAddress,
  publicKey,
  signature,
  committedKeyCount: count,
  commitmentPin: v.nullable(hash),
  commitment: v.nullable(s.strictObject({ root: hash, keyCount: count, signature })),
});

/** The price that one node signed, for one record or for a pool. */
export type NodePrice = v.InferOutput<typeof nodePriceSchema>;

/** The factor between a price and the payment. */
export const paymentFactor = 3n;
const basePrice = 3_906_250_000_000_000n;
const pricePerSquaredRecord = 976_562_500n;
const maxCommittedRecords = 1_000_000;

const text = (value: string) => new TextEncoder().encode(value);
const commitmentContext = text('autonomi.ant.replication.storage_commitment.v1');
const pinContext = text('autonomi.ant.replication.commitment_hash.v1');

/** The price of a record at a node that has committed to so many records, in atto. */
export function priceOf(committedRecords: number): bigint {
  return basePrice + BigInt(committedRecords) ** 2n * pricePerSquaredRecord;
}

/**
 * Checks the key, the price and the signature of a node, but not its commitment.
 * @param signed the bytes that the node has to have signed.
 * @throws Error that says what is wrong.
 */
export function checkNodePrice(node: NodePrice, signed: Uint8Array): void {
  const key = bytesOf(node.publicKey);
  if (bytesToHex(blake3(key)) !== node.peer) throw new Error('A node has another key.');
  // The token refuses a payment without an account, so the whole transaction would fail.
  if (/^0x0+$/.test(node.rewardsAddress)) throw new Error('A node names no account.');
  const { committedKeyCount: records, commitmentPin: pin } = node;
  if (BigInt(node.price) !== priceOf(records))
    throw new Error('A price does not follow the rule of the network.');
  if (!hasSigned(key, signed, bytesOf(node.signature))) throw new Error('A node did not sign its quote.');
  if (records === 0 && pin !== null) throw new Error('A commitment to no records.');
  if (records > 0 && pin === null) throw new Error('A price without a commitment.');
  if (records > maxCommittedRecords) throw new Error('A commitment to too many records.');
}

/** Checks the records that a price is derived from. @throws Error that says what is wrong. */
export function checkCommitment(node: NodePrice): void {
  const { commitment, committedKeyCount, commitmentPin } = node;
  if (committedKeyCount === 0) {
    if (commitment !== null) throw new Error('A commitment to no records.');
    return;
  }
  if (commitment === null) throw new Error('A price without a commitment.');
  if (commitment.keyCount !== committedKeyCount) throw new Error('A commitment to other records.');
  const [root, peer] = [hexToBytes(commitment.root), hexToBytes(node.peer)];
  const key = bytesOf(node.publicKey);
  const signature = bytesOf(commitment.signature);
  const encoded = concatBytes(
    root,
    varint(committedKeyCount),
    peer,
    varint(key.length),
    key,
    varint(signature.length),
    signature,
  );
  if (bytesToHex(blake3(concatBytes(pinContext, encoded))) !== commitmentPin)
    throw new Error('A commitment is not the one of the price.');
  const signed = concatBytes(
    root,
    littleEndian(committedKeyCount, 4),
    peer,
    littleEndian(key.length, 4),
    key,
  );
  if (!hasSigned(key, signed, signature, commitmentContext))
    throw new Error('A node did not sign its commitment.');
}

/** The commitment as nodes sign it with a price. */
export function bindingBytes({
  committedKeyCount,
  commitmentPin,
}: Pick<NodePrice, 'committedKeyCount' | 'commitmentPin'>): Uint8Array {
  const pin = commitmentPin === null ? [Uint8Array.of(0)] : [Uint8Array.of(1), hexToBytes(commitmentPin)];
  return concatBytes(littleEndian(committedKeyCount, 4), ...pin);
}

/** As the format postcard writes numbers: 7 bits in each byte, the lowest ones first. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Uint8Array.of(...bytes, rest);
}
