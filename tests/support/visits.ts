import { expect, type Page } from '@playwright/test';

/**
 * Waits until a visit counts: the user has seen the page for a second.
 * @param page with content of the gateway.
 */
export async function visitCounts(page: Page): Promise<void> {
  const { origin, pathname } = new URL(page.url());
  await expect
    .poll(
      async () => {
        // The worker keeps running meanwhile. Pages of sites may not read what it stores.
        const worker = page
          .context()
          .serviceWorkers()
          .find((each) => each.url().startsWith(`${origin}/`));
        const paths = (await worker?.evaluate(visitedPaths)) ?? [];
        return paths.some((path) => `${pathname}/`.startsWith(path.replace(/\/*$/, '/')));
      },
      { timeout: 30_000 },
    )
    .toBe(true);
}

/** In the worker. @returns the paths of all visits; on a site's own origin, `/` once the user has seen a page of it. */
async function visitedPaths(): Promise<string[]> {
  const name = 'antway';
  // Opening would create it.
  if (!(await indexedDB.databases()).some((each) => each.name === name)) return [];
  const database = await new Promise<IDBDatabase>((resolve, reject) => {
    const opening = indexedDB.open(name);
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  try {
    const store = database.transaction('settings').objectStore('settings');
    const read = <T>(reading: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        reading.onsuccess = () => resolve(reading.result);
        reading.onerror = () => reject(reading.error);
      });
    const [visits, seenAt] = await Promise.all([
      read<{ path: string }[]>(store.getAll(IDBKeyRange.bound('site:', 'site:\uffff'))),
      read<number | undefined>(store.get('seenAt')),
    ]);
    return [...visits.map(({ path }) => path), ...(seenAt === undefined ? [] : ['/'])];
  } finally {
    database.close();
  }
}
