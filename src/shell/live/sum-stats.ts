import { type HistogramSnapshot, histogramSnapshot } from '../../stats/histogram.ts';
import type { PeerTally, StatsSnapshot, Tally, TransportTally } from '../../stats/stats.ts';

type Counts = Partial<Record<string, number>>;

/**
 * The sum of the counters of several origins. `startedAt` is the earliest value, `reading` is the value of the first.
 * @param all at least one snapshot.
 */
export function sumStats([first, ...others]: readonly [StatsSnapshot, ...StatsSnapshot[]]): StatsSnapshot {
  return others.reduce<StatsSnapshot>(
    (a, b) => ({
      startedAt: Math.min(a.startedAt, b.startedAt),
      requests: {
        total: a.requests.total + b.requests.total,
        active: a.requests.active + b.requests.active,
        failed: sumCounts(a.requests.failed, b.requests.failed),
        firstByteMs: sumHistograms(a.requests.firstByteMs, b.requests.firstByteMs),
        totalMs: sumHistograms(a.requests.totalMs, b.requests.totalMs),
      },
      servedBytes: a.servedBytes + b.servedBytes,
      chunks: {
        memory: sumTallies(a.chunks.memory, b.chunks.memory),
        disk: sumTallies(a.chunks.disk, b.chunks.disk),
        joined: a.chunks.joined + b.chunks.joined,
        stored: sumTallies(a.chunks.stored, b.chunks.stored),
        unstored: a.chunks.unstored + b.chunks.unstored,
        damaged: a.chunks.damaged + b.chunks.damaged,
      },
      files: { damaged: a.files.damaged + b.files.damaged, refused: a.files.refused + b.files.refused },
      peers: sumPeers(a.peers, b.peers),
      reading: a.reading,
    }),
    first,
  );
}

function sumPeers(a: readonly PeerTally[], b: readonly PeerTally[]): PeerTally[] {
  const sums = new Map(a.map((peer) => [peer.url, peer]));
  for (const peer of b) {
    const known = sums.get(peer.url);
    sums.set(peer.url, known ? sumPeer(known, peer) : peer);
  }
  return [...sums.values()];
}

function sumPeer(a: PeerTally, b: PeerTally): PeerTally {
  return {
    url: a.url,
    webtransport: sumTransports(a.webtransport, b.webtransport),
    http: sumTransports(a.http, b.http),
    corrupt: a.corrupt + b.corrupt,
    bans: a.bans + b.bans,
    hedges: { won: a.hedges.won + b.hedges.won, lost: a.hedges.lost + b.hedges.lost },
  };
}

function sumTransports(a: TransportTally, b: TransportTally): TransportTally {
  return {
    chunks: a.chunks + b.chunks,
    bytes: a.bytes + b.bytes,
    failures: sumCounts(a.failures, b.failures),
    firstByteMs: sumHistograms(a.firstByteMs, b.firstByteMs),
    totalMs: sumHistograms(a.totalMs, b.totalMs),
  };
}

function sumTallies(a: Tally, b: Tally): Tally {
  return { count: a.count + b.count, bytes: a.bytes + b.bytes };
}

function sumCounts<T extends Counts>(a: T, b: T): T {
  const sums: Counts = { ...a };
  for (const [key, count] of Object.entries(b)) sums[key] = (sums[key] ?? 0) + (count ?? 0);
  return sums as T;
}

function sumHistograms(a: HistogramSnapshot, b: HistogramSnapshot): HistogramSnapshot {
  const buckets = a.buckets.map((count, i) => count + b.buckets[i]!);
  return histogramSnapshot(buckets, a.sum + b.sum);
}
