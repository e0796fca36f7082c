import type { UseStore } from 'idb-keyval';

/** A store whose changes are on the disk when they resolve, so that they survive a crash of the machine. */
export function durableStore(store: UseStore): UseStore {
  return (mode, callback) =>
    store('readonly', ({ name, transaction: { db } }) =>
      callback(db.transaction(name, mode, { durability: 'strict' }).objectStore(name)),
    );
}
