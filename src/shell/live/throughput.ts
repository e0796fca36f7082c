import type { StatsSnapshot } from '../../stats/stats.ts';

/** How many samples the picture of the throughput shows: a minute of seconds. */
export const sampleCount = 60;

/** Rates of the last minute, and the counter that the next rate is measured from. */
export interface Throughput {
  /** Bytes per second, oldest first. */
  samples: readonly number[];
  last: { at: number; startedAt: number; servedBytes: number } | null;
}

export const noThroughput: Throughput = { samples: [], last: null };

/**
 * Adds the rate since the last sample.
 *
 * @param now milliseconds of a clock that does not jump.
 */
export function addSample(throughput: Throughput, stats: StatsSnapshot, now: number): Throughput {
  const { samples, last } = throughput;
  const next = { at: now, startedAt: stats.startedAt, servedBytes: stats.servedBytes };
  // A browser may have started the worker anew, and its counters with it.
  if (!last || last.startedAt !== stats.startedAt || now <= last.at) return { samples, last: next };
  const rate = ((stats.servedBytes - last.servedBytes) * 1000) / (now - last.at);
  return { samples: [...samples, rate].slice(-sampleCount), last: next };
}
