import { del, get, keys, set, type UseStore } from 'idb-keyval';
import type { JournalStore } from './journal.ts';

/** The entries of a database whose keys begin with a prefix. @param store changes are durable when they resolve. */
export function prefixedStore(store: UseStore, prefix: string): JournalStore {
  return {
    get: (key) => get(prefix + key, store),
    put: (key, value) => set(prefix + key, value, store),
    delete: (key) => del(prefix + key, store),
    async keys(part) {
      const all = await keys<string>(store);
      return all.filter((key) => key.startsWith(prefix + part)).map((key) => key.slice(prefix.length));
    },
  };
}
