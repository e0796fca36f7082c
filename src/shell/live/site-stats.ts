import { type ErrorCode, errorStatus } from '../../errors.ts';
import { PeerUrl } from '../../peer-url.ts';
import * as s from '../../schema.ts';
import { bucketCount, histogramSnapshot } from '../../stats/histogram.ts';
import type { StatsSnapshot } from '../../stats/stats.ts';
import type { CacheState } from '../gateway-api.ts';

/** The maximum number of peers of one origin, and the maximum length of a peer's URL. */
const mostPeers = 32;
const longestUrl = 200;

/** Up to about a petabyte. The sum of a few such values is still exact. */
const count = s.transform(s.number(1e15), Math.round);
const tally = s.object({ count, bytes: count });

/** Numbers of failures by code. Unknown codes are dropped. */
const failures = s.transform(s.record(s.string(), s.unknown), (numbers, key) => {
  const known = Object.entries(numbers).filter(([code]) => Object.hasOwn(errorStatus, code));
  return s.record(s.string(), count).parse(Object.fromEntries(known), key) as Partial<
    Record<ErrorCode, number>
  >;
});

/** Computes the percentiles itself. */
const histogram = s.transform(
  s.object({
    buckets: s.check(
      s.array(count, bucketCount),
      ({ length }) => length === bucketCount,
      'it has another length',
    ),
    sum: count,
  }),
  ({ buckets, sum }) => histogramSnapshot(buckets, sum),
);

const transport = s.object({
  chunks: count,
  bytes: count,
  failures,
  firstByteMs: histogram,
  totalMs: histogram,
});

const peerId = s.transform(s.string(), (url, key) => {
  const { id } = PeerUrl.fromText(url, undefined, key);
  if (id.length <= longestUrl) return id;
  throw new s.Mismatch(key, `it has more than ${longestUrl} characters`);
});

const peer = s.object({
  url: peerId,
  webtransport: transport,
  http: transport,
  corrupt: count,
  bans: count,
  hedges: s.object({ won: count, lost: count }),
});

const stats = s.object({
  startedAt: count,
  requests: s.object({
    total: count,
    active: count,
    failed: failures,
    firstByteMs: histogram,
    totalMs: histogram,
  }),
  servedBytes: count,
  chunks: s.object({
    memory: tally,
    disk: tally,
    joined: count,
    stored: tally,
    unstored: count,
    damaged: count,
  }),
  files: s.object({ damaged: count, refused: count }),
  peers: s.transform(s.array(s.unknown), (peers, key) => s.array(peer).parse(peers.slice(0, mostPeers), key)),
});

const cache = s.object({
  count,
  bytes: count,
  waiting: count,
  maxBytes: count,
  available: s.boolean,
  quota: s.nullable(count),
  usage: s.nullable(count),
  persisted: s.boolean,
});

/**
 * Validates the counters of a site's origin. The site can change the data on its origin, so no field is trusted.
 * @returns undefined if the value has another shape.
 */
export function siteStats(value: unknown): StatsSnapshot | undefined {
  const parsed = parsedIfValid(stats, value);
  // A worker counts `reading` only for pages that watch, and would broadcast it to all pages of the site.
  return parsed && { ...parsed, reading: null };
}

/**
 * Validates the storage report of a site's origin.
 * @returns as `siteStats`.
 */
export function siteCache(value: unknown): CacheState | undefined {
  const parsed = parsedIfValid(cache, value);
  return parsed && { ...parsed, reason: null };
}

function parsedIfValid<T>(schema: s.Schema<T>, value: unknown): T | undefined {
  try {
    return schema.parse(value, '');
  } catch (error) {
    if (error instanceof s.Mismatch) return undefined;
    throw error;
  }
}
