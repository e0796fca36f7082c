import type { Address } from '../address.ts';
import type { VerifiedChunk } from './verified-chunk.ts';

/** Summary of a chunk store. */
export interface StoreSummary {
  count: number;
  bytes: number;
  /** Chunks that are not written yet. */
  waiting: number;
  /** Its ceiling in bytes. */
  maxBytes: number;
  /** False if storage is blocked (some private windows): then nothing is stored. */
  available: boolean;
  /** The browser's error message if storage is not available; null if it is. */
  reason: string | null;
}

/**
 * Stores encrypted chunks between runs. It does not throw if space or storage is missing: it stores fewer chunks then.
 */
export interface ChunkStore {
  /**
   * Returns the stored bytes, in a buffer that only the caller uses. The bytes may be damaged: the caller must verify
   * them. An unreadable chunk is counted as damaged and deleted.
   */
  get(address: Address): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Queues a chunk for writing. Resolves when there is room in the queue, not when the chunk is on disk. */
  put(chunk: VerifiedChunk): Promise<void>;
  /** Deletes a chunk that turned out to be damaged. */
  delete(address: Address): Promise<void>;
  /** Resolves when all chunks that were put before this call are written. */
  flush(): Promise<void>;
  /** Deletes all chunks. @throws if the storage fails. */
  clear(): Promise<void>;
  summary(): Promise<StoreSummary>;
}

/**
 * The outcome of writing a chunk. `ceiling`: pinned chunks leave no room below the store's ceiling. `quota`: the
 * browser's quota is exceeded. `failed`: the browser's storage failed, or the chunk was never put.
 */
export type WriteOutcome = 'stored' | 'ceiling' | 'quota' | 'failed';

/** A change of the store. `removed`: chunks were removed or may have been; others may have been stored, too. */
export type StoreChange = 'stored' | 'removed';

/** The part of a pin that the store uses: a record of the object store `pins`, by the address of its content. */
export interface PinOwner {
  /** A `removed` pin gets no more references. Its record stays until it has no references. */
  status: 'active' | 'paused' | 'removed';
}

/**
 * A chunk store that never evicts chunks with a pin reference. The owner of a pin reference is a pin, identified by the
 * address of its content.
 */
export interface PinningStore extends ChunkStore {
  /** Resolves with the outcome of writing a chunk, whichever worker wrote it. */
  written(address: Address): Promise<WriteOutcome>;
  /**
   * The size in bytes of every chunk on disk, by hex address. The map follows changes by this worker. Changes by
   * another worker are found by `addPinReferences`, `written` and `forgetSizes`.
   */
  sizes(): Promise<ReadonlyMap<string, number>>;
  /** Discards `sizes`, because another worker has changed the store. The next call reads them again. */
  forgetSizes(): void;
  /** Calls the listener after every change of `sizes`. @returns a function that removes the listener. */
  onChange(listener: (change: StoreChange) => void): () => void;
  /**
   * Adds references to chunks, stored or not. The store evicts none of them. Adding a reference twice has no effect.
   * @returns false, without an effect, if the owner does not exist or is being removed.
   */
  addPinReferences(owner: Address, chunks: readonly Address[], signal?: AbortSignal): Promise<boolean>;
  /**
   * Removes all references of an owner that does not exist or is being removed. Deletes the chunks without another
   * reference.
   */
  removePinReferences(owner: Address): Promise<void>;
  /**
   * Removes the references of an owner to all chunks except these (hex). Deletes the chunks without another reference.
   */
  retainPinReferences(owner: Address, chunks: ReadonlySet<string>): Promise<void>;
  /** Deletes the given chunks that have no reference. */
  free(chunks: readonly Address[]): Promise<void>;
  /** Evicts chunks until `bytes` more can be stored. @returns whether they can be stored. */
  makeRoom(bytes: number): Promise<boolean>;
}

/** Stores nothing. Used by commands that run once. */
export const noStore: ChunkStore = {
  get: async () => undefined,
  put: async () => {},
  delete: async () => {},
  flush: async () => {},
  clear: async () => {},
  summary: async () => ({
    count: 0,
    bytes: 0,
    waiting: 0,
    maxBytes: 0,
    available: false,
    reason: 'There is none.',
  }),
};
