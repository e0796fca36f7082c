import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { observe } from '../../src/gateway/http/observe-request.ts';
import { Stats } from '../../src/stats/stats.ts';
import { Trace } from '../../src/stats/trace.ts';

/** A request that is observed, with what the counters say. */
function observed(request = new Request('https://gateway.example/x')) {
  const stats = new Stats();
  const timings = vi.spyOn(stats, 'requestEnded');
  let ends = 0;
  const observation = observe(request, stats, new Trace('/x'), () => ends++);
  return {
    ...observation,
    ends: () => ends,
    counts: () => stats.snapshot(),
    /** The arguments of each report that the request has ended. */
    told: () => timings.mock.calls,
  };
}

describe('an observed request', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is active until its body has ended, and counts its bytes and times', () => {
    const { observer, transfer, counts, ends, told } = observed();
    expect(counts().requests).toMatchObject({ total: 1, active: 1 });
    vi.advanceTimersByTime(30);
    observer.sent(10);
    vi.advanceTimersByTime(50);
    observer.sent(5);
    expect([ends(), transfer.state, transfer.sent]).toEqual([0, 'active', 15]);
    vi.advanceTimersByTime(20);
    observer.ended();
    expect(told()).toEqual([[undefined, { firstByteMs: 30, totalMs: 100 }]]);
    expect([ends(), transfer.state]).toEqual([1, 'done']);
    expect(counts()).toMatchObject({ servedBytes: 15, requests: { active: 0 } });
  });

  it('ends once', () => {
    const { observer, ends, told } = observed();
    observer.ended('NOT_FOUND');
    observer.ended();
    expect(ends()).toBe(1);
    expect(told()).toEqual([['NOT_FOUND', undefined]]);
  });

  it('that fails has no times, and counts as failed', () => {
    const { observer, transfer, counts, told } = observed();
    observer.sent(1);
    observer.ended('CORRUPT');
    expect(told()).toEqual([['CORRUPT', undefined]]);
    expect(transfer.state).toBe('failed');
    expect(counts().requests.failed).toEqual({ CORRUPT: 1 });
  });

  it('without a body has no times', () => {
    const { observer, transfer, told } = observed();
    observer.ended();
    expect(told()).toEqual([[undefined, undefined]]);
    expect(transfer.state).toBe('done');
  });

  it('ends when the client leaves, and aborts with its reason', () => {
    const { observer, signal, transfer, ends, told } = observed();
    observer.sent(1);
    expect(signal.aborted).toBe(false);
    observer.left!('closed');
    expect([signal.aborted, signal.reason]).toEqual([true, 'closed']);
    observer.ended();
    expect(told()).toEqual([[undefined, undefined]]);
    expect([ends(), transfer.state]).toEqual([1, 'left']);
  });

  it('ends when the browser aborts it, before or after its start', () => {
    const controller = new AbortController();
    const request = new Request('https://gateway.example/x', { signal: controller.signal });
    const running = observed(request);
    expect(running.signal.aborted).toBe(false);
    controller.abort(new Error('stopped'));
    expect(running.signal.reason).toEqual(new Error('stopped'));
    expect([running.ends(), running.transfer.state]).toEqual([1, 'left']);
    const late = observed(request);
    expect(late.signal.reason).toEqual(new Error('stopped'));
  });

  it('is not aborted by its end', () => {
    const { observer, signal, transfer, ends } = observed();
    observer.ended();
    expect(signal.aborted).toBe(false);
    observer.left!('late');
    expect([ends(), transfer.state]).toEqual([1, 'done']);
  });
});
