import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HedgeBudget, type HedgedTry, hedge, lostHedge } from '../../src/peers/selection/hedge.ts';

/** A try that is settled by hand. @param looksUp whether it looks the record up in a network. */
function manual(firstByte = 100, looksUp = false) {
  let settle!: { resolve(value: string): void; reject(error: unknown): void };
  const state = {
    started: false,
    isHedge: false,
    reason: undefined as unknown,
    firstByte: () => {},
    busy: (_isOverloaded: boolean) => {},
  };
  const attempt: HedgedTry<string> = {
    hedgeDelayMs: { firstByte, rest: 10 * firstByte },
    looksUp: () => looksUp,
    run: (signal, onFirstByte, isHedge, onBusy) => {
      state.started = true;
      state.isHedge = isHedge;
      state.firstByte = onFirstByte;
      state.busy = onBusy;
      signal.addEventListener('abort', () => {
        state.reason = signal.reason;
      });
      return new Promise((resolve, reject) => {
        settle = { resolve, reject };
      });
    },
  };
  return {
    attempt,
    state,
    resolve: (value: string) => settle.resolve(value),
    reject: (error: unknown) => settle.reject(error),
  };
}

const options = () => ({ signal: new AbortController().signal, maxParallel: 2, mayHedge: () => true });

describe('hedge', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('asks only the first while it is as fast as it usually is', async () => {
    const [a, b] = [manual(), manual()];
    const result = hedge([a.attempt, b.attempt], options());
    await vi.advanceTimersByTimeAsync(99);
    a.resolve('a');
    expect(await result).toBe('a');
    expect(a.state.isHedge).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(b.state.started).toBe(false);
  });

  it('asks the next peer if one is slow, takes the first answer and aborts the other', async () => {
    const [a, b] = [manual(), manual()];
    const result = hedge([a.attempt, b.attempt], options());
    await vi.advanceTimersByTimeAsync(100);
    expect(b.state.started).toBe(true);
    b.resolve('b');
    expect(await result).toBe('b');
    expect([a.state.isHedge, b.state.isHedge]).toEqual([false, true]);
    expect(a.state.reason).toBe(lostHedge);
  });

  it('waits longer once the answer has begun', async () => {
    const [a, b] = [manual(), manual()];
    const result = hedge([a.attempt, b.attempt], options());
    await vi.advanceTimersByTimeAsync(90);
    a.state.firstByte();
    await vi.advanceTimersByTimeAsync(999);
    expect(b.state.started).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(b.state.started).toBe(true);
    a.resolve('a');
    expect(await result).toBe('a');
  });

  it('goes on to the next at once when one fails, and fails with the last error', async () => {
    const [a, b] = [manual(), manual()];
    const result = hedge([a.attempt, b.attempt], options());
    const failure = expect(result).rejects.toThrow('second');
    a.reject(new Error('first'));
    await vi.advanceTimersByTimeAsync(0);
    expect(b.state).toMatchObject({ started: true, isHedge: false });
    b.reject(new Error('second'));
    await failure;
  });

  it('does not fail while another try is under way', async () => {
    const [a, b] = [manual(), manual()];
    const result = hedge([a.attempt, b.attempt], options());
    await vi.advanceTimersByTimeAsync(100);
    b.reject(new Error('broken'));
    await vi.advanceTimersByTimeAsync(0);
    a.resolve('a');
    expect(await result).toBe('a');
  });

  it('never has more under way than it may', async () => {
    const tries = [manual(), manual(), manual()];
    const result = hedge(
      tries.map(({ attempt }) => attempt),
      options(),
    );
    await vi.advanceTimersByTimeAsync(5000);
    expect(tries.map(({ state }) => state.started)).toEqual([true, true, false]);
    tries[0]!.resolve('a');
    await result;
  });

  it('starts nothing beside a slow one without a budget', async () => {
    const [a, b] = [manual(), manual()];
    const result = hedge([a.attempt, b.attempt], { ...options(), mayHedge: () => false });
    await vi.advanceTimersByTimeAsync(5000);
    expect(b.state.started).toBe(false);
    a.resolve('a');
    await result;
  });

  it('starts one as soon as there is a budget again, and stops asking for it when all is done', async () => {
    const [a, b] = [manual(), manual()];
    const mayHedge = vi.fn(() => false);
    const result = hedge([a.attempt, b.attempt], { ...options(), mayHedge });
    await vi.advanceTimersByTimeAsync(1000);
    expect(b.state.started).toBe(false);
    mayHedge.mockReturnValue(true);
    await vi.advanceTimersByTimeAsync(100);
    expect(b.state.started).toBe(true);
    b.resolve('b');
    expect(await result).toBe('b');
    expect([a.state.isHedge, b.state.isHedge]).toEqual([false, true]);
    const asked = mayHedge.mock.calls.length;
    await vi.advanceTimersByTimeAsync(5000);
    expect(mayHedge).toHaveBeenCalledTimes(asked);
  });

  it('needs no budget for a peer that is known to be much faster, once the others are late', async () => {
    const [a, b, c] = [manual(), manual(), manual()];
    let bMs: number | undefined;
    b.attempt.largestChunkMs = () => bMs;
    c.attempt.largestChunkMs = () => 3_000;
    const tries = [a.attempt, b.attempt, c.attempt];
    const result = hedge(tries, { ...options(), maxParallel: 3, lateMs: 5_000, mayHedge: () => false });
    a.state.firstByte();
    await vi.advanceTimersByTimeAsync(8_000);
    expect(b.state.started, 'a peer that was not measured').toBe(false);
    bMs = 5_000;
    await vi.advanceTimersByTimeAsync(1_900);
    expect(b.state.started, 'before twice its time').toBe(false);
    await vi.advanceTimersByTimeAsync(1_100);
    expect([b.state.started, b.state.isHedge, c.state.started]).toEqual([true, true, false]);
    await vi.advanceTimersByTimeAsync(4_500);
    expect(c.state.started, 'before the hedge is late too').toBe(false);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(c.state.started).toBe(true);
    c.resolve('c');
    expect(await result).toBe('c');
    expect(a.state.reason).toBe(lostHedge);
  });

  it('needs a budget for a faster peer before the others are late', async () => {
    const [a, b] = [manual(), manual()];
    b.attempt.largestChunkMs = () => 10;
    const result = hedge([a.attempt, b.attempt], { ...options(), lateMs: 5_000, mayHedge: () => false });
    await vi.advanceTimersByTimeAsync(4_900);
    expect(b.state.started).toBe(false);
    await vi.advanceTimersByTimeAsync(1_100);
    expect(b.state.started).toBe(true);
    b.resolve('b');
    await result;
  });

  it('aborts everything when the caller goes away', async () => {
    const [a, b] = [manual(), manual()];
    const caller = new AbortController();
    const result = hedge([a.attempt, b.attempt], { ...options(), signal: caller.signal });
    await vi.advanceTimersByTimeAsync(100);
    const gone = new Error('gone');
    const failure = expect(result).rejects.toBe(gone);
    caller.abort(gone);
    await failure;
    expect([a.state.reason, b.state.reason]).toEqual([gone, gone]);
  });
});

