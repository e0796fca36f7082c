import type { StatsSnapshot } from '../../stats/stats.ts';

/** The number of samples in the chart: one minute. */
export const sampleCount = 60;

/** A worker's counter at one time, in milliseconds of a monotonic clock. */
export interface CounterAt {
  at: number;
  startedAt: number;
  servedBytes: number;
}

export interface Throughput {
  /** Bytes per second, oldest first. */
  samples: readonly number[];
  last: CounterAt | null;
}

export const noThroughput: Throughput = { samples: [], last: null };

export function counterAt({ startedAt, servedBytes }: StatsSnapshot, at: number): CounterAt {
  return { at, startedAt, servedBytes };
}

/** @returns bytes per second, at least 0; null if there is no rate, because the worker and its counters are new. */
export function rateBetween(last: CounterAt | null, next: CounterAt): number | null {
  if (!last || last.startedAt !== next.startedAt || next.at <= last.at) return null;
  return Math.max(0, ((next.servedBytes - last.servedBytes) * 1000) / (next.at - last.at));
}

/** @param now milliseconds of a monotonic clock. */
export function addSample({ samples, last }: Throughput, stats: StatsSnapshot, now: number): Throughput {
  const next = counterAt(stats, now);
  const rate = rateBetween(last, next);
  return { samples: rate === null ? samples : withSample(samples, rate), last: next };
}

/** @returns at most one minute of samples. */
export function withSample(samples: readonly number[], rate: number): number[] {
  return [...samples, rate].slice(-sampleCount);
}

/** Adds the rates of several origins. The newest samples are aligned. */
export function sumSamples(all: readonly (readonly number[])[]): number[] {
  const length = Math.max(0, ...all.map((samples) => samples.length));
  return Array.from({ length }, (_, i) =>
    all.reduce((sum, samples) => sum + (samples[samples.length - length + i] ?? 0), 0),
  );
}
