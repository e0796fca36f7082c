import { type HistogramSnapshot, histogramSnapshot } from '../../stats/histogram.ts';
import type { PeerTally, StatsSnapshot } from '../../stats/stats.ts';

/** `startedAt` is the earliest value, `reading` is the value of the first snapshot. */
export function sumStats([first, ...others]: readonly [StatsSnapshot, ...StatsSnapshot[]]): StatsSnapshot {
  return others.reduce(
    (a, b) => ({
      ...sum(a, b),
      startedAt: Math.min(a.startedAt, b.startedAt),
      peers: sumPeers(a.peers, b.peers),
      reading: a.reading,
    }),
    first,
  );
}

/**
 * The peer `/` of the configuration is the host. On a site's origin, its URL is that origin. Returns the counters with the
 * gateway's origin instead.
 */
export function withHostPeer(stats: StatsSnapshot, site: string, gateway: string): StatsSnapshot {
  const renamed = stats.peers.map((peer) => (peer.url === site ? { ...peer, url: gateway } : peer));
  return { ...stats, peers: sumPeers([], renamed) };
}

function sumPeers(a: readonly PeerTally[], b: readonly PeerTally[]): PeerTally[] {
  const sums = new Map(a.map((peer) => [peer.url, peer]));
  for (const peer of b) {
    const known = sums.get(peer.url);
    sums.set(peer.url, known ? sum(known, peer) : peer);
  }
  return [...sums.values()];
}

/** Adds all numbers and histograms of two objects with the same shape. Other values are those of `a`. */
function sum<T extends object>(a: T, b: T): T {
  if (isHistogram(a) && isHistogram(b)) {
    const buckets = a.buckets.map((count, i) => count + b.buckets[i]!);
    return histogramSnapshot(buckets, a.sum + b.sum) as T & HistogramSnapshot;
  }
  const sums = { ...a } as Record<string, unknown>;
  for (const [key, value] of Object.entries(b)) {
    const own = sums[key];
    if (own === undefined) sums[key] = value;
    else if (typeof own === 'number') sums[key] = own + value;
    else if (isRecord(own) && isRecord(value)) sums[key] = sum(own, value);
  }
  return sums as T;
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isHistogram(value: object): value is HistogramSnapshot {
  return 'buckets' in value;
}
