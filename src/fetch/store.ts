import { IndexedDbStore } from '../chunks/indexed-db-store.ts';
import { type ChunkStore, noStore } from '../chunks/store.ts';
import { limits } from '../limits.ts';
import type { Stats } from '../stats/stats.ts';
import { LruCache } from '../util/lru-cache.ts';
import type { AntStore, AntStoreOption } from './types.ts';

const memoryBytes = 64 * 1024 ** 2;
const mostDatabaseBytes = 4 * 1024 ** 3;
/** How long a `get` of a caller's store may take. */
const mostGetMs = 5_000;
/** How long a read waits for room among the `put`s of a caller's store, and `close` for their end. */
const mostPutMs = 10_000;
/** `put`s of a caller's store at one time. Each has a chunk in memory. */
const mostWrites = 8;

export function openStore(option: AntStoreOption, stats: Stats): ChunkStore {
  if (option === 'memory') return adapt(memoryStore());
  if (option !== 'indexeddb') return adapt(option);
  const store = new IndexedDbStore(stats, mostDatabaseBytes);
  // The same share of the quota as a gateway's.
  globalThis.navigator?.storage
    ?.estimate?.()
    .then(({ quota = Infinity }) => store.setMaxBytes(Math.min(Math.floor(quota / 10), mostDatabaseBytes)))
    .catch(() => undefined); // the ceiling above stays
  return store;
}

function memoryStore(): AntStore {
  const chunks = new LruCache<Uint8Array>(memoryBytes, ({ length }) => length + limits.chunkEntryBytes);
  return {
    get: async (address) => chunks.get(address),
    put: async (address, bytes) => chunks.set(address, bytes),
  };
}

/**
 * A caller's store, which may fail or never answer. A read goes past it then. While a `get` is overdue, chunks come from
 * peers. While no `put` ends, further chunks are not stored.
 */
function adapt(store: AntStore): ChunkStore {
  let overdue = 0;
  let isFull = false;
  const writing = new Set<Promise<void>>();
  return {
    ...noStore,
    async get({ hex }) {
      if (overdue > 0) return undefined;
      const answer = (async () => store.get(hex))().catch(() => undefined);
      const bytes = await within(mostGetMs, answer, () => {
        overdue++;
        void answer.then(() => overdue--);
      });
      // A copy, because its reader decrypts in place.
      return bytes === undefined ? undefined : new Uint8Array(bytes);
    },
    async put({ address, bytes }) {
      if (writing.size >= mostWrites && !isFull) {
        const room = Promise.race(writing);
        await within(mostPutMs, room, () => {
          isFull = true;
          void room.then(() => {
            isFull = false;
          });
        });
      }
      if (writing.size >= mostWrites) return; // the chunk is fetched again the next time
      const written = (async () => store.put(address.hex, bytes.slice()))()
        .catch(() => undefined)
        .then(() => void writing.delete(written));
      writing.add(written);
    },
    async flush() {
      while (writing.size > 0) {
        if ((await within(mostPutMs, Promise.all(writing))) === undefined) return;
      }
    },
  };
}

/** Resolves as the promise does, or to undefined after a time in milliseconds. */
async function within<T>(
  milliseconds: number,
  promise: Promise<T>,
  onTimeout = () => {},
): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      onTimeout();
      resolve(undefined);
    }, milliseconds);
  });
  try {
    return await Promise.race([promise, end]);
  } finally {
    clearTimeout(timer);
  }
}
