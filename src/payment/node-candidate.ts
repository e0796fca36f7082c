import { bytesToHex } from '@noble/hashes/utils.js';
import * as v from 'valibot';
import type { CandidateQuote } from '../nodes/chunk-protocol.ts';
import { nodeError } from '../nodes/node-error.ts';
import * as s from '../schema.ts';
import { decodeUntrusted, type ValueLimits } from '../self-encryption/message-pack.ts';
import { checkCandidate } from './batch.ts';
import { base64Of } from './bytes.ts';
import { checkCommitment, type NodePrice, nodePriceSchema } from './node-price.ts';

/** A structure with lists of bytes. The key and the signature have most of the values. */
const valueLimits: ValueLimits = { maxDepth: 2, maxValues: 8192 };

/** Bytes as the network's crates write addresses and amounts of the chain. */
const binary = (length: number) =>
  v.custom<Uint8Array>(
    (value) => value instanceof Uint8Array && value.length === length,
    `it must be ${length} bytes`,
  );

const isByte = (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 0xff;

/** Bytes as the network's crates write all others: a list of numbers. */
const numbers = (length: number) =>
  v.pipe(
    v.custom<number[]>(
      (value) => Array.isArray(value) && value.length === length && value.every(isByte),
      `it must be a list of ${length} bytes`,
    ),
    v.transform((items) => Uint8Array.from(items)),
  );
const key = numbers(1952);
const signature = numbers(3309);
const hash = numbers(32);

/** `MerklePaymentCandidateNode` of the network's crate `evmlib`. */
const candidateSchema = v.strictTuple([
  key,
  binary(32),
  binary(20),
  s.integer('seconds'),
  signature,
  s.integer('records'),
  v.nullable(hash),
]);

/** `StorageCommitment` of the network's crate `ant-protocol`. */
const commitmentSchema = v.strictTuple([hash, s.integer('records'), hash, key, signature]);

/**
 * Checks the price that a node gave for a pool without a relay: it is the node's own one, at the time of the batch and the
 * price of the network, with the commitment that the price is derived from.
 * @param peer the node that was asked. @param timestamp of the batch, in seconds since 1970.
 * @throws Error that says what is wrong. AntwayError if the node may be honest: it no longer has its commitment, or it is
 *   newer and writes another form.
 */
export function candidateFrom(
  { candidate, commitment }: CandidateQuote,
  peer: string,
  timestamp: number,
): NodePrice {
  const [publicKey, price, account, time, signed, count, pin] = unpack(candidateSchema, candidate);
  const node: NodePrice = {
    peer,
    timestamp: time,
    price: `${BigInt(`0x${bytesToHex(price)}`)}`,
    rewardsAddress: `0x${bytesToHex(account)}`,
    publicKey: base64Of(publicKey),
    signature: base64Of(signed),
    committedKeyCount: count,
    commitmentPin: pin && bytesToHex(pin),
    commitment: commitment && commitmentFrom(commitment),
  };
  // The journal and relays refuse any other form, after the payment.
  s.parse(nodePriceSchema, node, 'CORRUPT');
  checkCandidate(node, timestamp);
  if (pin && !commitment) throw nodeError('refused', 'The node does not have the commitment of its price.');
  checkCommitment(node);
  return node;
}

/** The node and its key are those of the price, as the pin shows. */
function commitmentFrom(bytes: Uint8Array): NonNullable<NodePrice['commitment']> {
  const [root, keyCount, , , signed] = unpack(commitmentSchema, bytes);
  return { root: bytesToHex(root), keyCount, signature: base64Of(signed) };
}

function unpack<T>(schema: s.Schema<T>, bytes: Uint8Array): T {
  return s.parse(schema, decodeUntrusted(bytes, valueLimits), 'CORRUPT');
}
