// Parts of a run. Plain JavaScript, see src/cli/setup.mjs.
import { SetupError } from '../../src/cli/setup-error.mjs';

/**
 * Parses `2/4`: the second of four parts.
 * @returns {{ index: number, count: number }} `index` counts from 1.
 * @throws SetupError if it is no such pair.
 */
export function parseShard(text) {
  const [, index, count] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (index >= 1 && index <= count) return { index, count };
  throw new SetupError(`“${text}” is no shard. The second of four is --shard 2/4.`);
}

/** The items of a shard: every item is in exactly one. Without a shard, all items. */
export function shareOf(items, shard) {
  return shard ? items.filter((_, i) => i % shard.count === shard.index - 1) : items;
}
