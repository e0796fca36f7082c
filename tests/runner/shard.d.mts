/** `index` counts from 1. */
export interface Shard {
  index: number;
  count: number;
}
export function parseShard(text: string): Shard;
export function shareOf<Item>(items: readonly Item[], shard?: Shard): readonly Item[];
