import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { rendezvousScore } from '../../src/peers/selection/ranking.ts';

const addresses = Array.from({ length: 10_000 }, (_, i) => {
  const bytes = new Uint8Array(32);
  new DataView(bytes.buffer).setUint32(28, i);
  return Address.fromBytes(bytes);
});

function firstOf(address: Address, weights: Record<string, number>): string {
  const score = (peer: string) => rendezvousScore(address, peer, weights[peer]!);
  return Object.keys(weights).reduce((best, peer) => (score(peer) > score(best) ? peer : best));
}

function shares(weights: Record<string, number>): Record<string, number> {
  const counts = Object.fromEntries(Object.keys(weights).map((peer) => [peer, 0]));
  for (const address of addresses) counts[firstOf(address, weights)]!++;
  return Object.fromEntries(Object.entries(counts).map(([peer, count]) => [peer, count / addresses.length]));
}

const equal = { 'https://a.example': 1, 'https://b.example': 1, 'https://c.example': 1 };

describe('rendezvous ranking', () => {
  it('gives equal peers equal shares of the addresses', () => {
    for (const share of Object.values(shares(equal))) expect(share).toBeCloseTo(1 / 3, 1);
  });

  it('gives a peer of double weight a double share', () => {
    const { 'https://a.example': a, 'https://b.example': b } = shares({ ...equal, 'https://a.example': 2 });
    expect(a! / b!).toBeGreaterThan(1.85);
    expect(a! / b!).toBeLessThan(2.15);
  });

  it('moves only the addresses of a peer that goes away', () => {
    const { 'https://c.example': _, ...rest } = equal;
    for (const address of addresses) {
      const before = firstOf(address, equal);
      if (before !== 'https://c.example') expect(firstOf(address, rest)).toBe(before);
    }
  });

  it('is the same for all clients and versions', () => {
    // Each peer's cache stores its share of the addresses: another order would empty all caches.
    const scores = (byte: string) =>
      Object.keys(equal).map((peer) => rendezvousScore(Address.fromHex(byte.repeat(32)), peer, 2).toFixed(6));
    expect(scores('00')).toEqual(['1.600271', '2.527269', '7.247684']);
    expect(scores('ab')).toEqual(['2.378383', '5.913829', '4.036303']);
    expect(scores('ff')).toEqual(['7.349028', '1.816513', '3.630595']);
  });
});
