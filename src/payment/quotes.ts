import { blake3 } from '@noble/hashes/blake3.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import * as v from 'valibot';
import * as s from '../schema.ts';
import { paymentError } from './errors.ts';

/** A record to store: a chunk, or a state of a pointer. Addresses and states are 64 hex digits. */
export interface RecordToStore {
  address: string;
  /** The state that the network computes from a pointer record. A chunk has none. */
  stateId?: string | undefined;
  /** In bytes. */
  size: number;
}

/** A record that nodes offer to store, after all checks. Its JSON can be stored. */
export interface Offer {
  plan: Plan;
  /** The vault knows the payment by this hash: `0x` and 64 hex digits. */
  quoteHash: string;
  /** The account that gets the payment: `0x` and 40 hex digits. */
  rewardsAddress: string;
  /** In atto, as a decimal number. */
  amount: string;
}

const hash = s.pattern(/^[0-9a-f]{64}$/, 'it must be 64 hex digits');
const evmHash = s.pattern(/^0x[0-9a-f]{64}$/, 'it must be 0x and 64 hex digits');
const evmAddress = s.pattern(/^0x[0-9a-f]{40}$/, 'it must be 0x and 40 hex digits');
const amount = s.pattern(/^(0|[1-9][0-9]{0,38})$/, 'it must be a decimal number');
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

