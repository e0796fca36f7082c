import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noThroughput, ratesOf, sumThroughput, type Throughput } from '../../src/shell/live/throughput.ts';
import { historySeconds } from '../../src/stats/activity.ts';

/** The last seconds of one origin. Earlier seconds are quiet. */
function throughput(...servedBytes: number[]): Throughput {
  const quiet = noThroughput.servedBytes.slice(servedBytes.length);
  return { ...noThroughput, servedBytes: [...quiet, ...servedBytes] };
}

test('the average is over the seconds with bytes, and the peak has its position', () => {
  const { servedBytes } = throughput(300, 0, 0, 900, 0);
  expect(ratesOf(servedBytes)).toEqual({ now: 300, average: 600, peak: 900, peakAt: historySeconds - 2 });
});

test('a quiet origin has rates of 0 and no position of a peak', () => {
  expect(ratesOf(noThroughput.peerBytes)).toEqual({ now: 0, average: 0, peak: 0, peakAt: null });
});

test('the newest of several equal peaks is marked', () => {
  expect(ratesOf([5, 1, 5, 1]).peakAt).toBe(2);
});

test('the rates of several origins add up, with their newest seconds aligned', () => {
  const { servedBytes, peerBytes } = sumThroughput([throughput(1, 2, 3), throughput(10)]);
  expect(servedBytes.slice(-3)).toEqual([1, 2, 13]);
  expect(Math.max(...peerBytes)).toBe(0);
  expect(servedBytes).toHaveLength(historySeconds);
});

test('no origin at all gives quiet seconds', () => {
  expect(sumThroughput([])).toEqual(noThroughput);
});

test('an average is never above the peak', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1e12), { maxLength: historySeconds }), (samples) => {
      const { average, peak } = ratesOf(samples);
      expect(average).toBeLessThanOrEqual(peak);
    }),
  );
});
