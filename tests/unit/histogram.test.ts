import { describe, expect, it } from 'vitest';
import { Histogram } from '../../src/stats/histogram.ts';

describe('a histogram', () => {
  it('has no quantiles before anything is recorded', () => {
    expect(new Histogram().quantile(0.95)).toBeNull();
  });

  it('tells quantiles to within a bucket’s width', () => {
    const histogram = new Histogram();
    for (let i = 1; i <= 1000; i++) histogram.record(i);
    for (const share of [0.5, 0.95, 0.99]) {
      const exact = 1000 * share;
      expect(histogram.quantile(share)!).toBeGreaterThan(exact / 1.5);
      expect(histogram.quantile(share)!).toBeLessThan(exact * 1.5);
    }
    expect(histogram.snapshot()).toMatchObject({ count: 1000, sum: 500_500 });
  });

  it('lets new values outweigh old ones after a decay', () => {
    const histogram = new Histogram();
    for (let i = 0; i < 100; i++) histogram.record(10);
    for (let i = 0; i < 5; i++) histogram.decayBeyond(1);
    for (let i = 0; i < 10; i++) histogram.record(1000);
    expect(histogram.quantile(0.5)!).toBeGreaterThan(500);
  });
});
