import { median } from '../numbers.ts';

/**
 * The value below which a share of all values lies: the nearest rank, so always one that occurred.
 * @param share above 0, at most 1.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(Math.ceil(share * sorted.length) - 1, 0)]!;
}

/** A description of a set of values. */
export interface Distribution {
  median: number;
  least: number;
  most: number;
}

/** @throws RangeError when there is no value. */
export function distribution(values: readonly number[]): Distribution {
  if (values.length === 0) throw new RangeError('Nothing was measured.');
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
}

/** Whether two ranges of values have none in common, so that their difference is more than their noise. */
export function areApart(a: Distribution, b: Distribution): boolean {
  return a.most < b.least || b.most < a.least;
}
