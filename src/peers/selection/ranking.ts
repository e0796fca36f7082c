import type { Address } from '../../address.ts';

/**
 * Weighted rendezvous hashing, by the logarithmic method (Schindelhauer and Schomaker, 2005): `-weight / ln(uniform)`.
 * All clients ask the same peer for an address first, so that peer's cache is useful to all of them. Removing a peer
 * moves only the addresses of that peer.
 * @param peer an identifier of the peer that is the same for every client: its URL.
 * @param weight its share relative to others, more than 0.
 * @returns a score: the peer with the highest score comes first.
 */
export function rendezvousScore(address: Address, peer: string, weight: number): number {
  return -weight / Math.log(uniform(address, peer));
}

/** A number between 0 and 1, both excluded, from 53 bits of hash. */
function uniform(address: Address, peer: string): number {
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  const mix = (byte: number) => {
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high ^ byte, 0x85ebca6b);
    high ^= high >>> 13;
  };
  for (const byte of address.bytes) mix(byte);
  for (let i = 0; i < peer.length; i++) mix(peer.charCodeAt(i));
  return ((finish(high) >>> 5) * 2 ** 26 + (finish(low) >>> 6) + 0.5) / 2 ** 53;
}

/** The finaliser of MurmurHash3: spreads every bit over all others. */
function finish(hash: number): number {
  let value = hash ^ (hash >>> 16);
  value = Math.imul(value, 0x85ebca6b);
  value ^= value >>> 13;
  value = Math.imul(value, 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
