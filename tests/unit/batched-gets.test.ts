import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { AntwayError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { type BatchEvents, BatchedGets } from '../../src/peers/transports/batched-gets.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A request as the transport was asked for it, to be answered by the test. */
interface Asked {
  /** Which chunks, by their numbers. */
  chunks: number[];
  signal: AbortSignal;
  /** Of a request for several. */
  on?: BatchEvents;
  end(answer?: Bytes): void;
  fail(error: unknown): void;
}

const chunk = (number: number) => Address.fromHex(number.toString(16).padStart(64, '0'));
const numberOf = ({ hex }: Address) => Number.parseInt(hex, 16);
const bytesOf = (number: number) => Uint8Array.of(number);
const never = new AbortController().signal;
const settle = () => vi.advanceTimersByTimeAsync(0);
const broken = new AntwayError('PEERS_UNREACHABLE', 'The stream broke.');

let asked: Asked[];
let gets: BatchedGets;

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  gets = new BatchedGets({
    one: (address, signal) =>
      new Promise((resolve, reject) => {
        const end = (answer = bytesOf(numberOf(address))) => resolve(answer);
        asked.push({ chunks: [numberOf(address)], signal, end, fail: reject });
      }),
    several: (addresses, signal, on) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        asked.push({ chunks: addresses.map(numberOf), signal, on, end: () => resolve(), fail: reject });
      }),
  });
});
afterEach(() => void vi.useRealTimers());

const fetch = (number: number, signal = never) => gets.fetch(chunk(number), signal);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const chunksAsked = () => asked.map(({ chunks }) => chunks);
/** Has the request that is next answer these, in order. */
function answer({ chunks, on }: Asked, count: number, from = 0): void {
  for (let i = from; i < from + count; i++) {
    on!.bytes();
    on!.began(i, 1);
    on!.answered(i, Promise.resolve(bytesOf(chunks[i]!)));
  }
}

