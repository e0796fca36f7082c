import { promisifyRequest, type UseStore } from 'idb-keyval';

const version = 1;

/** Names of the object stores in the chunk database. */
export const storeNames = { chunks: 'chunks', metadata: 'metadata', totals: 'totals' } as const;

/**
 * A database with the layout of the chunk store:
 *
 * - `chunks`: raw 32-byte address → the sealed bytes, as an ArrayBuffer of exactly their size;
 * - `metadata`: raw address → `{ size, lastUsed }`, indexed by `lastUsed`, so that eviction never reads values;
 * - `totals`: `all` → `{ count, bytes }`, changed in the transactions that change the others.
 */
export class ChunkDatabase {
  readonly #name: string;
  #opening: Promise<IDBDatabase> | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  /** One store in a transaction of its own, in the form that `idb-keyval`'s functions take. */
  store(name: keyof typeof storeNames): UseStore {
    return async (mode, callback) => callback((await this.#transaction(name, mode)).objectStore(name));
  }

  /**
   * Runs `work` in one read-write transaction over all stores; resolves when it is complete. Durability is
   * relaxed: a chunk lost to a power cut is fetched again, while a flush to disk per batch would cost more
   * than the network does.
   */
  async write(
    work: (stores: Record<keyof typeof storeNames, IDBObjectStore>) => Promise<void> | void,
  ): Promise<void> {
    const transaction = await this.#transaction(Object.values(storeNames), 'readwrite', {
      durability: 'relaxed',
    });
    const done = promisifyRequest(transaction);
    try {
      await work({
        chunks: transaction.objectStore('chunks'),
        metadata: transaction.objectStore('metadata'),
        totals: transaction.objectStore('totals'),
      });
    } catch (error) {
      done.catch(() => undefined);
      if (transaction.error === null) tryAbort(transaction);
      throw transaction.error ?? error;
    }
    await done;
  }

  /** Safari drops connections without an event: one that turns out dead is opened anew, once. */
  async #transaction(
    names: string | string[],
    mode: IDBTransactionMode,
    options?: IDBTransactionOptions,
  ): Promise<IDBTransaction> {
    const database = await this.#open();
    try {
      return database.transaction(names, mode, options);
    } catch (error) {
      if (!(error instanceof DOMException && error.name === 'InvalidStateError')) throw error;
      this.#opening = undefined;
      return (await this.#open()).transaction(names, mode, options);
    }
  }

  #open(): Promise<IDBDatabase> {
    if (!this.#opening) {
      const opening = withinTime(openDatabase(this.#name));
      this.#opening = opening;
      const forget = () => {
        if (this.#opening === opening) this.#opening = undefined;
      };
      opening.then((database) => {
        // Safari drops connections; another tab may delete the database or upgrade it.
        database.onclose = forget;
        database.onversionchange = () => {
          forget();
          database.close();
        };
      }, forget);
    }
    return this.#opening;
  }
}

function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, version);
  request.onupgradeneeded = () => {
    const database = request.result;
    database.createObjectStore(storeNames.chunks);
    database.createObjectStore(storeNames.metadata).createIndex('lastUsed', 'lastUsed');
    database.createObjectStore(storeNames.totals);
  };
  return promisifyRequest(request);
}

/** An open that never ends (another tab holds an old version, a browser's bug) must not hold up every read. */
const openTimeoutMs = 5_000;

function withinTime<T>(opening: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new DOMException('The database did not open.', 'TimeoutError')),
      openTimeoutMs,
    );
    opening.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

function tryAbort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // It has ended by itself, which is what was wanted.
  }
}
