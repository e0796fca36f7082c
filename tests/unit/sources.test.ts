import { expect, it } from 'vitest';
import { sourcesOf } from '../../src/shell/live/sources.ts';
import { Stats } from '../../src/stats/stats.ts';

it('the sources of chunks name the nodes only if they gave chunks', () => {
  const stats = new Stats();
  stats.fromDisk(7);
  expect(sourcesOf(stats.snapshot(), []).map(({ id }) => id)).toEqual(['store']);
  stats.fromNodes(100);
  stats.fromNodes(50);
  const [nodes, store] = sourcesOf(stats.snapshot(), []);
  expect(nodes).toEqual({ id: 'nodes', host: null, chunks: 2, bytes: 150, tone: 1 });
  expect(store).toMatchObject({ id: 'store', chunks: 1, bytes: 7 });
});
