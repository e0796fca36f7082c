import type { Address } from '../address.ts';
import type { ChunkStore } from '../chunks/store.ts';
import { addressesOf, type Inventory, takeInventory } from '../content/inventory.ts';
import { AntwayError } from '../errors.ts';
import type { FolderPeerStore } from '../node-peer/folder-store.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import type { ContentReader } from './open-content.ts';

/** Requests at the same time. */
const parallelRequests = 8;

/** Lists all chunks of an address. @throws as `takeInventory`. */
export async function inventoryOf(
  { chunks, decrypted, maps, manifests }: ContentReader,
  address: Address,
  signal: AbortSignal,
): Promise<Inventory> {
  return takeInventory(address, {
    maps,
    manifests,
    denied: new Set(),
    blake3: await loadBlake3(),
    record: async (record) => maps.decode(record, (await chunks.record(record, { signal })).bytes),
    read: (map, index) => decrypted.read(map, index, signal),
  });
}

/** The addresses of an inventory's chunks. A manifest's own bytes are no chunk. */
export function chunksOf(inventory: Inventory): Address[] {
  return [...addressesOf(inventory)];
}

/**
 * Fetches all chunks, several at a time. A store of the reader gets those that it lacks.
 * @param onChunk called after each chunk with its size in bytes.
 * @throws AntwayError with the first failure, after all requests have ended.
 */
export async function fetchAll(
  { chunks }: ContentReader,
  addresses: readonly Address[],
  signal: AbortSignal,
  onChunk: (address: Address, bytes: number) => void,
): Promise<void> {
  await forEachInLanes(addresses, signal, async (address, either) => {
    const { bytes } = await chunks.record(address, { signal: either });
    onChunk(address, bytes.length);
  });
}

/** @throws the first error, after all work has ended. The others are aborted. */
export async function forEachInLanes<T>(
  items: readonly T[],
  signal: AbortSignal,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const waiting = items.values();
  const lane = async () => {
    try {
      for (const item of waiting) {
        either.throwIfAborted();
        await work(item, either);
      }
    } catch (error) {
      stop.abort(error);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallelRequests, items.length) }, lane));
  signal.throwIfAborted();
  if (stop.signal.aborted) throw stop.signal.reason;
}

/**
 * A folder of chunks in the layout of peers, as the store of a reader. `put` throws AntwayError `TOO_LARGE` if the disk is
 * full.
 * @param path names the folder in errors.
 */
export function storeOf(folder: FolderPeerStore, path: string): ChunkStore & { present: number } {
  return {
    present: 0,
    async get(address) {
      const bytes = await folder.read(address);
      if (bytes) this.present++;
      return bytes && new Uint8Array(bytes);
    },
    async put({ address, bytes }) {
      const outcome = await folder.write(address, bytes);
      // A full disk must not look like success. With an address, it does not look like an archive beyond the limits either.
      if (outcome === 'full') {
        throw new AntwayError('TOO_LARGE', `The disk has no room for “${path}”.`, { address: address.hex });
      }
    },
    // `FolderPeerStore` has already moved a damaged chunk away.
    delete: async () => undefined,
    flush: async () => undefined,
    clear: async () => undefined,
    summary: async () => ({
      count: folder.totals.chunks,
      bytes: folder.totals.bytes,
      waiting: 0,
      maxBytes: Number.POSITIVE_INFINITY,
      available: true,
      reason: null,
    }),
  };
}
