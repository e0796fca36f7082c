import { IndexedDbStore } from '../chunks/indexed-db-store.ts';
import { type ChunkStore, noStore } from '../chunks/store.ts';
import type { Stats } from '../stats/stats.ts';
import { LruCache } from '../util/lru-cache.ts';
import type { AntStore, AntStoreOption } from './types.ts';

const memoryBytes = 64 * 1024 ** 2;
const mostDatabaseBytes = 4 * 1024 ** 3;

/** @param option default: IndexedDB where it exists, otherwise memory. */
export function openStore(
  option: AntStoreOption = typeof indexedDB === 'undefined' ? 'memory' : 'indexeddb',
  stats: Stats,
): ChunkStore {
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
  const chunks = new LruCache<Uint8Array>(memoryBytes, ({ length }) => length);
  return {
    get: async (address) => chunks.get(address),
    put: async (address, bytes) => chunks.set(address, bytes),
  };
}

function adapt(store: AntStore): ChunkStore {
  const writing = new Set<Promise<void>>();
  return {
    ...noStore,
    async get({ hex }) {
      try {
        const bytes = await store.get(hex);
        // A copy, because its reader decrypts in place.
        return bytes === undefined ? undefined : new Uint8Array(bytes);
      } catch {
        return undefined;
      }
    },
    async put({ address, bytes }) {
      const written = (async () => store.put(address.hex, bytes.slice()))().then(
        () => undefined,
        () => undefined, // the chunk is fetched again the next time
      );
      writing.add(written);
      await written;
      writing.delete(written);
    },
    async flush() {
      while (writing.size > 0) await Promise.all(writing);
    },
  };
}
