import { expect, test } from 'vitest';
import { forEachInParallel } from '../../src/util/parallel.ts';

test('every item is worked on once, in order, and never more than the limit at a time', async () => {
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  await forEachInParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    begun.push(item);
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, item % 3));
    running--;
  });
  expect(begun).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(3);
});

test('one slow item holds up no other', async () => {
  const done: string[] = [];
  let finish = () => {};
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const all = forEachInParallel(['slow', 'b', 'c', 'd'], 2, async (item) => {
    if (item === 'slow') await slow;
    done.push(item);
    if (item === 'd') finish();
  });
  await all;
  expect(done).toEqual(['b', 'c', 'd', 'slow']);
});

test('nothing to do is done at once', async () => {
  await expect(forEachInParallel([], 4, () => Promise.reject(new Error('never')))).resolves.toBeUndefined();
});

test('after an error no other item begins', async () => {
  const begun: string[] = [];
  let finish = () => {};
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const all = forEachInParallel(['slow', 'bad', 'c', 'd'], 2, async (item) => {
    begun.push(item);
    if (item === 'slow') await slow;
    if (item === 'bad') throw new Error('bad');
  });
  await expect(all).rejects.toThrow('bad');
  finish();
  await new Promise((resolve) => setTimeout(resolve));
  expect(begun).toEqual(['slow', 'bad']);
});
