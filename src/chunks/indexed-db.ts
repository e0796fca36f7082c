import { promisifyRequest, type UseStore } from 'idb-keyval';

const version = 2;

/** Names of the object stores in the chunk database. */
export const storeNames = {
  chunks: 'chunks',
  metadata: 'metadata',
  totals: 'totals',
  holds: 'holds',
  contents: 'contents',
  pins: 'pins',
} as const;

/** What a database tells of itself. */
export interface DatabaseEvents {
  /** It was closed: others may change, or delete, what it holds. */
  onClosed(): void;
  /** It could not be opened, or not in time. It can be tried again. */
  onUnopened(error: unknown): void;
}

type StoreName = keyof typeof storeNames;

/** Those that change together when chunks come and go. */
const written = ['chunks', 'metadata', 'totals', 'holds'] as const satisfies StoreName[];
/** With what says who may hold chunks. */
const writtenWithPins = [...written, 'pins'] as const satisfies StoreName[];

/** The stores of a write, by their names. */
export type WriteStores = Record<(typeof written)[number], IDBObjectStore>;
export type PinOwnerStores = Record<(typeof writtenWithPins)[number], IDBObjectStore>;

/**
 * A database with the layout of the chunk store:
 *
 * - `chunks`: raw 32-byte address → the sealed bytes, as an ArrayBuffer of exactly their size or as a Blob;
 * - `metadata`: raw address → `{ size, lastUsed }`, indexed by `lastUsed`, so that eviction never reads values. A
 *   chunk that is held has no `lastUsed`, so eviction never meets it;
 * - `totals`: `all` → `{ count, bytes }`, changed in the transactions that change the others;
 * - `holds`: raw address of a pin ‖ raw address of a chunk → `{ chunk }`, indexed by `chunk`: who holds what, whether it
 *   is stored already or not. A row for each pair and no count, so that what is done twice is done once;
 * - `contents`: raw address of a site or file → the chunks it is made of, which never change;
 * - `pins`: raw address → what the user asked for.
 *
 * A later version may add to this, and never takes away: then an earlier one can go on with the database, too.
 */
export class ChunkDatabase {
  readonly #name: string;
  readonly #events: DatabaseEvents;
  #opening: Promise<IDBDatabase> | undefined;

  constructor(name: string, events: DatabaseEvents) {
    this.#name = name;
    this.#events = events;
  }

  /** One store in a transaction of its own, in the form that `idb-keyval`'s functions take. */
  store(name: StoreName): UseStore {
    return async (mode, callback) => callback((await this.#transaction(name, mode)).objectStore(name));
  }

  /**
   * Runs `work` in one read-write transaction over the chunks and all that goes with them; resolves when it is
   * complete. Durability is relaxed: a chunk lost to a power cut is fetched again, while a flush to disk per batch
   * would cost more than the network does.
   */
  write<T>(work: (stores: WriteStores) => Promise<T> | T): Promise<T> {
    return this.#write(written, work);
  }

  /** The same together with the pins, so that nothing is held for one that is gone, whichever worker removed it. */
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

  /** Deletes everything in all stores. */
  async clear(): Promise<void> {
    const transaction = await this.#transaction(Object.values(storeNames), 'readwrite');
    for (const name of Object.values(storeNames)) transaction.objectStore(name).clear();
    await completed(transaction);
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
      this.#forget();
      return (await this.#open()).transaction(names, mode, options);
    }
  }

  /** One that does not open in time is waited for by nobody, and used once it is open. */
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
          // Safari drops connections; another tab may delete the database or upgrade it.
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

/** Each brings the layout from the version of its position to the next. */
const upgrades: readonly ((database: IDBDatabase) => void)[] = [
  (database) => {
    database.createObjectStore(storeNames.chunks);
    database.createObjectStore(storeNames.metadata).createIndex('lastUsed', 'lastUsed');
    database.createObjectStore(storeNames.totals);
  },
  (database) => {
    database.createObjectStore(storeNames.holds).createIndex('chunk', 'chunk');
    database.createObjectStore(storeNames.contents);
    database.createObjectStore(storeNames.pins);
  },
];

async function openDatabase(name: string): Promise<IDBDatabase> {
  try {
    return await requestDatabase(name, version);
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'VersionError')) throw error;
    // A later Antway was here, whose layout has all that is used here.
    return requestDatabase(name);
  }
}

function requestDatabase(name: string, wanted?: number): Promise<IDBDatabase> {
  const request = indexedDB.open(name, wanted);
  request.onupgradeneeded = ({ oldVersion }) => {
    for (const upgrade of upgrades.slice(oldVersion)) upgrade(request.result);
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

/**
 * Resolves when a transaction is complete, and rejects with why it was aborted. Not when a request of it fails: that
 * comes first, and why is not yet in `transaction.error` then (in Firefox, a full disk is told of in this way).
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
    // It has ended by itself, which is what was wanted.
  }
}
