import { describe, expect, it } from 'vitest';
import { type Busy, type Update, WorkerUpdate } from '../../src/shell/worker-update.ts';

/** A worker that keeps what it is told. */
function fakeWorker() {
  const messages: string[] = [];
  const postMessage = ({ type }: { type: string }) => messages.push(type);
  return { messages, worker: { postMessage } as unknown as ServiceWorker };
}

function setUp({ isWaiting = true } = {}) {
  const [active, waiting] = [fakeWorker(), fakeWorker()];
  const registration: { active: ServiceWorker | null; waiting: ServiceWorker | null } = {
    active: active.worker,
    waiting: isWaiting ? waiting.worker : null,
  };
  const told: Update[] = [];
  /** The result of each look for an update. The last result repeats. */
  const busy: Busy[] = [{ answers: 0, isPublishing: false }];
  let reloads = 0;
  const update = new WorkerUpdate({
    registration,
    busy: async () => (busy.length > 1 ? busy.shift()! : busy[0]!),
    reload: () => {
      reloads++;
    },
    tell: (update) => told.push(update),
    lookEveryMs: 1,
  });
  return { update, registration, active, waiting, told, busy, reloads: () => reloads };
}

const publishing = { answers: 0, isPublishing: true };

describe('an update of the worker', () => {
  it('is handed over to at once when nothing is under way, and the page reloads when it is in place', async () => {
    const { update, active, waiting, reloads } = setUp();
    await update.apply();
    expect(active.messages).toEqual(['HAND_OVER']);
    expect(waiting.messages).toEqual(['SKIP_WAITING']);
    expect(reloads()).toBe(0);
    update.tookOver();
    expect(reloads()).toBe(1);
  });

  it('waits for what is being sent and for what this page publishes', async () => {
    const { update, waiting, told, busy } = setUp();
    busy.unshift({ answers: 2, isPublishing: false }, publishing);
    await update.apply();
    expect(told).toEqual([
      { state: 'waiting', answers: 2, isPublishing: false },
      { state: 'waiting', ...publishing },
      { state: 'handing-over', answers: 0, isPublishing: false },
    ]);
    expect(waiting.messages).toEqual(['SKIP_WAITING']);
  });

  it('that another tab has put in place is only reloaded for: its worker goes on with its pins', async () => {
    const { update, active, reloads } = setUp({ isWaiting: false });
    await update.apply();
    expect(reloads()).toBe(1);
    expect(active.messages).toEqual([]);
  });

  it('that another tab puts in place while this page publishes does not reload it', async () => {
    const { update, registration, told, busy, reloads } = setUp();
    busy.unshift(...Array.from({ length: 20 }, () => publishing));
    const applied = update.apply();
    registration.waiting = null;
    update.tookOver();
    expect(reloads()).toBe(0);
    await applied;
    expect(reloads()).toBe(1);
    expect(told.at(-2)).toEqual({ state: 'waiting', ...publishing });
  });

  it('is offered again where the user stays when the browser asks before the reload', async () => {
    for (const isWaiting of [true, false]) {
      const { update, told, reloads } = setUp({ isWaiting });
      update.applyNow();
      if (isWaiting) update.tookOver();
      expect(reloads()).toBe(1);
      expect(told.at(-1)!.state).toBe('updated');
      // Not by itself: a user who stayed is in the middle of something.
      update.tookOver();
      expect(reloads()).toBe(1);
    }
  });

  it('is taken back, and offered again', async () => {
    const { update, told, busy, waiting, reloads } = setUp();
    busy.splice(0, 1, publishing);
    const applied = update.apply();
    await expect.poll(() => told.length).toBeGreaterThan(0);
    update.cancel();
    await applied;
    expect(told.at(-1)).toEqual({ state: 'ready', answers: 0, isPublishing: false });
    expect(waiting.messages).toEqual([]);
    expect(reloads()).toBe(0);
  });

  it('is not waited for any longer when the user says so', async () => {
    const { update, told, busy, waiting } = setUp();
    busy.splice(0, 1, { answers: 1, isPublishing: false });
    const applied = update.apply();
    await expect.poll(() => told.length).toBeGreaterThan(0);
    update.applyNow();
    await applied;
    expect(waiting.messages).toEqual(['SKIP_WAITING']);
    expect(told.at(-1)!.state).toBe('handing-over');
  });

  it('is not asked for by a page that only sees it come', () => {
    const { update, told, reloads } = setUp();
    update.offer('ready');
    update.tookOver();
    expect(told.map(({ state }) => state)).toEqual(['ready', 'updated']);
    expect(reloads()).toBe(0);
  });
});
