import { describe, expect, it } from 'vitest';
import {
  followLifecycle,
  LeaderElection,
  type PageChannel,
  withoutLeader,
} from '../../src/nodes/leader-election.ts';
import { FakeLocks, LockTable } from '../support/fake-locks.ts';
import { Freezer } from '../support/freezer.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

/** Some pages of one origin. */
class Origin {
  readonly clock = new VirtualClock();
  readonly locks = new LockTable();
  readonly channels = new Set<FakeChannel>();
  readonly pages: Page[] = [];

  page(): Page {
    const page = new Page(this);
    this.pages.push(page);
    return page;
  }

  /** The pages that own connections. A frozen page may not have noticed yet that it has lost them. */
  get leaders(): Page[] {
    return this.pages.filter(({ election }) => election.isLeader);
  }

  /** @returns after which time the page is a leader, in milliseconds. */
  async timeUntilLeader(page: Page): Promise<number> {
    const start = this.clock.now();
    while (!page.election.isLeader && this.clock.now() - start < 60_000) await this.clock.pass(10);
    return this.clock.now() - start;
  }
}

class FakeChannel extends EventTarget implements PageChannel {
  readonly #origin: Origin;
  readonly #freezer: Freezer;

  constructor(origin: Origin, freezer: Freezer) {
    super();
    this.#origin = origin;
    this.#freezer = freezer;
    origin.channels.add(this);
  }