const quoteSchema = s.strictObject({
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

const planSchema = s.strictObject({
  address: hash,
  stateId: v.optional(hash),
  size: s.integer('bytes'),
  quotes: s.list(quoteSchema, 7),
});

const offerSchema = s.strictObject({
  address: hash,
  status: v.literal('quoted'),
  plan: planSchema,
  quoteHash: evmHash,
  rewardsAddress: evmAddress,
  amount,
});

/** Quotes of seven nodes, as docs/reference/paid-uploads.md describes them. Relays get it back without a change. */
export type Plan = v.InferOutput<typeof planSchema>;
type Quote = v.InferOutput<typeof quoteSchema>;

const quoteCount = 7;
/** So many of the seven nodes have to be named by both relays. Nodes also take a plan without the others. */
const minCommonQuotes = 4;
const paymentFactor = 3n;
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
 * Checks all that a relay says about the price of a record: the nodes' keys and signatures, the network's price rule, the
 * quote that is paid, its hash and the amount. It takes some 30 ms.
 * @param value an entry of the relay's answer with the status `quoted`.
 * @param minQuotes fewer than seven for an offer that was made of those of two relays.
 * @throws AntwayError with `details.payment` `QUOTE`.
 */
export function checkOffer(value: unknown, record: RecordToStore, minQuotes = quoteCount): Offer {
  try {
    const { plan, quoteHash, rewardsAddress, amount } = s.parse(offerSchema, value, 'CORRUPT');
    const { quotes } = plan;
    const isForRecord =
      plan.address === record.address && plan.stateId === record.stateId && plan.size === record.size;
    if (!isForRecord) throw new Error('It is for another record.');
    if (quotes.length < minQuotes)
      throw new Error(`It has ${quotes.length} quotes instead of ${quoteCount}.`);
    if (new Set(quotes.map(({ peer }) => peer)).size < quotes.length)
      throw new Error('A node is in it twice.');
    if (!quotes.every((quote, i) => i === 0 || isBefore(quotes[i - 1]!, quote)))
      throw new Error('The quotes are not in the order of their prices.');
    const content = hexToBytes(record.stateId ?? record.address);
    for (const quote of quotes) checkQuote(quote, content);
    const paid = paidOf(quotes);
    if (quoteHash !== hashOf(paid, content)) throw new Error('Its hash is not that of the middle quote.');
    if (rewardsAddress !== paid.rewardsAddress) throw new Error('It is to be paid to another account.');
    if (BigInt(amount) !== paymentFactor * BigInt(paid.price))
      throw new Error('It is not three times the price of the middle quote.');
    return { plan, quoteHash, rewardsAddress, amount };
  } catch (error) {
    const message = `The price for ${record.address} is not valid: ${(error as Error).message}`;
    throw paymentError('QUOTE', message, { address: record.address }, error);
  }
}

/** As `checkOffer`, for an offer that this program has stored. */
export function checkStoredOffer(offer: Offer, record: RecordToStore): Offer {
  const value = { ...offer, address: record.address, status: 'quoted' };
  return checkOffer(value, record, minCommonQuotes);
}

/**
 * The offer of the nodes that two relays name for a record. So none of the two can invent a node, or move the middle.
 * @returns undefined unless most nodes are the same ones, as the network's nodes around a record are.
 */
export function commonOffer(one: Offer, other: Offer): Offer | undefined {
  const nodes = new Set(other.plan.quotes.map(({ peer }) => peer));
  const quotes = one.plan.quotes.filter(({ peer }) => nodes.has(peer));
  if (quotes.length < minCommonQuotes) return undefined;
  const plan = { ...one.plan, quotes };
  const paid = paidOf(quotes);
  const { rewardsAddress } = paid;
  const quoteHash = hashOf(paid, hexToBytes(plan.stateId ?? plan.address));
  return { plan, quoteHash, rewardsAddress, amount: `${paymentFactor * BigInt(paid.price)}` };
}

/** The quote that is paid. The quotes are in the order of price and node. */
function paidOf(quotes: readonly Quote[]): Quote {
  return quotes[Math.floor(quotes.length / 2)]!;
}

function isBefore(a: Quote, b: Quote): boolean {
  const [first, second] = [BigInt(a.price), BigInt(b.price)];
  return first < second || (first === second && a.peer < b.peer);
}

/** @throws Error that says what is wrong. */
function checkQuote(quote: Quote, content: Uint8Array): void {
  const key = bytesOf(quote.publicKey);
  if (bytesToHex(blake3(key)) !== quote.peer) throw new Error('A node has another key.');
  if (BigInt(quote.price) !== priceOf(quote.committedKeyCount))
    throw new Error('A price does not follow the rule of the network.');
  if (!ml_dsa65.verify(bytesOf(quote.signature), signedBytes(quote, content), key))
    throw new Error('A node did not sign its quote.');
  checkCommitment(quote, key);
}

function checkCommitment(quote: Quote, key: Uint8Array): void {
  const { commitment, committedKeyCount, commitmentPin } = quote;
  if (committedKeyCount === 0) {
    if (commitmentPin !== null || commitment !== null) throw new Error('A commitment to no records.');
    return;
  }
  if (commitmentPin === null || commitment === null) throw new Error('A price without a commitment.');
  if (committedKeyCount > maxCommittedRecords) throw new Error('A commitment to too many records.');
  if (commitment.keyCount !== committedKeyCount) throw new Error('A commitment to other records.');
  const [root, peer] = [hexToBytes(commitment.root), hexToBytes(quote.peer)];
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
  if (!ml_dsa65.verify(signature, signed, key, { context: commitmentContext }))
    throw new Error('A node did not sign its commitment.');
}

/** The bytes that a node signs: `PaymentQuote::bytes_for_signing` of the network's crate `evmlib`. */
export function signedBytes(
  {
    timestamp,
    price,
    rewardsAddress,
    committedKeyCount,
    commitmentPin,
  }: Pick<Quote, 'timestamp' | 'price' | 'rewardsAddress' | 'committedKeyCount' | 'commitmentPin'>,
  content: Uint8Array,
): Uint8Array {
  return concatBytes(
    content,
    littleEndian(timestamp, 8),
    littleEndian(BigInt(price), 32),
    hexToBytes(rewardsAddress.slice(2)),
    littleEndian(committedKeyCount, 4),
    commitmentPin === null ? Uint8Array.of(0) : concatBytes(Uint8Array.of(1), hexToBytes(commitmentPin)),
  );
}

function hashOf(quote: Quote, content: Uint8Array): string {
  const parts = [signedBytes(quote, content), bytesOf(quote.publicKey), bytesOf(quote.signature)];
  return `0x${bytesToHex(keccak_256(concatBytes(...parts)))}`;
}

function littleEndian(value: number | bigint, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let rest = BigInt(value);
  for (let i = 0; i < length; i++, rest >>= 8n) bytes[i] = Number(rest & 0xffn);
  return bytes;
}

/** As the format postcard writes numbers: 7 bits in each byte, the lowest ones first. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Uint8Array.of(...bytes, rest);
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
