import { AntwayError } from '../../errors.ts';

/** Returns an empty list if storage is blocked. `/-/cache` reports the blocked storage. */
export async function listed<T>(list: Promise<T[]>): Promise<T[]> {
  try {
    return await list;
  } catch (error) {
    if (!(error instanceof AntwayError && error.details.isBlocked)) throw error;
    return [];
  }
}

/** Null means that the browser does not report the value. */
export async function browserStorage(): Promise<{
  quota: number | null;
  usage: number | null;
  persisted: boolean;
}> {
  const storage: Partial<StorageManager> | undefined = globalThis.navigator?.storage;
  const { quota = null, usage = null } = (await storage?.estimate?.()) ?? {};
  return { quota, usage, persisted: (await storage?.persisted?.()) ?? false };
}
