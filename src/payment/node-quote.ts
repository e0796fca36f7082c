import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import type { StorageQuote } from '../nodes/messages.ts';
import * as s from '../schema.ts';
import { bytesOf } from './bytes.ts';
import { type NodePrice, nodePriceSchema } from './node-price.ts';
import { checkQuote, hashOf } from './quotes.ts';

/**
 * Checks the quote that a node gave without a relay: it is the node's own one, for this chunk, at the price of the network.
 * @param peer the node that was asked. @param address of the chunk.
 * @throws Error that says what is wrong.
 */
export function priceFrom(quote: StorageQuote, peer: string, address: string): NodePrice {
  if (quote.peer_id !== peer) throw new Error('It is the quote of another node.');
  if (quote.content !== address) throw new Error('It is for another chunk.');
  const { commitment } = quote;
  const price: NodePrice = {
    peer,
    timestamp: quote.timestamp_secs,
    price: quote.price,
    rewardsAddress: quote.rewards_address,
    publicKey: base64(quote.public_key),
    signature: base64(quote.signature),
    committedKeyCount: quote.committed_key_count,
    commitmentPin: quote.commitment_pin,
    commitment: commitment && {
      root: commitment.root,
      keyCount: commitment.key_count,
      signature: base64(commitment.signature),
    },
  };
  // The journal and relays refuse any other form, after the payment.
  s.parse(nodePriceSchema, price, 'CORRUPT');
  checkQuote(price, hexToBytes(address));
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

/** `StorageCommitment` of the network's crate `ant-protocol` as MessagePack: an array of five, with bytes as numbers. */
export function encodeCommitment(
  { peer, publicKey }: Pick<NodePrice, 'peer' | 'publicKey'>,
  { root, keyCount, signature }: NonNullable<NodePrice['commitment']>,
): Uint8Array {
  return concatBytes(
    Uint8Array.of(0x95),
    numbers(hexToBytes(root)),
    number(keyCount),
    numbers(hexToBytes(peer)),
    numbers(bytesOf(publicKey)),
    numbers(bytesOf(signature)),
  );
}

/** An array of 16 to 65,535 numbers. */
function numbers(bytes: Uint8Array): Uint8Array {
  const items = Array.from(bytes, number);
  return concatBytes(Uint8Array.of(0xdc, bytes.length >> 8, bytes.length & 0xff), ...items);
}

/** The shortest form of a number below 2³². */
function number(value: number): Uint8Array {
  if (value < 0x80) return Uint8Array.of(value);
  const [tag, length] = value < 0x100 ? [0xcc, 1] : value < 0x10000 ? [0xcd, 2] : [0xce, 4];
  const bytes = Array.from({ length }, (_, i) => (value >>> (8 * (length - 1 - i))) & 0xff);
  return Uint8Array.of(tag, ...bytes);
}

function base64(hex: string): string {
  return btoa(String.fromCharCode(...hexToBytes(hex)));
}
