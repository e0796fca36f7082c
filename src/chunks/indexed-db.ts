import { promisifyRequest, type UseStore } from 'idb-keyval';

/** Versions 1 and 2 were development builds. */
const version = 3;

export const storeNames = {
  chunks: 'chunks',
  metadata: 'metadata',
  totals: 'totals',
  pinReferences: 'pinReferences',
  inventories: 'inventories',
  pins: 'pins',
} as const;

export interface DatabaseEvents {
  /** Another worker may change or delete the data from now on. */
  onClosed(): void;
  /** Also after a timeout. It can be tried again. */
  onUnopened(error: unknown): void;
}

type StoreName = keyof typeof storeNames;

const written = ['chunks', 'metadata', 'totals', 'pinReferences'] as const satisfies StoreName[];
const writtenWithPins = [...written, 'pins'] as const satisfies StoreName[];

export type WriteStores = Record<(typeof written)[number], IDBObjectStore>;
export type PinOwnerStores = Record<(typeof writtenWithPins)[number], IDBObjectStore>;

/**
 * A database with the layout of the chunk store:
 *
 * - `chunks`: raw 32-byte address → the encrypted bytes, as an ArrayBuffer of exactly their size or as a Blob;
 * - `metadata`: raw address → `{ size, lastUsed }`, indexed by `lastUsed`, so that eviction never reads values. A chunk
 *   with a pin reference has no `lastUsed`, so eviction never finds it;
 * - `totals`: `all` → `{ count, bytes }`, changed in the transactions that change the others;
 * - `pinReferences`: raw address of a pin ‖ raw address of a chunk → `{ chunk }`, indexed by `chunk`. Also for chunks
 *   that are not stored. One row per pair instead of a counter, so that adding a reference twice has no effect;
 * - `inventories`: raw address of a site or file → its list of chunks, which never changes;
 * - `pins`: raw address → what the user asked for.
 *
 * A later version may add to this layout but must not remove anything, so that an earlier version still works.
 */
export class ChunkDatabase {
  readonly #name: string;
  readonly #events: DatabaseEvents;
  #opening: Promise<IDBDatabase> | undefined;

  constructor(name: string, events: DatabaseEvents) {
    this.#name = name;
    this.#events = events;
  }

  /** One object store in a separate transaction, in the form that `idb-keyval`'s functions take. */
  store(name: StoreName): UseStore {
    return async (mode, callback) => callback((await this.#transaction(name, mode)).objectStore(name));
  }

  /**
   * Resolves when the transaction is complete. Durability is relaxed: a lost chunk is fetched again, while a flush to
   * disk per batch would cost more than the network.
   */
  write<T>(work: (stores: WriteStores) => Promise<T> | T): Promise<T> {
    return this.#write(written, work);
  }

  /** As `write`, with the pins: so no reference is added for a pin that another worker has removed. */
  writeWithPins<T>(work: (stores: PinOwnerStores) => Promise<T> | T): Promise<T> {
    return this.#write(writtenWithPins, work);
  }

  async #write<Name extends StoreName, T>(
    names: readonly Name[],
    work: (stores: Record<Name, IDBObjectStore>) => Promise<T> | T,
  ): Promise<T> {
    const transaction = await this.#transaction([...names], 'readwrite', { durability: 'relaxed' });
    const done = completed(transaction);
    let result: T;
    try {
      const stores = names.map((name) => [name, transaction.objectStore(name)] as const);
      result = await work(Object.fromEntries(stores) as Record<Name, IDBObjectStore>);
    } catch (error) {
      done.catch(() => undefined);
      if (transaction.error === null) tryAbort(transaction);
      throw transaction.error ?? error;
    }
    await done;
    return result;
  }

  async clear(): Promise<void> {
    const transaction = await this.#transaction(Object.values(storeNames), 'readwrite');
    for (const name of Object.values(storeNames)) transaction.objectStore(name).clear();
    await completed(transaction);
  }

  /** Safari drops connections without an event. If the connection turns out to be dead, it is opened again, once. */
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
      this.#forget();
      return (await this.#open()).transaction(names, mode, options);
    }
  }

  /** If the database takes too long to open, callers continue without it. Later calls use it once it is open. */
  #open(): Promise<IDBDatabase> {
    if (!this.#opening) {
      const opening = openDatabase(this.#name);
      const inTime = withinTime(opening);
      this.#opening = inTime;
      inTime.catch((error) => this.#events.onUnopened(error));
      opening.then(
        (database) => {
          this.#opening = opening;
          const forget = () => {
            if (this.#opening === opening) this.#forget();
          };
          // Safari drops connections; another tab may delete or upgrade the database.
          database.onclose = forget;
          database.onversionchange = () => {
            forget();
            database.close();
          };
        },
        () => {
          this.#opening = undefined;
        },
      );
    }
    return this.#opening;
  }

  #forget(): void {
    this.#opening = undefined;
    this.#events.onClosed();
  }
}

function addStores(database: IDBDatabase): void {
  const indexes: Partial<Record<StoreName, string>> = { metadata: 'lastUsed', pinReferences: 'chunk' };
  for (const name of Object.values(storeNames)) {
    if (database.objectStoreNames.contains(name)) continue;
    const store = database.createObjectStore(name);
    const index = indexes[name];
    if (index) store.createIndex(index, index);
  }
}

async function openDatabase(name: string): Promise<IDBDatabase> {
  try {
    return await requestDatabase(name, version);
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'VersionError')) throw error;
    // A later Antway upgraded this database. Its layout contains everything that this version uses.
    return requestDatabase(name);
  }
}

function requestDatabase(name: string, wanted?: number): Promise<IDBDatabase> {
  const request = indexedDB.open(name, wanted);
  request.onupgradeneeded = () => addStores(request.result);
  return promisifyRequest(request);
}

/** An open request may never end (another tab holds an old version, a browser bug). It must not block every read. */
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

/**
 * Rejects with the reason of an abort, not on a failed request: `transaction.error` does not have the reason yet at
 * that time (Firefox reports a full disk in this way).
 */
export function completed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

function tryAbort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // The transaction has already ended.
  }
}