describe('while a try looks a record up in a network,', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const lookupMs = 10_000;
  const inNetwork = () => manual(100, true);
  const run = (...tries: ReturnType<typeof manual>[]) =>
    hedge(
      tries.map(({ attempt }) => attempt),
      { ...options(), lookupMs },
    );
  const started = (...tries: ReturnType<typeof manual>[]) => tries.map(({ state }) => state.started);

  it('no other lookup is a hedge before the time for lookups is over', async () => {
    const [a, b] = [inNetwork(), inNetwork()];
    const result = run(a, b);
    await vi.advanceTimersByTimeAsync(lookupMs - 1);
    expect(b.state.started).toBe(false);
    await vi.advanceTimersByTimeAsync(2);
    expect(b.state).toMatchObject({ started: true, isHedge: true });
    b.resolve('b');
    expect(await result).toBe('b');
  });

  it('the next lookup after the time for one needs no budget, and a third lookup does', async () => {
    const [a, b, c] = [inNetwork(), inNetwork(), inNetwork()];
    const tries = [a, b, c].map(({ attempt }) => attempt);
    const result = hedge(tries, { ...options(), maxParallel: 3, lookupMs, mayHedge: () => false });
    await vi.advanceTimersByTimeAsync(lookupMs + 1);
    expect(started(a, b, c)).toEqual([true, true, false]);
    await vi.advanceTimersByTimeAsync(lookupMs / 2);
    expect(c.state.started).toBe(false);
    await vi.advanceTimersByTimeAsync(lookupMs / 2 + 1_000);
    expect(c.state.started).toBe(true);
    c.resolve('c');
    expect(await result).toBe('c');
  });

  it('the next try without a network is a hedge', async () => {
    const [a, b, c] = [inNetwork(), inNetwork(), manual()];
    const result = run(a, b, c);
    await vi.advanceTimersByTimeAsync(100);
    expect(started(a, b, c)).toEqual([true, false, true]);
    a.resolve('a');
    await result;
  });

  it('hedges start as usual once the answer has begun', async () => {
    const [a, b] = [inNetwork(), inNetwork()];
    const result = run(a, b);
    a.state.firstByte();
    await vi.advanceTimersByTimeAsync(1000);
    expect(b.state).toMatchObject({ started: true, isHedge: true });
    a.resolve('a');
    await result;
  });

  it('no other lookup starts when it is busy', async () => {
    const [a, b] = [inNetwork(), inNetwork()];
    const result = run(a, b);
    a.state.busy(false);
    await vi.advanceTimersByTimeAsync(lookupMs - 1);
    expect(b.state.started).toBe(false);
    a.resolve('a');
    expect(await result).toBe('a');
  });

  it('another lookup starts at once when its peer has too many requests', async () => {
    const [a, b] = [inNetwork(), inNetwork()];
    const result = run(a, b);
    a.state.busy(true);
    expect(b.state).toMatchObject({ started: true, isHedge: false });
    b.resolve('b');
    expect(await result).toBe('b');
  });

  it('a failed try is not replaced by another lookup', async () => {
    const [a, b, c] = [inNetwork(), manual(), inNetwork()];
    const result = run(a, b, c);
    await vi.advanceTimersByTimeAsync(100);
    b.reject(new Error('absent'));
    await vi.advanceTimersByTimeAsync(lookupMs - 200);
    expect(started(a, b, c)).toEqual([true, true, false]);
    a.reject(new Error('absent'));
    await vi.advanceTimersByTimeAsync(0);
    expect(c.state).toMatchObject({ started: true, isHedge: false });
    c.resolve('c');
    expect(await result).toBe('c');
  });
});

