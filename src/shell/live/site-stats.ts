import { AntwayError, errorStatus } from '../../errors.ts';
import { PeerUrl } from '../../peer-url.ts';
import { bucketCount, type HistogramSnapshot, histogramSnapshot } from '../../stats/histogram.ts';
import type { PeerTally, StatsSnapshot, Tally, TransportTally } from '../../stats/stats.ts';
import type { CacheState } from '../gateway-api.ts';

/** The upper limit of a counter, about a petabyte. The sum of a few such values is still exact. */
const most = 1e15;
/** The maximum number of peers of one origin, and the maximum length of a peer's URL. */
const mostPeers = 32;
const longestUrl = 200;

type Fields = Record<string, unknown>;

/** The report of a site's origin is not a valid report of a gateway's worker. */
class NotStats extends Error {}

/**
 * Validates the counters of a site's origin. The site can change the data on its origin, so no field is trusted: this
 * function takes only known fields, and computes the percentiles itself.
 * @returns undefined if the value has another shape.
 */
export function siteStats(value: unknown): StatsSnapshot | undefined {
  return ifValid(() => {
    const { startedAt, requests, servedBytes, chunks, files, peers } = fields(value);
    const { total, active, failed, firstByteMs, totalMs } = fields(requests);
    const { memory, disk, joined, stored, unstored, damaged } = fields(chunks);
    const { damaged: damagedFiles, refused } = fields(files);
    if (!Array.isArray(peers)) throw new NotStats();
    return {
      startedAt: count(startedAt),
      requests: {
        total: count(total),
        active: count(active),
        failed: failures(failed),
        firstByteMs: histogram(firstByteMs),
        totalMs: histogram(totalMs),
      },
      servedBytes: count(servedBytes),
      chunks: {
        memory: tally(memory),
        disk: tally(disk),
        joined: count(joined),
        stored: tally(stored),
        unstored: count(unstored),
        damaged: count(damaged),
      },
      files: { damaged: count(damagedFiles), refused: count(refused) },
      peers: peers.slice(0, mostPeers).map(peerTally),
      // A worker counts this only for pages that watch, and would broadcast it to all pages of the site.
      reading: null,
    };
  });
}

/**
 * Validates the storage report of a site's origin.
 * @returns as `siteStats`.
 */
export function siteCache(value: unknown): CacheState | undefined {
  return ifValid(() => {
    const { count: chunks, bytes, waiting, maxBytes, available, quota, usage, persisted } = fields(value);
    return {
      count: count(chunks),
      bytes: count(bytes),
      waiting: count(waiting),
      maxBytes: count(maxBytes),
      available: flag(available),
      reason: null,
      quota: quota === null ? null : count(quota),
      usage: usage === null ? null : count(usage),
      persisted: flag(persisted),
    };
  });
}

function ifValid<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotStats || error instanceof AntwayError) return undefined;
    throw error;
  }
}

function peerTally(value: unknown): PeerTally {
  const { url, webtransport, http, corrupt, bans, hedges } = fields(value);
  const { id } = PeerUrl.parse(url);
  if (id.length > longestUrl) throw new NotStats();
  const { won, lost } = fields(hedges);
  return {
    url: id,
    webtransport: transportTally(webtransport),
    http: transportTally(http),
    corrupt: count(corrupt),
    bans: count(bans),
    hedges: { won: count(won), lost: count(lost) },
  };
}

function transportTally(value: unknown): TransportTally {
  const { chunks, bytes, failures: failed, firstByteMs, totalMs } = fields(value);
  return {
    chunks: count(chunks),
    bytes: count(bytes),
    failures: failures(failed),
    firstByteMs: histogram(firstByteMs),
    totalMs: histogram(totalMs),
  };
}

function tally(value: unknown): Tally {
  const { count: number, bytes } = fields(value);
  return { count: count(number), bytes: count(bytes) };
}

function failures(value: unknown): TransportTally['failures'] {
  const known = Object.entries(fields(value)).filter(([code]) => Object.hasOwn(errorStatus, code));
  return Object.fromEntries(known.map(([code, number]) => [code, count(number)]));
}

function histogram(value: unknown): HistogramSnapshot {
  const { buckets, sum } = fields(value);
  if (!Array.isArray(buckets) || buckets.length !== bucketCount) throw new NotStats();
  return histogramSnapshot(buckets.map(count), count(sum));
}

function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw new NotStats();
  return value as Fields;
}

function count(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= most)) throw new NotStats();
  return Math.round(value);
}

function flag(value: unknown): boolean {
  if (typeof value !== 'boolean') throw new NotStats();
  return value;
}
