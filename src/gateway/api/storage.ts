import { AntwayError } from '../../errors.ts';

/** Where the browser keeps nothing, there is nothing in a list. `/-/cache` tells that it is so. */
export async function listed<T>(list: Promise<T[]>): Promise<T[]> {
  try {
    return await list;
  } catch (error) {
    if (!(error instanceof AntwayError && error.details.isBlocked)) throw error;
    return [];
  }
}

/** What the browser says of this origin's storage; null where it does not tell. */
export async function browserStorage(): Promise<{
  quota: number | null;
  usage: number | null;
  persisted: boolean;
}> {
  const storage: Partial<StorageManager> | undefined = globalThis.navigator?.storage;
  const { quota = null, usage = null } = (await storage?.estimate?.()) ?? {};
  return { quota, usage, persisted: (await storage?.persisted?.()) ?? false };
}
