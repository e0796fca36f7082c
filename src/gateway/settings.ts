import { createStore, type UseStore } from 'idb-keyval';

let store: UseStore | undefined;

/** What the gateway remembers besides chunks: one database, apart from theirs. Opened when first used. */
export const settings: UseStore = (mode, callback) => {
  store ??= createStore('antway', 'settings');
  return store(mode, callback);
};
