import * as v from 'valibot';
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
const count = v.pipe(s.number(1e15), v.transform(Math.round));
const tally = s.object({ count, bytes: count });

/** Numbers of failures by code. Unknown codes are dropped. */
const errorCodes = Object.keys(errorStatus) as ErrorCode[];
const failures = s.object(v.entriesFromList(errorCodes, v.exactOptional(count)));

const histogram = v.pipe(
  s.object({ buckets: v.pipe(s.list(count, bucketCount), v.length(bucketCount)), sum: count }),
  v.transform(({ buckets, sum }) => histogramSnapshot(buckets, sum)),
);

const transport = s.object({
  chunks: count,
  bytes: count,
  failures,
  firstByteMs: histogram,
  totalMs: histogram,
});

const peerId = v.pipe(
  PeerUrl.schema(),
  v.transform(({ id }) => id),
  v.maxLength(longestUrl),
);

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
    nodes: tally,
    joined: count,
    stored: tally,
    unstored: count,
    damaged: count,
  }),
  files: s.object({ damaged: count, refused: count }),
  peers: v.pipe(
    v.custom<unknown[]>(Array.isArray),
    // No method of a value from a site: a list can have a `constructor` of its own, which `slice` would call.
    v.transform((peers) => Array.from({ length: Math.min(peers.length, mostPeers) }, (_, i) => peers[i])),
    v.array(peer),
  ),
});

const cache = s.object({
  count,
  bytes: count,
  waiting: count,
  maxBytes: count,
  available: v.boolean(),
  quota: v.nullable(count),
  usage: v.nullable(count),
  persisted: v.boolean(),
});

/** The site can change the data on its origin, so no field is trusted. Returns undefined for another shape. */
export function siteStats(value: unknown): StatsSnapshot | undefined {
  const parsed = parsedIfValid(stats, value);
  // A worker counts `reading` only for pages that watch, and would broadcast it to all pages of the site.
  return parsed && { ...parsed, reading: null };
}

/** As `siteStats`, for the storage report. */
export function siteCache(value: unknown): CacheState | undefined {
  const parsed = parsedIfValid(cache, value);
  return parsed && { ...parsed, reason: null };
}

function parsedIfValid<T>(schema: s.Schema<T>, value: unknown): T | undefined {
  const result = v.safeParse(schema, value, { abortEarly: true });
  return result.success ? result.output : undefined;
}
