import { expect, it } from 'vitest';
import { FairQueue } from '../../src/node-peer/fair-queue.ts';

it('serves clients in turns, and the items of each in their order', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) queue.add(item[0]!, item);
  queue.delete('a', 'a2');
  const served = [queue.next(), queue.next()];
  queue.add('d', 'd1');
  queue.delete('c', 'c1');
  while (!queue.isEmpty) served.push(queue.next());
  expect(served).toEqual(['a1', 'b1', 'a3', 'b2', 'd1', 'a4']);
  expect(queue.next()).toBeUndefined();
});
