import { createStore, type UseStore } from 'idb-keyval';
import { prefixedStore } from '../payment/prefixed-store.ts';
import { durableStore } from '../util/durable-store.ts';
import type { AntJournal } from './types.ts';

/**
 * A journal of payments in IndexedDB. Pages and workers of one origin share it: only one of them pays at a time.
 * @param name of the database.
 */
export function databaseJournal(name = 'antway-publish-payments'): AntJournal {
  let store: UseStore | undefined;
  return {
    async open(chain) {
      store ??= durableStore(createStore(name, 'journal'));
      return prefixedStore(store, `${chain}/`);
    },
    lock: <T>(chain: string, work: () => Promise<T>): Promise<T> =>
      navigator.locks.request(`${name}/${chain}`, work) as Promise<T>,
  };
}
