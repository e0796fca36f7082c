import { describe, expect, it } from 'vitest';
import { RateMeter } from '../../src/stats/rate.ts';

/** Bytes that arrive evenly: `perSecond` of them, in twenty pieces a second. */
function arrive(meter: RateMeter, perSecond: number, from: number, seconds: number): number {
  const end = from + 1000 * seconds;
  for (let now = from; now < end; now += 50) meter.record(perSecond / 20, now);
  return end;
}

describe('a rate meter', () => {
  it('knows nothing before anything has arrived', () => {
    expect(new RateMeter().bytesPerSecond(0)).toBe(0);
  });

  it('tells the rate at which bytes arrive', () => {
    const meter = new RateMeter();
    const now = arrive(meter, 1_000_000, 5000, 3);
    expect(meter.bytesPerSecond(now)).toBeGreaterThan(900_000);
    expect(meter.bytesPerSecond(now)).toBeLessThan(1_200_000);
  });

  it('remembers the highest rate through a slow while, and forgets it in time', () => {
    const meter = new RateMeter();
    let now = arrive(meter, 8_000_000, 0, 3);
    now = arrive(meter, 100_000, now, 5);
    expect(meter.bytesPerSecond(now)).toBeGreaterThan(4_000_000);
    now = arrive(meter, 100_000, now, 300);
    expect(meter.bytesPerSecond(now)).toBeLessThan(200_000);
  });

  it('does not take a pause for a slow link', () => {
    const meter = new RateMeter();
    const now = arrive(meter, 1_000_000, 0, 2);
    meter.record(10, now + 60_000);
    meter.record(10, now + 60_010);
    expect(meter.bytesPerSecond(now + 60_010)).toBeGreaterThan(100_000);
  });
});