  postMessage(message: unknown): void {
    if (!this.#origin.channels.has(this)) throw new DOMException('It is closed.', 'InvalidStateError');
    const data: unknown = structuredClone(message);
    for (const other of this.#origin.channels) {
      if (other !== this) queueMicrotask(() => other.#freezer.run(() => other.#deliver(data)));
    }
  }

  close(): void {
    this.#origin.channels.delete(this);
  }

  #deliver(data: unknown): void {
    if (this.#origin.channels.has(this)) this.dispatchEvent(new MessageEvent('message', { data }));
  }
}

class Page {
  readonly freezer = new Freezer();
  readonly locks: FakeLocks;
  readonly election: LeaderElection;
  readonly errors: unknown[] = [];
  /** How often the page became the leader, and lost that. */
  gained = 0;
  lost = 0;

  constructor(origin: Origin) {
    this.locks = new FakeLocks(origin.locks, this.freezer);
    this.election = new LeaderElection({
      locks: this.locks,
      openChannel: () => new FakeChannel(origin, this.freezer),
      clock: this.freezer.clock(origin.clock),
      lead: (signal) => {
        this.gained++;
        signal.addEventListener('abort', () => this.lost++);
      },
      onError: (error) => this.errors.push(error),
    });
    this.election.join();
  }
}

async function threePages() {
  const origin = new Origin();
  const [a, b, c] = [origin.page(), origin.page(), origin.page()];
  await origin.clock.pass(5_000);
  return { origin, clock: origin.clock, a, b, c };
}

describe('the pages of an origin', () => {
  it('have one leader, which stays the leader while it answers', async () => {
    const { origin, clock, a, b, c } = await threePages();
    await clock.pass(600_000);
    expect(origin.leaders).toEqual([a]);
    expect([a.gained, b.gained, c.gained]).toEqual([1, 0, 0]);
  });

  it('send nothing while only one page lives', async () => {
    const origin = new Origin();
    const page = origin.page();
    await origin.clock.pass(1);
    expect(page.election.isLeader).toBe(true);
    const idle = origin.clock.run(new Promise<void>(() => undefined));
    await expect(idle).rejects.toThrow('nothing is waiting for time');
  });

  it('have the next leader at once when the leader leaves', async () => {
    const { origin, clock, a, b } = await threePages();
    a.election.leave();
    expect(a).toMatchObject({ lost: 1 });
    expect(a.election.isLeader).toBe(false);
    await clock.pass(0);
    expect(origin.leaders).toEqual([b]);
  });

  it('have the next leader at once when the browser ends the leader', async () => {
    const { clock, a, b, c } = await threePages();
    a.locks.destroy();
    await clock.pass(0);
    expect([b.gained, c.gained]).toEqual([1, 0]);
  });

  it.each([0, 1, 150, 299, 300, 450])(
    'have another leader within 2 s if the leader is frozen %i ms after a heartbeat',
    async (after) => {
      const { origin, clock, a, b, c } = await threePages();
      await clock.pass(after);
      a.freezer.freeze();
      await clock.pass(1_200);
      expect(origin.leaders).toEqual([a]);
      await clock.pass(800);
      expect(b.gained + c.gained).toBe(1);
      await clock.pass(60_000);
      expect(b.gained + c.gained).toBe(1);
    },
  );

  it('have one leader after the former one wakes, which closes its connections', async () => {
    const { origin, clock, a, b, c } = await threePages();
    a.freezer.freeze();
    await clock.pass(30_000);
    expect(a.lost).toBe(0);
    a.freezer.thaw();
    await clock.pass(0);
    expect(a.lost).toBe(1);
    expect(origin.leaders).toHaveLength(1);
    expect(origin.leaders).not.toContain(a);
    await clock.pass(60_000);
    expect([a.gained, b.gained + c.gained]).toEqual([1, 1]);
  });

  it('have another leader if the lock goes to a frozen page', async () => {
    const { origin, clock, a, b, c } = await threePages();
    b.freezer.freeze();
    await clock.pass(1_000);
    a.election.leave();
    expect(await origin.timeUntilLeader(c)).toBeLessThanOrEqual(2_000);
    b.freezer.thaw();
    await clock.pass(1_000);
    expect(origin.leaders).toEqual([c]);
    expect(b.lost).toBe(b.gained);
  });

  it('do not steal when they wake themselves', async () => {
    const { origin, clock, a, b, c } = await threePages();
    b.freezer.freeze();
    c.freezer.freeze();
    await clock.pass(3_600_000);
    b.freezer.thaw();
    c.freezer.thaw();
    await clock.pass(60_000);
    expect(origin.leaders).toEqual([a]);
    expect([b.gained, c.gained]).toEqual([0, 0]);
  });

  it('do not steal while they are frozen', async () => {
    const { clock, a, b, c } = await threePages();
    for (const page of [a, b, c]) page.freezer.freeze();
    await clock.pass(60_000);
    expect([b.gained, c.gained]).toEqual([0, 0]);
    c.freezer.thaw();
    await clock.pass(2_000);
    expect(c.gained).toBe(1);
  });

  it('do not fight when all of them wake together', async () => {
    const { origin, clock, a, b, c } = await threePages();
    for (const page of [a, b, c]) page.freezer.freeze();
    await clock.pass(60_000);
    for (const page of [a, b, c]) page.freezer.thaw();
    await clock.pass(60_000);
    expect(origin.leaders).toEqual([a]);
    expect([a.gained, b.gained, c.gained]).toEqual([1, 0, 0]);
  });

  it('are leaders one after the other if each leader freezes', async () => {
    const { origin, clock, a, b, c } = await threePages();
    a.freezer.freeze();
    await clock.pass(2_000);
    const second = origin.leaders.find((page) => page !== a)!;
    second.freezer.freeze();
    await clock.pass(2_000);
    const third = second === b ? c : b;
    expect(third.election.isLeader).toBe(true);
  });

  it('have no leader while other work needs that, and one leader after it', async () => {
    const { origin, clock, a, b, c } = await threePages();
    let finish = (_: string) => {};
    const work = new Promise<string>((resolve) => (finish = resolve));
    const done = withoutLeader(new FakeLocks(origin.locks, new Freezer()), () => work);
    await clock.pass(1_000);
    expect(origin.leaders).toEqual([]);
    expect([a.lost, b.gained, c.gained]).toEqual([1, 0, 0]);
    finish('done');
    expect(await done).toBe('done');
    await clock.pass(1_000);
    expect(origin.leaders).toHaveLength(1);
    expect([a.errors, b.errors, c.errors]).toEqual([[], [], []]);
  });

  it('lose the lock to no work that another page has taken it from', async () => {
    const { origin, clock } = await threePages();
    let finish = (_: string) => {};
    const work = new Promise<string>((resolve) => (finish = resolve));
    const done = withoutLeader(new FakeLocks(origin.locks, new Freezer()), () => work);
    await clock.pass(10_000);
    expect(origin.leaders).toHaveLength(1);
    finish('done');
    expect(await done).toBe('done');
  });

  it('ignore other messages of the channel', async () => {
    const { origin, clock, a, b, c } = await threePages();
    const stranger = new FakeChannel(origin, new Freezer());
    a.freezer.freeze();
    for (const message of [null, 7, { type: 'beat' }, ['beat'], '__proto__', { toString: 'beat' }]) {
      stranger.postMessage(message);
      await clock.pass(400);
    }
    expect(b.gained + c.gained).toBe(1);
  });
});

describe('a page', () => {
  it('can leave and join again', async () => {
    const { origin, clock, a, b } = await threePages();
    a.election.leave();
    a.election.leave();
    await clock.pass(1_000);
    a.election.join();
    a.election.join();
    await clock.pass(10_000);
    expect(origin.leaders).toEqual([b]);
    expect(origin.channels.size).toBe(3);
  });

  it('is the leader again if it joins at once and no other page lives', async () => {
    const origin = new Origin();
    const page = origin.page();
    await origin.clock.pass(1);
    page.election.leave();
    page.election.join();
    await origin.clock.pass(1);
    expect(page).toMatchObject({ gained: 2, lost: 1, errors: [] });
    expect(page.election.isLeader).toBe(true);
  });

  it('has no channel and no timer after it has left', async () => {
    const { origin, a, b, c } = await threePages();
    for (const page of [c, b, a]) page.election.leave();
    expect(origin.channels.size).toBe(0);
    const idle = origin.clock.run(new Promise<void>(() => undefined));
    await expect(idle).rejects.toThrow('nothing is waiting for time');
    expect([a.errors, b.errors, c.errors]).toEqual([[], [], []]);
  });

  it.each(['the lock is refused', 'the channel is refused', 'the connections fail'])(
    'reports it once if %s',
    async (how) => {
      const clock = new VirtualClock();
      const errors: unknown[] = [];
      const failure = new DOMException('No.', 'SecurityError');
      const locks = new FakeLocks(new LockTable(), new Freezer());
      const origin = new Origin();
      const election = new LeaderElection({
        locks: how === 'the lock is refused' ? { request: () => Promise.reject(failure) } : locks,
        openChannel: () => {
          if (how === 'the channel is refused') throw failure;
          return new FakeChannel(origin, new Freezer());
        },
        clock,
        lead: () => {
          throw failure;
        },
        onError: (error) => errors.push(error),
      });
      election.join();
      await clock.pass(10_000);
      expect(errors).toEqual([failure]);
      expect(election.isLeader).toBe(false);
      expect(origin.channels.size).toBe(0);
    },
  );

  it('does not lead if its lock is stolen before it hears of the lock', async () => {
    const origin = new Origin();
    const requests: { grant(): unknown; steal(): void }[] = [];
    const request = (_: string, __: unknown, callback: (lock: Lock) => unknown) =>
      new Promise((_, reject) => {
        requests.push({
          grant: () => callback({ name: 'x', mode: 'exclusive' }),
          steal: () => reject(new DOMException('The lock was stolen.', 'AbortError')),
        });
      });
    let gained = 0;
    const election = new LeaderElection({
      locks: { request: request as LockManager['request'] },
      openChannel: () => new FakeChannel(origin, new Freezer()),
      clock: origin.clock,
      lead: () => gained++,
      onError: () => undefined,
    });
    election.join();
    requests[0]!.steal();
    await origin.clock.pass(1);
    requests[0]!.grant();
    expect(gained).toBe(0);
    expect(requests).toHaveLength(2);
    void requests[1]!.grant();
    expect(gained).toBe(1);
  });

  it('leaves before it is closed or frozen, and joins when it is back', () => {
    const calls: string[] = [];
    const window = new EventTarget();
    const document = new EventTarget();
    const ended = new AbortController();
    followLifecycle(
      { join: () => calls.push('join'), leave: () => calls.push('leave') },
      { window, document },
      ended.signal,
    );
    window.dispatchEvent(new Event('pagehide'));
    window.dispatchEvent(new Event('pageshow'));
    document.dispatchEvent(new Event('freeze'));
    document.dispatchEvent(new Event('resume'));
    expect(calls).toEqual(['join', 'leave', 'join', 'leave', 'join']);
    ended.abort();
    window.dispatchEvent(new Event('pageshow'));
    document.dispatchEvent(new Event('resume'));
    expect(calls.slice(5)).toEqual(['leave']);
  });
});

describe('the Web Locks of these tests', () => {
  const lock = () => new FakeLocks(new LockTable(), new Freezer());
  const hang = () => new Promise<void>(() => undefined);

  it('grant in order, and pass on what the callback returns or throws', async () => {
    const locks = lock();
    const order: number[] = [];
    const first = locks.request('x', async () => order.push(1));
    const second = locks.request('x', async () => {
      order.push(2);
      throw new Error('second');
    });
    const third = locks.request('x', async (held) => [order.push(3), held?.name]);
    expect(await first).toBe(1);
    await expect(second).rejects.toThrow('second');
    expect(await third).toEqual([3, 'x']);
    expect(order).toEqual([1, 2, 3]);
  });

  it('reject the former holder when the lock is stolen, and do not touch the queue', async () => {
    const locks = lock();
    const order: string[] = [];
    const first = locks.request('x', hang);
    const queued = locks.request('x', async () => order.push('queued'));
    const stolen = locks.request('x', { steal: true }, async () => order.push('stolen'));
    await expect(first).rejects.toMatchObject({ name: 'AbortError' });
    await Promise.all([stolen, queued]);
    expect(order).toEqual(['stolen', 'queued']);
  });

  it('remove a request whose signal aborts, and ignore the signal of a holder', async () => {
    const locks = lock();
    const [holder, waiter] = [new AbortController(), new AbortController()];
    let release = () => {};
    const held = locks.request('x', { signal: holder.signal }, () => {
      return new Promise<string>((resolve) => {
        release = () => resolve('held');
      });
    });
    const queued = locks.request('x', { signal: waiter.signal }, hang);
    await Promise.resolve();
    holder.abort();
    waiter.abort(new Error('enough'));
    await expect(queued).rejects.toThrow('enough');
    release();
    expect(await held).toBe('held');
    expect(await locks.request('x', { ifAvailable: true }, (free) => free !== null)).toBe(true);
  });

  it.each<[LockOptions]>([
    [{ steal: true, ifAvailable: true }],
    [{ steal: true, signal: new AbortController().signal }],
    [{ ifAvailable: true, signal: new AbortController().signal }],
  ])('refuse options that exclude each other: %o', async (options) => {
    await expect(lock().request('x', options, hang)).rejects.toMatchObject({ name: 'NotSupportedError' });
  });
});
