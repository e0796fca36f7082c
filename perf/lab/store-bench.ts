import { Address } from '../../src/address.ts';
import { IndexedDbStore } from '../../src/chunks/indexed-db-store.ts';
import { VerifiedChunk } from '../../src/chunks/verified-chunk.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { Stats } from '../../src/stats/stats.ts';

/** The subject of the timing: Antway's chunk store, or nothing but the database's own requests. */
export type StoreKind = 'antway' | 'plain';

export interface StoreTimes {
  putMs: number;
  getMs: number;
}

const plainName = 'lab-plain';
/** Chunks put or got at one time, as readers do. */
const atOnce = 4;

/** Puts so many new chunks, waits until they are written, and gets them. @throws Error when one comes back different. */
export async function timeStore(kind: StoreKind, count: number, chunkBytes: number): Promise<StoreTimes> {
  const blake3 = await loadBlake3();
  const chunks = Array.from({ length: count }, () => {
    const bytes = new Uint8Array(chunkBytes);
    for (let at = 0; at < chunkBytes; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
    return VerifiedChunk.verify(Address.fromBytes(blake3(bytes)), bytes, blake3);
  });
  const store = kind === 'antway' ? antwayStore() : await plainStore();
  let startedMs = performance.now();
  await store.put(chunks);
  const putMs = performance.now() - startedMs;

  startedMs = performance.now();
  const got: (Uint8Array | undefined)[] = [];
  for (let i = 0; i < count; i += atOnce) {
    got.push(...(await Promise.all(chunks.slice(i, i + atOnce).map(({ address }) => store.get(address)))));
  }
  const getMs = performance.now() - startedMs;
  for (const [i, { address }] of chunks.entries()) {
    if (!got[i] || !Address.fromBytes(blake3(got[i])).equals(address))
      throw new Error('A chunk is not as it was.');
  }
  return { putMs, getMs };
}

interface TimedStore {
  put(chunks: readonly VerifiedChunk[]): Promise<void>;
  get(address: Address): Promise<Uint8Array | undefined>;
}

function antwayStore(): TimedStore {
  const store = new IndexedDbStore(new Stats());
  return {
    async put(chunks) {
      for (const chunk of chunks) await store.put(chunk);
      await store.flush();
    },
    get: (address) => store.get(address),
  };
}

/** One transaction for each few chunks, relaxed durability, and no bookkeeping. */
async function plainStore(): Promise<TimedStore> {
  const opening = indexedDB.open(plainName);
  opening.onupgradeneeded = () => opening.result.createObjectStore('chunks');
  const database = await resultOf(opening);
  return {
    async put(chunks) {
      for (let i = 0; i < chunks.length; i += atOnce) {
        const transaction = database.transaction('chunks', 'readwrite', { durability: 'relaxed' });
        for (const { address, bytes } of chunks.slice(i, i + atOnce)) {
          transaction.objectStore('chunks').put(bytes.buffer, address.bytes);
        }
        await new Promise<void>((resolve, reject) => {
          transaction.oncomplete = () => resolve();
          transaction.onabort = () => reject(transaction.error);
        });
      }
    },
    async get(address) {
      const request = database.transaction('chunks').objectStore('chunks').get(address.bytes);
      const buffer = (await resultOf(request)) as ArrayBuffer | undefined;
      return buffer && new Uint8Array(buffer);
    },
  };
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
