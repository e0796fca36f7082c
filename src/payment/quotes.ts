import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import * as v from 'valibot';
import * as s from '../schema.ts';
import { bytesOf, littleEndian } from './bytes.ts';
import { paymentError } from './errors.ts';
import {
  amount,
  bindingBytes,
  checkCommitment,
  checkNodePrice,
  evmAddress,
  evmHash,
  hash,
  type NodePrice,
  nodePriceSchema,
  paymentFactor,
} from './node-price.ts';

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

const planSchema = s.strictObject({
  address: hash,
  stateId: v.optional(hash),
  size: s.integer('bytes'),
  quotes: s.list(nodePriceSchema, 7),
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

const quoteCount = 7;
/** So many of the seven nodes have to be named by both relays. Nodes also take a plan without the others. */
const minCommonQuotes = 4;

/** Of a quote that a relay hands out. */
const maxQuoteAgeSeconds = 60 * 60;
/** Clocks differ. As relays allow for batches. */
const clockMarginSeconds = 10 * 60;

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
    const content = contentOf(record);
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
 * The offer of the nodes that have given their prices just now. Nodes accept old ones, too, so a relay could hand out those
 * of a time with other prices, or of nodes that are gone.
 * @throws AntwayError with `details.payment` `QUOTE` if these are not most of the nodes.
 */
export function freshOffer(offer: Offer, nowSeconds = Date.now() / 1000): Offer {
  const { address, quotes } = offer.plan;
  const fresh = quotes.filter(({ timestamp }) => {
    const age = nowSeconds - timestamp;
    return age <= maxQuoteAgeSeconds && age >= -clockMarginSeconds;
  });
  if (fresh.length === quotes.length) return offer;
  if (fresh.length >= minCommonQuotes) return offerOf({ ...offer.plan, quotes: fresh });
  const message = `The price for ${address} is not a present one: nodes signed it over an hour ago, or in the future. Or the clock of this device is wrong. Nothing was paid.`;
  throw paymentError('QUOTE', message, { address });
}

/**
 * The offer of the nodes that two relays name for a record. So none of the two can invent a node, or move the middle.
 * @returns undefined unless most nodes are the same ones, as the network's nodes around a record are.
 */
export function commonOffer(one: Offer, other: Offer): Offer | undefined {
  const nodes = new Set(other.plan.quotes.map(({ peer }) => peer));
  const quotes = one.plan.quotes.filter(({ peer }) => nodes.has(peer));
  if (quotes.length < minCommonQuotes) return undefined;
  return offerOf({ ...one.plan, quotes });
}

/** @param plan whose quotes are valid and in their order. */
function offerOf(plan: Plan): Offer {
  const paid = paidOf(plan.quotes);
  const { rewardsAddress } = paid;
  const quoteHash = hashOf(paid, contentOf(plan));
  return { plan, quoteHash, rewardsAddress, amount: `${paymentFactor * BigInt(paid.price)}` };
}

/**
 * The offer of nodes that gave their quotes without a relay.
 * @param quotes of different nodes, each after `checkQuote`.
 */
export function offerFrom(record: RecordToStore, quotes: readonly NodePrice[]): Offer {
  const { address, stateId, size } = record;
  const name = stateId === undefined ? { address } : { address, stateId };
  return offerOf({ ...name, size, quotes: quotes.toSorted((a, b) => (isBefore(a, b) ? -1 : 1)) });
}

/** Checks the quote of one node for a record. @throws Error that says what is wrong. */
export function checkQuote(quote: NodePrice, content: Uint8Array): void {
  checkNodePrice(quote, signedBytes(quote, content));
  checkCommitment(quote);
}

/** The bytes of the name that nodes sign: of a chunk the address, and of a pointer the state. */
export function contentOf({ stateId, address }: Pick<RecordToStore, 'stateId' | 'address'>): Uint8Array {
  return hexToBytes(stateId ?? address);
}

/** The quote that is paid. The quotes are in the order of price and node. */
export function paidOf(quotes: readonly NodePrice[]): NodePrice {
  return quotes[Math.floor(quotes.length / 2)]!;
}

function isBefore(a: NodePrice, b: NodePrice): boolean {
  const [first, second] = [BigInt(a.price), BigInt(b.price)];
  return first < second || (first === second && a.peer < b.peer);
}

/** The bytes that a node signs: `PaymentQuote::bytes_for_signing` of the network's crate `evmlib`. */
export function signedBytes(
  quote: Omit<NodePrice, 'peer' | 'publicKey' | 'signature' | 'commitment'>,
  content: Uint8Array,
): Uint8Array {
  return concatBytes(
    content,
    littleEndian(quote.timestamp, 8),
    littleEndian(BigInt(quote.price), 32),
    hexToBytes(quote.rewardsAddress.slice(2)),
    bindingBytes(quote),
  );
}

export function hashOf(quote: NodePrice, content: Uint8Array): string {
  const parts = [signedBytes(quote, content), bytesOf(quote.publicKey), bytesOf(quote.signature)];
  return `0x${bytesToHex(keccak_256(concatBytes(...parts)))}`;
}
