// @module-tag isolated
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inTurns } from '../../src/self-encryption/turn.ts';

describe('work in turns without a scheduler', () => {
  it('goes on after the tasks that are queued, and returns its result', async () => {
    const order: string[] = [];
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      order.push('other');
      port1.close();
    };
    port2.postMessage(undefined);
    const result = await inTurns(async (nextTurn) => {
      order.push('start');
      await nextTurn();
      order.push('end');
      return 7;
    });
    expect(order).toEqual(['start', 'other', 'end']);
    expect(result).toBe(7);
  });
});

describe('work in turns with a scheduler', () => {
  /** The priority of each task at its start. */
  let priorities: string[];

  class TaskController {
    readonly signal: { priority: string };

    constructor({ priority }: { priority: string }) {
      this.signal = { priority };
    }

    setPriority(priority: string): void {
      this.signal.priority = priority;
    }
  }

  beforeEach(() => {
    priorities = [];
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    vi.stubGlobal('TaskController', TaskController);
    vi.stubGlobal('scheduler', {
      async postTask(task: () => unknown, { signal }: { signal: { priority: string } }) {
        priorities.push(signal.priority);
        return task();
      },
    });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  it('lets other tasks go first for 50 ms, and takes turns with them after that', async () => {
    const result = await inTurns(async (nextTurn) => {
      await nextTurn();
      vi.advanceTimersByTime(49);
      await nextTurn();
      vi.advanceTimersByTime(1);
      await nextTurn();
      return 'done';
    });
    expect(priorities).toEqual(['background', 'background', 'user-visible']);
    expect(result).toBe('done');
  });

  it('leaves no timer behind, also when it fails', async () => {
    await inTurns((nextTurn) => nextTurn());
    expect(vi.getTimerCount()).toBe(0);
    const failing = inTurns(async (nextTurn) => {
      await nextTurn();
      throw new Error('broken');
    });
    await expect(failing).rejects.toThrow('broken');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('starts no timer if it takes one turn', async () => {
    await inTurns(async () => expect(vi.getTimerCount()).toBe(0));
    expect(priorities).toEqual([]);
  });
});