describe('requests for small chunks', () => {
  it('go out at once and alone if there are no others', async () => {
    const fetching = fetch(7);
    await settle();
    expect(chunksAsked()).toEqual([[7]]);
    expect(asked[0]!.on).toBeUndefined();
    asked[0]!.end();
    expect(await fetching).toEqual(bytesOf(7));
  });

  it('made at the same time share a stream, and each gets its own answer at once', async () => {
    const fetching = range(0, 5).map((number) => fetch(number));
    await settle();
    expect(chunksAsked()).toEqual([[0, 1, 2, 3, 4]]);
    const [several] = asked;
    several!.on!.opened();
    answer(several!, 2);
    expect(await fetching[0]).toEqual(bytesOf(0));
    expect(await fetching[1]).toEqual(bytesOf(1));
    answer(several!, 3, 2);
    several!.end();
    expect(await Promise.all(fetching)).toEqual(range(0, 5).map(bytesOf));
  });

  it('share a stream up to the limit of the protocol', async () => {
    for (const number of range(0, limits.addressesPerRequest + 3)) void fetch(number);
    await settle();
    expect(asked.map(({ chunks }) => chunks.length)).toEqual([limits.addressesPerRequest, 3]);
  });

  it('wait for each other only while some are under way, and only for a moment', async () => {
    const { streams, waitMs } = limits.batchedGets;
    for (const number of range(0, streams)) {
      void fetch(number);
      await settle();
    }
    expect(asked).toHaveLength(streams);
    void fetch(10);
    await settle();
    void fetch(11);
    await settle();
    expect(asked).toHaveLength(streams);
    await vi.advanceTimersByTimeAsync(waitMs);
    expect(chunksAsked().at(-1)).toEqual([10, 11]);
    // An end is sooner than the moment.
    void fetch(12);
    await settle();
    asked[0]!.end();
    await settle();
    expect(chunksAsked().at(-1)).toEqual([12]);
  });

  it('that are aborted are not sent; a stream is reset when its last request is aborted', async () => {
    const [first, second, third] = range(0, 3).map(() => new AbortController());
    const fetching = [first, second, third].map((controller, i) => fetch(i, controller!.signal));
    const gone = new Error('gone');
    const settled = Promise.allSettled(fetching);
    first!.abort(gone);
    await settle();
    expect(chunksAsked()).toEqual([[1, 2]]);
    second!.abort(gone);
    expect(asked[0]!.signal.aborted).toBe(false);
    third!.abort(gone);
    expect(asked[0]!.signal.aborted).toBe(true);
    for (const result of await settled) expect(result).toMatchObject({ status: 'rejected', reason: gone });
  });

  it('each get their own result or error from the peer', async () => {
    const fetching = range(0, 3).map((number) => fetch(number));
    await settle();
    const { on, end } = asked[0]!;
    on!.opened();
    const none = new AntwayError('NOT_FOUND', 'It is not there.');
    on!.answered(0, Promise.resolve(bytesOf(0)));
    on!.answered(1, Promise.reject(none));
    on!.answered(2, Promise.resolve(bytesOf(2)));
    end();
    expect(await Promise.allSettled(fetching)).toMatchObject([
      { value: bytesOf(0) },
      { reason: none },
      { value: bytesOf(2) },
    ]);
  });

  it('are repeated one by one if the stream breaks, except the one with the broken answer', async () => {
    const fetching = range(0, 4).map((number) => fetch(number));
    const settled = Promise.allSettled(fetching);
    await settle();
    asked[0]!.on!.opened();
    answer(asked[0]!, 1);
    asked[0]!.on!.began(1, 1);
    asked[0]!.fail(broken);
    await settle();
    expect(chunksAsked()).toEqual([[0, 1, 2, 3], [2], [3]]);
    for (const single of asked.slice(1)) single.end();
    expect(await settled).toMatchObject([
      { value: bytesOf(0) },
      { reason: broken },
      { value: bytesOf(2) },
      { value: bytesOf(3) },
    ]);
  });

  it('all fail when there is no session: streams of their own would fail alike', async () => {
    const settled = Promise.allSettled(range(0, 3).map((number) => fetch(number)));
    await settle();
    asked[0]!.fail(broken);
    for (const result of await settled) expect(result).toMatchObject({ reason: broken });
    expect(asked).toHaveLength(1);
  });

  it('do not wait for an answer that pauses: it stays, and the others get streams of their own', async () => {
    const fetching = range(0, 4).map((number) => fetch(number));
    await settle();
    asked[0]!.on!.opened();
    answer(asked[0]!, 1);
    await vi.advanceTimersByTimeAsync(limits.batchedGets.pauseMs - 1);
    asked[0]!.on!.bytes(); // something came, so the pause begins anew
    await vi.advanceTimersByTimeAsync(limits.batchedGets.pauseMs - 1);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(chunksAsked()).toEqual([[0, 1, 2, 3], [2], [3]]);
    for (const single of asked.slice(1)) single.end();
    expect(await fetching[3]).toEqual(bytesOf(3));
    answer(asked[0]!, 1, 1);
    expect(await fetching[1]).toEqual(bytesOf(1));
    expect(asked[0]!.signal.aborted, 'what comes after it is not wanted any more').toBe(true);
  });

  it('do not wait for an answer that is not small at all', async () => {
    const fetching = range(0, 3).map((number) => fetch(number));
    await settle();
    asked[0]!.on!.opened();
    asked[0]!.on!.began(0, limits.smallChunkBytes + 1);
    expect(chunksAsked()).toEqual([[0, 1, 2], [1], [2]]);
    for (const single of asked.slice(1)) single.end();
    expect(await fetching[1]).toEqual(bytesOf(1));
    expect(await fetching[2]).toEqual(bytesOf(2));
    asked[0]!.on!.answered(0, Promise.resolve(bytesOf(0)));
    expect(await fetching[0]).toEqual(bytesOf(0));
  });
});
