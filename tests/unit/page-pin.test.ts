import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DropInError } from '../../src/drop-in/error.ts';
import { AntError } from '../../src/fetch/ant-error.ts';
import type { ListedPin, PinProblem, PinState } from '../../src/library/pin-state.ts';
import { namedContent } from '../../src/page/content-text.ts';
import { type PinWorker, watchedPin } from '../../src/page/pin.ts';

const address = 'ab'.repeat(32);

function listed(stored: number, change: Partial<PinState> = {}): ListedPin {
  const share = { stored, total: 3 };
  const state = stored === 3 ? 'complete' : 'partial';
  const rest = { activity: 'fetching', bytesPerSecond: null, secondsLeft: null, problem: null } as const;
  return { address, chunks: share, bytes: share, state, ...rest, ...change };
}

/** A worker whose list changes with each look. */
function workerOf(looks: (ListedPin | undefined)[], closed = new AbortController().signal): PinWorker {
  return {
    closed,
    list: async () => [looks.length > 1 ? looks.shift() : looks[0]].filter((pin) => pin !== undefined),
    act: async (_, action) => listed(1, { activity: action === 'pause' ? 'paused' : 'fetching' }),
    remove: async () => undefined,
    failure: (code, message) => new AntError(code as 'NOT_FOUND', message),
  };
}

describe('a pin of a page', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Settles the promise while time passes. */
  async function settled(promise: Promise<void>): Promise<unknown> {
    const result = promise.then(
      () => 'done',
      (error: unknown) => error,
    );
    await vi.advanceTimersByTimeAsync(60_000);
    return Promise.race([result, Promise.resolve('pending')]);
  }

  it('tells each change once, and is done when all chunks are stored', async () => {
    const seen: number[] = [];
    const onProgress = ({ chunks }: PinState) => seen.push(chunks.stored);
    const worker = workerOf([listed(1), listed(1), listed(2), listed(3)]);
    const pin = watchedPin(worker, listed(0), { onProgress });
    expect(await settled(pin.done)).toBe('done');
    expect(seen).toEqual([0, 1, 2, 3]);
    expect(pin.state.state).toBe('complete');
  });

  const codes = ['TOO_LARGE', 'DENIED', 'UNSUPPORTED', 'PEERS_UNREACHABLE'] as const;

  it.each(codes)('fails with %s if the worker says that it is final', async (code) => {
    const problem = { code, message: 'a reason', isFinal: true };
    const pin = watchedPin(workerOf([listed(1, { problem, activity: 'waiting' })]), listed(0), {});
    expect(await settled(pin.done)).toMatchObject({ name: 'AntError', code, message: 'a reason' });
  });

  it.each(codes)('waits after %s if the worker tries again', async (code) => {
    const problem = { code, message: 'a reason', isFinal: false };
    const pin = watchedPin(workerOf([listed(1, { problem, activity: 'waiting' })]), listed(0), {});
    expect(await settled(pin.done)).toBe('pending');
    expect(pin.state.problem).toEqual(problem);
  });

  it('waits if a worker of an earlier version does not say whether the problem is final', async () => {
    const problem = { code: 'TOO_LARGE', message: 'a reason' } as PinProblem;
    const worker = workerOf([listed(1, { problem, activity: 'waiting' }), listed(3)]);
    expect(await settled(watchedPin(worker, listed(0), {}).done)).toBe('done');
  });

  it('fails when it was removed', async () => {
    const pin = watchedPin(workerOf([undefined]), listed(0), {});
    expect(await settled(pin.done)).toMatchObject({ name: 'AntError', code: 'NOT_FOUND' });
  });

  it('fails with the error of the progress function, and with the reason of a signal', async () => {
    const own = new RangeError('no room for the bar');
    const onProgress = () => {
      throw own;
    };
    expect(await settled(watchedPin(workerOf([listed(1)]), listed(0), { onProgress }).done)).toBe(own);
    const signal = AbortSignal.abort('why');
    expect(await settled(watchedPin(workerOf([listed(1)]), listed(0), { signal }).done)).toBe('why');
  });

  it('stops to look when the page closes it', async () => {
    const closing = new AbortController();
    const worker = workerOf([listed(1)], closing.signal);
    const looks = vi.spyOn(worker, 'list');
    const { done } = watchedPin(worker, listed(0), {});
    await vi.advanceTimersByTimeAsync(1_000);
    closing.abort('closed');
    expect(await settled(done)).toBe('closed');
    expect(looks.mock.calls.length).toBeLessThanOrEqual(2);
  });

  it('asks nothing before its end or its progress is wanted', async () => {
    const worker = workerOf([listed(1)]);
    const looks = vi.spyOn(worker, 'list');
    const pin = watchedPin(worker, listed(0), {});
    await vi.advanceTimersByTimeAsync(5_000);
    expect(looks).not.toHaveBeenCalled();
    await pin.pause();
    expect(pin.state.activity).toBe('paused');
  });
});

describe('the content that a page names', () => {
  it.each([
    '',
    'ant://',
    'javascript:alert(1)//',
    'ftp://example.com/a',
    'ant://manifest/AAAA',
    `https://gateway.example/#manifest/${'A'.repeat(1e6)}`,
    '../x',
    `ant://${'%'.repeat(1e6)}`,
  ])('is no address in %.40s', (text) => {
    const error = (() => {
      try {
        return namedContent(text);
      } catch (error) {
        return error;
      }
    })();
    expect(error).toBeInstanceOf(DropInError);
    expect(error).toMatchObject({ code: 'BAD_ADDRESS' });
    expect((error as Error).message.length).toBeLessThan(300);
  });

  it.each([5, null, undefined, {}, ['a']])('is a string or a URL, and not %s', (content) => {
    expect(() => namedContent(content as never)).toThrow(DropInError);
  });
});
