/**
 * Works on all items, at most `limit` at a time, in their order.
 * @param work handles its own errors: the first one that it throws ends the wait for the others.
 */
export async function forEachInParallel<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
}
