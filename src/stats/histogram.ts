/** Upper bounds of the buckets, in milliseconds: each 1.5 times the previous one, from 1 ms to about two minutes. */
const bounds: readonly number[] = Array.from({ length: 30 }, (_, i) => 1.5 ** i);

export const bucketCount = bounds.length + 1;

export interface HistogramSnapshot {
  count: number;
  /** Sum of all values, in milliseconds. */
  sum: number;
  /** Number of values up to each of `bounds`, and at the end the number of values above all bounds. */
  buckets: number[];
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

/** @param count sum of the buckets. */
function quantile(buckets: readonly number[], count: number, share: number): number | null {
  if (count === 0) return null;
  let rank = share * count;
  for (const [i, inBucket] of buckets.entries()) {
    if (rank <= inBucket && inBucket > 0) {
      const low = bounds[i - 1] ?? 0;
      const high = bounds[i] ?? bounds.at(-1)! * 1.5;
      return low + (high - low) * (rank / inBucket);
    }
    rank -= inBucket;
  }
  return bounds.at(-1)!;
}

/** Returns a histogram with its percentiles, rounded to a tenth of a millisecond. */
export function histogramSnapshot(buckets: number[], sum: number): HistogramSnapshot {
  const count = buckets.reduce((total, inBucket) => total + inBucket, 0);
  const rounded = (share: number) => {
    const value = quantile(buckets, count, share);
    return value === null ? null : Math.round(value * 10) / 10;
  };
  return { count, sum, buckets, p50: rounded(0.5), p95: rounded(0.95), p99: rounded(0.99) };
}

/** Latencies in buckets of growing width: a few hundred bytes, independent of the number of values. */
export class Histogram {
  readonly #buckets = new Array<number>(bucketCount).fill(0);
  #count = 0;
  #sum = 0;

  /** @param milliseconds 0 or more. */
  record(milliseconds: number): void {
    let bucket = 0;
    while (bucket < bounds.length && milliseconds > bounds[bucket]!) bucket++;
    this.#buckets[bucket]!++;
    this.#count++;
    this.#sum += milliseconds;
  }

  get count(): number {
    return this.#count;
  }

  /** The value below which a share (0 to 1) of all values lies, interpolated in its bucket. Null without values. */
  quantile(share: number): number | null {
    return quantile(this.#buckets, this.#count, share);
  }

  snapshot(): HistogramSnapshot {
    return histogramSnapshot([...this.#buckets], Math.round(this.#sum));
  }

  /** Halves every count if there are more than `count` values, so that new values weigh more than old ones. */
  decayBeyond(count: number): void {
    if (this.#count <= count) return;
    this.#count = 0;
    for (const [i, count] of this.#buckets.entries()) {
      this.#buckets[i] = Math.floor(count / 2);
      this.#count += this.#buckets[i]!;
    }
    this.#sum /= 2;
  }
}
