import type { Address } from '../address.ts';
import type { VerifiedChunk } from './verified-chunk.ts';

export interface StoreSummary {
  count: number;
  bytes: number;
  /** Chunks that are not written yet. */
  waiting: number;
  maxBytes: number;
  /** False if storage is blocked (some private windows). */
  available: boolean;
  /** The browser's error message; null if storage is available. */
  reason: string | null;
}

/** Stores encrypted chunks between runs. If space or storage is missing, it stores fewer chunks and does not throw. */
export interface ChunkStore {
  /** Returns a buffer of the caller's own. It may be damaged: verify it. An unreadable chunk is counted and deleted. */
  get(address: Address): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Queues a chunk for writing. Resolves when there is room in the queue, not when the chunk is on disk. */
  put(chunk: VerifiedChunk): Promise<void>;
  delete(address: Address): Promise<void>;
  /** Writes all chunks that were put before this call, and resolves when they are written. */
  flush(): Promise<void>;
  /** @throws if the storage fails. */
  clear(): Promise<void>;
  summary(): Promise<StoreSummary>;
}

/**
 * `ceiling`: pinned chunks leave no room below the ceiling. `quota`: the browser's quota is exceeded. `failed`: the
 * browser's storage failed, or the chunk was never put.
 */
export type WriteOutcome = 'stored' | 'ceiling' | 'quota' | 'failed';

/** `removed`: chunks were removed or may have been; others may have been stored, too. */
export type StoreChange = 'stored' | 'removed';

/** The part of a pin that the store uses: a record of the object store `pins`, by the address of its content. */
export interface PinOwner {
  /** A `removed` pin gets no more references. Its record stays until it has no references. */
  status: 'active' | 'paused' | 'removed';
}

/** A chunk store that never evicts chunks with a pin reference. A pin, identified by its address, owns references. */
export interface PinningStore extends ChunkStore {
  /** As `flush`, but without hurry: the store writes when no more chunks arrive, at most a second later. */
  drained(): Promise<void>;
  /** Writes the chunk if it is queued. Resolves whichever worker wrote it. */
  written(address: Address): Promise<WriteOutcome>;
  /** Live, in bytes, by hex address. `addPinReferences`, `written` and `forgetSizes` find changes by other workers. */
  sizes(): Promise<ReadonlyMap<string, number>>;
  /** Call this if another worker has changed the store. The next call of `sizes` reads them again. */
  forgetSizes(): void;
  /** Listens to changes of `sizes`. @returns a function that removes the listener. */
  onChange(listener: (change: StoreChange) => void): () => void;
  /** Idempotent, also for chunks not stored. Resolves to false if the owner does not exist or is being removed. */
  addPinReferences(owner: Address, chunks: readonly Address[], signal?: AbortSignal): Promise<boolean>;
  /** For an owner that does not exist or is being removed. Deletes the chunks without another reference. */
  removePinReferences(owner: Address): Promise<void>;
  /** Removes all other references of the owner. Deletes the chunks without another reference. @param chunks hex. */
  retainPinReferences(owner: Address, chunks: ReadonlySet<string>): Promise<void>;
  /** Deletes those of the chunks that have no reference. */
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
