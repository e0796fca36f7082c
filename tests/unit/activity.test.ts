import 'fake-indexeddb/auto';
import fc from 'fast-check';
import { createStore, get, set, type UseStore } from 'idb-keyval';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { activity as endpoint } from '../../src/gateway/api/activity.ts';
import type { ApiContext } from '../../src/gateway/api/endpoint.ts';
import { ActivityStore } from '../../src/gateway/state/activity-store.ts';
import { Activity, addCounts, historySeconds, noCounts } from '../../src/stats/activity.ts';
import { Stats } from '../../src/stats/stats.ts';
import { Trace } from '../../src/stats/trace.ts';

const now = 1_800_000_000_000;
let state: UseStore;
let databases = 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now });
  state = createStore(`activity-${databases++}`, 'settings');
});
afterEach(() => {
  vi.useRealTimers();
});

/** One worker over the database of its origin. */
function startWorker(over = state) {
  const stats = new Stats();
  const store = new ActivityStore(stats.activity, over);
  return { stats, store };
}

const second = Math.floor(now / 1000);

it('a new worker continues the counts of a killed one', async () => {
  const before = startWorker();
  before.stats.served(500);
  before.stats.requestStarted();
  before.stats.requestEnded('NOT_FOUND');
  await before.store.flush();
  before.stats.served(70_000); // not written: the worker is killed before

  const after = startWorker();
  after.stats.served(20);
  const { seconds, lifetime, since } = await after.store.read();
  expect(seconds.get(second)).toEqual({ peerBytes: 0, servedBytes: 520 });
  expect(lifetime).toMatchObject({ servedBytes: 520, requests: 1, failures: 1 });
  expect(since).toBe(now);
});

it('counts are written two seconds after the first of them, and once', async () => {
  let writes = 0;
  const counted: UseStore = (mode, work) => {
    if (mode === 'readwrite') writes++;
    return state(mode, work);
  };
  const { stats, store } = startWorker(counted);
  for (let i = 0; i < 1_000; i++) stats.served(1);
  expect(writes).toBe(0);
  await vi.advanceTimersByTimeAsync(2_000);
  expect((await store.read()).lifetime.servedBytes).toBe(1_000);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(writes).toBe(1);
});

it('two workers that write in any order lose no count of each other', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ worker: fc.boolean(), bytes: fc.nat(1e9), flush: fc.boolean() }), {
        maxLength: 12,
      }),
      async (steps) => {
        state = createStore(`activity-${databases++}`, 'settings');
        const workers = [startWorker(), startWorker()] as const;
        const flushing: Promise<void>[] = [];
        for (const { worker, bytes, flush } of steps) {
          const { stats, store } = workers[worker ? 1 : 0];
          stats.served(bytes);
          if (flush) flushing.push(store.flush());
        }
        await Promise.all([...flushing, ...workers.map(({ store }) => store.flush())]);
        const { lifetime, seconds } = await startWorker().store.read();
        const total = steps.reduce((sum, { bytes }) => sum + bytes, 0);
        expect(lifetime.servedBytes).toBe(total);
        expect(seconds.get(second)?.servedBytes ?? 0).toBe(total);
      },
    ),
    { numRuns: 30 },
  ));

it('seconds that are too old or in the future are dropped, and the total stays', () => {
  const counts = noCounts();
  counts.lifetime.servedBytes = 3;
  for (const at of [second - historySeconds, second, second + 1]) {
    counts.seconds.set(at, { peerBytes: 1, servedBytes: 1 });
  }
  const sum = addCounts(noCounts(), counts, now);
  expect([...sum.seconds.keys()]).toEqual([second]);
  expect(sum.lifetime.servedBytes).toBe(3);
});

it('a worker whose storage never answers keeps a bounded number of seconds', () => {
  const activity = new Activity();
  for (let i = 0; i < 10_000; i++) activity.bytes('servedBytes', 1, now + 1_000 * i);
  expect(activity.pending.seconds.size).toBeLessThanOrEqual(2 * historySeconds);
  expect(activity.pending.lifetime.servedBytes).toBe(10_000);
});

