import * as v from 'valibot';
import type { ActivityReport } from '../../gateway/api/activity.ts';
import * as s from '../../schema.ts';
import { historySeconds } from '../../stats/activity.ts';
import { lifetimeSchema } from '../../stats/lifetime-schema.ts';

/** The maximum number of transfers of one origin, and the maximum length of a path. */
const mostTransfers = 40;
const longestPath = 1_000;

/** Up to about a petabyte. The sum of a few such values is still exact. */
const count = v.pipe(s.number(1e15), v.transform(Math.round));
const samples = v.pipe(s.list(count, historySeconds), v.length(historySeconds));

const transfer = s.object({
  id: count,
  path: v.pipe(v.string(), v.maxLength(longestPath)),
  size: v.nullable(count),
  sent: count,
  startedAt: count,
  endedAt: v.nullable(count),
  state: v.picklist(['active', 'done', 'failed', 'left']),
  chunks: s.object({ memory: count, disk: count, peer: count }),
});

const report = s.object({
  peerBytes: samples,
  servedBytes: samples,
  lifetime: lifetimeSchema(count),
  since: count,
  now: count,
  transfers: s.list(transfer, mostTransfers),
});

/** The site can change the data on its origin, so no field is trusted. Returns undefined for another shape. */
export function siteActivity(value: unknown): ActivityReport | undefined {
  const result = v.safeParse(report, value, { abortEarly: true });
  return result.success ? result.output : undefined;
}
