import { createStore, type UseStore } from 'idb-keyval';
import { AntwayError } from '../../errors.ts';

let store: UseStore | undefined;

/** The database for all data except chunks. @throws AntwayError `REFUSED` if the browser does not open it. */
export const stateStore: UseStore = async (mode, callback) => {
  store ??= createStore('antway', 'settings');
  let isOpen = false;
  try {
    return await store(mode, (opened) => {
      isOpen = true;
      return callback(opened);
    });
  } catch (cause) {
    if (isOpen) throw cause;
    const why = cause instanceof Error ? ` (${cause.name}: ${cause.message})` : '';
    throw new AntwayError(
      'REFUSED',
      `This browser lets the gateway remember nothing${why}.`,
      { isBlocked: true },
      { cause },
    );
  }
};