describe('a busy try', () => {
  it('is accompanied by the next one once, however often it is busy', async () => {
    const [a, b, c] = [manual(), manual(), manual()];
    const result = hedge([a.attempt, b.attempt, c.attempt], options());
    a.state.busy(false);
    a.state.busy(false);
    expect([b, c].map(({ state }) => state.started)).toEqual([true, false]);
    a.resolve('a');
    expect(await result).toBe('a');
    expect(b.state.reason).toBe(lostHedge);
  });

  it('is accompanied by another lookup when its peer has too many requests later', async () => {
    const [a, b] = [manual(100, true), manual(100, true)];
    const result = hedge([a.attempt, b.attempt], { ...options(), lookupMs: 10_000 });
    a.state.busy(false);
    expect(b.state.started).toBe(false);
    a.state.busy(true);
    expect(b.state.started).toBe(true);
    a.resolve('a');
    expect(await result).toBe('a');
  });

  it('that has failed meanwhile starts no other try', async () => {
    const [a, b, c] = [manual(), manual(), manual()];
    const result = hedge([a.attempt, b.attempt, c.attempt], { ...options(), maxParallel: 3 });
    a.reject(new Error('gone'));
    await Promise.resolve();
    await Promise.resolve();
    expect(b.state.started).toBe(true);
    a.state.busy(false);
    expect(c.state.started).toBe(false);
    b.resolve('b');
    expect(await result).toBe('b');
  });
});

describe('a hedge budget', () => {
  it('allows a burst, then a share of the requests', () => {
    const budget = new HedgeBudget(0.5, 2);
    expect([budget.spend(), budget.spend(), budget.spend()]).toEqual([true, true, false]);
    budget.earn();
    expect(budget.spend()).toBe(false);
    budget.earn();
    expect(budget.spend()).toBe(true);
    for (let i = 0; i < 100; i++) budget.earn();
    expect([budget.spend(), budget.spend(), budget.spend()]).toEqual([true, true, false]);
  });
});
