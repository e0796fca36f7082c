import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import { askUntilAnswered, type PeerAnswer } from '../../src/peers/selection/pending-lookups.ts';
import type { BusyHint } from '../../src/peers/transports/protocol.ts';

const address = Address.fromHex('ab'.repeat(32));
const busy = (afterMs: number): PeerAnswer<string> => ({ busy: { afterMs } as BusyHint });

/** A request to a peer with these answers. */
function asking(answers: PeerAnswer<string>[]) {
  const controller = new AbortController();
  const request = { address, since: Date.now(), isBusy: false };
  const asked: boolean[] = [];
  const hints: BusyHint[] = [];
  const result = askUntilAnswered(
    request,
    async (mayAskAgain) => {
      asked.push(mayAskAgain({ afterMs: 1_000 } as BusyHint));
      return answers.shift()!;
    },
    { signal: controller.signal, onBusy: (hint) => hints.push(hint) },
  );
  return { result, request, asked, hints, controller };
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(0.4);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('a peer that answers at once is asked once, and is not busy', async () => {
  const { result, request, asked, hints } = asking([{ value: 'a' }]);
  expect(await result).toBe('a');
  expect([request.isBusy, asked.length, hints]).toEqual([false, 1, []]);
});

it('a busy peer is asked again a little after its hint', async () => {
  const { result, request, asked, hints } = asking([busy(1_000), busy(500), { value: 'a' }]);
  await vi.advanceTimersByTimeAsync(1_099);
  expect([request.isBusy, asked.length]).toEqual([true, 1]);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(550);
  expect(await result).toBe('a');
  expect(hints).toEqual([{ afterMs: 1_000 }, { afterMs: 500 }]);
});

it('a peer may be asked again only within the time for a lookup', async () => {
  const { total } = limits.busyMs;
  const { result, asked } = asking([busy((total - 1_000) / 1.1), busy(1), { value: 'a' }]);
  await vi.advanceTimersByTimeAsync(total);
  expect(await result).toBe('a');
  expect(asked).toEqual([true, true, false]);
});

it('a busy peer is not asked again after an abort', async () => {
  const { result, asked, controller } = asking([busy(1_000)]);
  await vi.advanceTimersByTimeAsync(10);
  controller.abort(new Error('enough'));
  await expect(result).rejects.toThrow('enough');
  expect(asked).toHaveLength(1);
});

it('nothing has to listen to a busy peer', async () => {
  const answers = [busy(10), { value: 'a' }];
  const request = { address, since: Date.now(), isBusy: false };
  const { signal } = new AbortController();
  const result = askUntilAnswered(request, async () => answers.shift()!, { signal });
  await vi.advanceTimersByTimeAsync(20);
  expect(await result).toBe('a');
});
