import { createStore } from 'idb-keyval';
import { Chunks } from '../../../src/chunks/chunks.ts';
import { storeNames } from '../../../src/chunks/indexed-db.ts';
import { IndexedDbStore } from '../../../src/chunks/indexed-db-store.ts';
import { DataMaps } from '../../../src/content/data-maps.ts';
import { DecryptedChunks } from '../../../src/content/decrypted-chunks.ts';
import { Library } from '../../../src/library/library.ts';
import type { ManifestStorage } from '../../../src/library/site-file.ts';
import { Stats } from '../../../src/stats/stats.ts';
import { codec, type Records } from './encrypted-file.ts';
import { MemoryPeers } from './fake-network.ts';

const noManifests: ManifestStorage = {
  has: async () => false,
  get: async () => undefined,
  add: () => Promise.reject(new Error('There are no manifests here.')),
  list: async () => [],
};

/** The objects of one worker over the databases of its origin. Several workers may share these. */
export function startWorker(records: Records, manifests = noManifests) {
  const stats = new Stats();
  const store = new IndexedDbStore(stats);
  const peers = new MemoryPeers(records);
  // No decrypted chunk stays in memory, so every read is one of the store.
  const chunks = new Chunks({ codec, store, peers, stats });
  const decrypted = new DecryptedChunks({ chunks, codec, peers, stats, memoryBytes: 0 });
  const library = new Library({
    store,
    chunks,
    decrypted,
    maps: new DataMaps(),
    manifests,
    denied: new Set(),
    stats,
    settings: createStore('antway-test', 'settings'),
    onPins() {},
    onVisits() {},
  });
  return { store, peers, chunks, stats, library, pins: library.pins };
}

/** How many rows each object store of the chunk database has. */
export async function countRows(): Promise<Record<keyof typeof storeNames, number>> {
  const database = await done(indexedDB.open('antway-chunks'));
  const names = Object.values(storeNames);
  const transaction = database.transaction(names);
  const counts = names.map(async (name) => [name, await done(transaction.objectStore(name).count())]);
  const rows = Object.fromEntries(await Promise.all(counts));
  database.close();
  return rows;
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
