import { expect, test } from 'vitest';
import { addSample, noThroughput, sampleCount, type Throughput } from '../../src/shell/live/throughput.ts';
import { Stats, type StatsSnapshot } from '../../src/stats/stats.ts';

const empty = new Stats().snapshot();
/** The counters of a worker that started at `startedAt` and served this much since. */
const served = (servedBytes: number, startedAt = 1): StatsSnapshot => ({ ...empty, servedBytes, startedAt });

/** Samples of one worker's counter, one each second. */
function sampled(...counters: number[]): Throughput {
  return counters.reduce(
    (throughput, bytes, i) => addSample(throughput, served(bytes), 1_000 * i),
    noThroughput,
  );
}

test('the first sample gives no rate, because the start of the counter is unknown', () => {
  expect(sampled(5_000_000).samples).toEqual([]);
});

test('a rate is the bytes served between two samples, per second', () => {
  expect(sampled(1_000, 3_000, 3_000, 3_500).samples).toEqual([2_000, 0, 500]);
});

test('a late sample measures over the elapsed time', () => {
  const before = addSample(noThroughput, served(0), 0);
  expect(addSample(before, served(6_000), 4_000).samples).toEqual([1_500]);
});

test('two samples at the same time give no rate', () => {
  const before = addSample(noThroughput, served(0), 500);
  expect(addSample(before, served(6_000), 500).samples).toEqual([]);
});

test('a restarted worker counts from zero, and never below', () => {
  const before = sampled(0, 9_000);
  const restarted = addSample(before, served(100, 2), 2_000);
  expect(restarted.samples).toEqual([9_000]);
  expect(addSample(restarted, served(400, 2), 3_000).samples).toEqual([9_000, 300]);
});

test('a minute of samples is stored, the newest last', () => {
  const counters = Array.from({ length: sampleCount + 11 }, (_, i) => (i * (i - 1)) / 2);
  const { samples } = sampled(...counters);
  expect(samples).toHaveLength(sampleCount);
  expect([samples[0], samples.at(-1)]).toEqual([10, sampleCount + 9]);
});

test('samples that a chart was drawn from are never changed', () => {
  const before = sampled(0, 1_000);
  const { samples } = before;
  addSample(before, served(5_000), 2_000);
  expect(samples).toEqual([1_000]);
});
