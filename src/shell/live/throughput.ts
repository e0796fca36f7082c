import { historySeconds } from '../../stats/activity.ts';

/** Bytes of each of the last seconds, oldest first. Both lists have the same length. */
export interface Throughput {
  peerBytes: readonly number[];
  servedBytes: readonly number[];
}

export const noThroughput: Throughput = {
  peerBytes: new Array<number>(historySeconds).fill(0),
  servedBytes: new Array<number>(historySeconds).fill(0),
};

/** Adds several origins. The newest seconds are aligned. */
export function sumThroughput(all: readonly Throughput[]): Throughput {
  const sum = (kind: keyof Throughput) =>
    noThroughput[kind].map((_, i) =>
      all.reduce((total, each) => total + (each[kind].at(i - historySeconds) ?? 0), 0),
    );
  return { peerBytes: sum('peerBytes'), servedBytes: sum('servedBytes') };
}

/** Rates in bytes per second. */
export interface Rates {
  now: number;
  /** Over the seconds with bytes. 0 without any. */
  average: number;
  peak: number;
  /** The position of the peak in the samples; null without bytes. */
  peakAt: number | null;
}

/** The number of seconds that count as "now". Pages read in bursts, so a single second would flicker. */
const nowSeconds = 3;

export function ratesOf(samples: readonly number[]): Rates {
  const busy = samples.filter((bytes) => bytes > 0);
  const peak = Math.max(0, ...busy);
  return {
    now: total(samples.slice(-nowSeconds)) / nowSeconds,
    average: busy.length > 0 ? total(busy) / busy.length : 0,
    peak,
    peakAt: peak > 0 ? samples.lastIndexOf(peak) : null,
  };
}

function total(samples: readonly number[]): number {
  return samples.reduce((sum, bytes) => sum + bytes, 0);
}
