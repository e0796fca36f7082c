import { vi } from 'vitest';

const realInterval = { set: setInterval, clear: clearInterval };
/** In milliseconds of the test's time. */
const stepMs = 50;
const speed = 10;

/**
 * Timers and clocks go ten times as fast until the test calls the result. Time passes in small steps, and only while the
 * process is not busy. So a slow machine does not change the order of events.
 */
export function startFastTime(): () => void {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
  });
  const ticking = realInterval.set(() => vi.advanceTimersByTime(stepMs), stepMs / speed);
  return () => {
    realInterval.clear(ticking);
    vi.useRealTimers();
  };
}
