/** Works on the items in order, on at most `limit` at a time. After an error it begins no other item, and rejects. */
export async function forEachInParallel<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    try {
      for (let i = next++; i < items.length; i = next++) await work(items[i]!, i);
    } catch (error) {
      next = items.length;
      throw error;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
}
