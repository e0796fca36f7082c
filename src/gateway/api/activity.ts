import { historySeconds, type LifetimeCounts } from '../../stats/activity.ts';
import type { TransferReport } from '../../stats/transfers.ts';
import type { Endpoint } from './endpoint.ts';

/** The body of `GET /-/activity`. It outlives the worker, except for `transfers`. */
export interface ActivityReport {
  /** Bytes of each of the last `historySeconds` seconds, oldest first. The last second is complete. */
  peerBytes: number[];
  servedBytes: number[];
  lifetime: LifetimeCounts;
  /** When `lifetime` began, in milliseconds since 1970. */
  since: number;
  /** The worker's clock, in milliseconds since 1970. */
  now: number;
  transfers: TransferReport[];
}

/** `/-/activity`: the bytes of the last minutes, totals, and the transfers to pages. DELETE resets all counters. */
export const activity: Endpoint = {
  async GET(_url, _request, { activity, stats }): Promise<ActivityReport> {
    const now = Date.now();
    const { seconds, lifetime, since } = await activity.read(now);
    const first = Math.floor(now / 1000) - historySeconds;
    const ofEach = (kind: 'peerBytes' | 'servedBytes') =>
      Array.from({ length: historySeconds }, (_, i) => seconds.get(first + i)?.[kind] ?? 0);
    return {
      peerBytes: ofEach('peerBytes'),
      servedBytes: ofEach('servedBytes'),
      ...{ lifetime, since, now, transfers: stats.transfers.report(now) },
    };
  },
  async DELETE(_url, _request, { activity, stats }) {
    await activity.clear();
    stats.reset();
  },
};