it('blocked storage leaves the counts of this worker', async () => {
  const { stats, store } = startWorker(() => Promise.reject(new Error('blocked')));
  stats.served(5);
  await store.flush();
  stats.served(6);
  expect((await store.read()).lifetime.servedBytes).toBe(11);
});

it.each([
  ['a text', '<b>'],
  ['null', null],
  ['a negative count', { since: 1, seconds: new Map(), lifetime: { ...noCounts().lifetime, requests: -1 } }],
  ['a missing count', { since: 1, seconds: new Map(), lifetime: {} }],
  ['a list in place of the seconds', { since: 1, seconds: [], lifetime: noCounts().lifetime }],
  [
    'too many seconds',
    {
      since: 1,
      seconds: new Map(Array.from({ length: 1_000 }, (_, at) => [at, { peerBytes: 1, servedBytes: 1 }])),
      lifetime: noCounts().lifetime,
    },
  ],
])('%s in the store counts as nothing stored, and is replaced', async (_, stored) => {
  await set('activity', stored, state);
  const { stats, store } = startWorker();
  stats.served(9);
  await store.flush();
  expect(await get('activity', state)).toMatchObject({ since: now, lifetime: { servedBytes: 9 } });
});

it('the endpoint reports one value for each second, and begins at 0 after a reset', async () => {
  const { stats, store } = startWorker();
  const context = { stats, activity: store } as unknown as ApiContext;
  const url = new URL('https://gateway.example/-/activity');
  const ask = async () => endpoint.GET!(url, new Request(url), context);
  await store.read();
  const trace = new Trace(`/${'a'.repeat(5_000)}`);
  const transfer = stats.transfers.start(trace);
  transfer.size = 900_000;
  transfer.sent = 300_000;
  stats.requestStarted();
  stats.served(300_000);
  vi.setSystemTime(now + 1_000);
  const report = await ask();
  expect(report).toMatchObject({ now: now + 1_000, since: now, lifetime: { servedBytes: 300_000 } });
  const { servedBytes, peerBytes, transfers } = report as Awaited<ReturnType<typeof ask>> & {
    servedBytes: number[];
    peerBytes: number[];
    transfers: { path: string }[];
  };
  expect(servedBytes).toHaveLength(historySeconds);
  expect(servedBytes.at(-1)).toBe(300_000);
  expect(Math.max(...peerBytes)).toBe(0);
  expect(transfers).toMatchObject([{ size: 900_000, sent: 300_000, state: 'active', endedAt: null }]);
  expect(transfers[0]!.path).toHaveLength(1_000);
  transfer.end(undefined, false);
  expect(await ask()).toMatchObject({ transfers: [{ state: 'done', endedAt: now + 1_000 }] });

  await endpoint.DELETE!(url, new Request(url), context);
  expect(await ask()).toMatchObject({ lifetime: noCounts().lifetime, transfers: [], since: now + 1_000 });
  expect(stats.snapshot().requests).toMatchObject({ total: 0, active: 1 });
  expect(await get('activity', state)).toBeUndefined();
});

it('ended transfers leave the report after a while, and small ones at once', () => {
  const { transfers } = new Stats();
  const [small, large] = [transfers.start(new Trace('/a')), transfers.start(new Trace('/b'))];
  large.sent = 5_000_000;
  small.end(undefined, false);
  large.end('CORRUPT', false);
  expect(transfers.report()).toMatchObject([{ path: '/b', state: 'failed' }]);
  expect(transfers.report(now + 60_000)).toEqual([]);
});

it('the ranges of one file are one ended transfer, and none while another range runs', () => {
  const { transfers } = new Stats();
  for (let i = 0; i < 3; i++) {
    const range = transfers.start(new Trace('/film'));
    range.sent = 4_000_000;
    range.end(undefined, false);
  }
  expect(transfers.report()).toMatchObject([{ id: 3, state: 'done' }]);
  transfers.start(new Trace('/film'));
  expect(transfers.report()).toMatchObject([{ id: 4, state: 'active' }]);
});
