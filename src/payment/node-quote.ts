import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import type { StorageQuote } from '../nodes/messages.ts';
import * as s from '../schema.ts';
import { base64Of, bytesOf, littleEndian } from './bytes.ts';
import { packArray, packBytes, packedNull, packNumber, packNumbers } from './message-pack.ts';
import { type NodePrice, nodePriceSchema } from './node-price.ts';
import { checkQuote, hashOf } from './quotes.ts';

/**
 * Checks the quote that a node gave without a relay: it is the node's own one, for this record, at the price of the network.
 * @param peer the node that was asked. @param content the address of a chunk, or the state of a pointer.
 * @throws Error that says what is wrong.
 */
export function priceFrom(quote: StorageQuote, peer: string, content: string): NodePrice {
  if (quote.peer_id !== peer) throw new Error('It is the quote of another node.');
  if (quote.content !== content) throw new Error('It is for another record.');
  const { commitment } = quote;
  const price: NodePrice = {
    peer,
    timestamp: quote.timestamp_secs,
    price: quote.price,
    rewardsAddress: quote.rewards_address,
    publicKey: base64Of(hexToBytes(quote.public_key)),
    signature: base64Of(hexToBytes(quote.signature)),
    committedKeyCount: quote.committed_key_count,
    commitmentPin: quote.commitment_pin,
    commitment: commitment && {
      root: commitment.root,
      keyCount: commitment.key_count,
      signature: base64Of(hexToBytes(commitment.signature)),
    },
  };
  // The journal and relays refuse any other form, after the payment.
  s.parse(nodePriceSchema, price, 'CORRUPT');
  checkQuote(price, hexToBytes(content));
  return price;
}

/** The quote in the form in which nodes read it: `BrowserQuoteArtifact` of the network's crate `saorsa-transport`. */
export function quoteOf(price: NodePrice, address: string): StorageQuote {
  const publicKey = bytesToHex(bytesOf(price.publicKey));
  const { commitment } = price;
  return {
    peer_id: price.peer,
    content: address,
    timestamp_secs: price.timestamp,
    price: price.price,
    rewards_address: price.rewardsAddress,
    public_key: publicKey,
    signature: bytesToHex(bytesOf(price.signature)),
    committed_key_count: price.committedKeyCount,
    commitment_pin: price.commitmentPin,
    quote_hash: hashOf(price, hexToBytes(address)).slice(2),
    commitment: commitment && {
      encoded: bytesToHex(encodeCommitment(price, commitment)),
      root: commitment.root,
      key_count: commitment.keyCount,
      sender_peer_id: price.peer,
      sender_public_key: publicKey,
      signature: bytesToHex(bytesOf(commitment.signature)),
    },
  };
}

/** `StorageCommitment` of the network's crate `ant-protocol`. */
export function encodeCommitment(
  { peer, publicKey }: Pick<NodePrice, 'peer' | 'publicKey'>,
  { root, keyCount, signature }: NonNullable<NodePrice['commitment']>,
): Uint8Array {
  return packArray(
    packNumbers(hexToBytes(root)),
    packNumber(keyCount),
    packNumbers(hexToBytes(peer)),
    packNumbers(bytesOf(publicKey)),
    packNumbers(bytesOf(signature)),
  );
}

const singleNodeProof = Uint8Array.of(1);

/**
 * The proof of a payment to one node, as nodes read it: `PaymentProof` of the network's crate `ant-protocol`, with the quote
 * that was paid.
 * @param content the bytes that the quote names: of a chunk, the address, and of a pointer, the state.
 * @param transaction `0x` and 64 hex digits.
 */
export function encodeProof(price: NodePrice, content: Uint8Array, transaction: string): Uint8Array {
  const { commitment } = price;
  const quotes = packArray(packArray(packNumbers(hexToBytes(price.peer)), encodeQuote(price, content)));
  return concatBytes(
    singleNodeProof,
    packArray(
      packArray(quotes),
      packArray(packBytes(hexToBytes(transaction.slice(2)))),
      packArray(...(commitment ? [packNumbers(encodeCommitment(price, commitment))] : [])),
    ),
  );
}

/** `PaymentQuote` of the network's crate `evmlib`. */
function encodeQuote(price: NodePrice, content: Uint8Array): Uint8Array {
  const nanoseconds = 0;
  return packArray(
    packNumbers(content),
    packArray(packNumber(price.timestamp), packNumber(nanoseconds)),
    packPrice(price),
    packBytes(hexToBytes(price.rewardsAddress.slice(2))),
    packNumbers(bytesOf(price.publicKey)),
    packNumbers(bytesOf(price.signature)),
    packNumber(price.committedKeyCount),
    packPin(price),
  );
}

/** `Amount` of the network's crate `evmlib`. */
export function packPrice({ price }: Pick<NodePrice, 'price'>): Uint8Array {
  return packBytes(littleEndian(BigInt(price), 32).reverse());
}

/** The pin of a commitment, or no value. */
export function packPin({ commitmentPin }: Pick<NodePrice, 'commitmentPin'>): Uint8Array {
  return commitmentPin === null ? packedNull : packNumbers(hexToBytes(commitmentPin));
}
