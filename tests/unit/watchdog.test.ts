import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { raceAbort, transferMs, Watchdog } from '../../src/util/watchdog.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const times = { stallMs: 1000, totalMs: 5000 };
const unreachable = expect.objectContaining({ code: 'PEERS_UNREACHABLE' });

describe('the watchdog', () => {
  it('aborts when nothing happened for the stall time, and says so', () => {
    const watchdog = new Watchdog(times);
    vi.advanceTimersByTime(999);
    expect(watchdog.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(watchdog.signal.reason).toEqual(unreachable);
    expect(watchdog.signal.reason.message).toContain('1 seconds');
  });

  it('waits anew whenever something arrives', () => {
    const watchdog = new Watchdog(times);
    for (let i = 0; i < 4; i++) {
      vi.advanceTimersByTime(900);
      watchdog.touch();
    }
    expect(watchdog.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1000);
    expect(watchdog.signal.aborted).toBe(true);
  });

  it('aborts after the total time, however often something arrives', () => {
    const watchdog = new Watchdog(times);
    for (let i = 0; i < 49; i++) {
      vi.advanceTimersByTime(100);
      watchdog.touch();
    }
    expect(watchdog.signal.aborted).toBe(false);
    vi.advanceTimersByTime(100);
    expect(watchdog.signal.reason).toEqual(unreachable);
  });

  it('aborts with the caller’s reason when the caller aborts, before or after it was made', () => {
    const controller = new AbortController();
    const watchdog = new Watchdog({ ...times, signal: controller.signal });
    const reason = new Error('navigated away');
    controller.abort(reason);
    expect(watchdog.signal.reason).toBe(reason);
    expect(new Watchdog({ ...times, signal: controller.signal }).signal.reason).toBe(reason);
  });

  it('does nothing once stopped, and leaves no timer behind', () => {
    const controller = new AbortController();
    const watchdog = new Watchdog({ ...times, signal: controller.signal });
    watchdog.stop();
    expect(vi.getTimerCount()).toBe(0);
    controller.abort();
    vi.advanceTimersByTime(60_000);
    expect(watchdog.signal.aborted).toBe(false);
  });

  it('ends a wait that would never end', async () => {
    const watchdog = new Watchdog(times);
    const waiting = expect(watchdog.race(new Promise(() => {}))).rejects.toEqual(unreachable);
    vi.advanceTimersByTime(1000);
    await waiting;
  });

  it('allows a full chunk some minutes at the slowest rate', () => {
    expect(transferMs(4 * 1024 * 1024)).toBe(256_000);
  });
});

describe('a race against a signal', () => {
  it('is won by whichever comes first', async () => {
    const { signal } = new AbortController();
    await expect(raceAbort(Promise.resolve(7), signal)).resolves.toBe(7);
    await expect(raceAbort(Promise.reject(new Error('own')), signal)).rejects.toThrow('own');
    await expect(raceAbort(Promise.resolve(7), AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  });

  it('handles a promise that fails after the signal has won', async () => {
    let reject = (_: Error): void => {};
    const promise = new Promise<void>((_, fail) => {
      reject = fail;
    });
    const controller = new AbortController();
    const race = raceAbort(promise, controller.signal);
    controller.abort(new Error('first'));
    await expect(race).rejects.toThrow('first');
    reject(new Error('late: unhandled, it would fail this file'));
    await vi.advanceTimersByTimeAsync(1);
  });
});
