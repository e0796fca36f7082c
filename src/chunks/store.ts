import type { Address } from '../address.ts';
import type { VerifiedChunk } from './verified-chunk.ts';

/** What a chunk store holds. */
export interface StoreSummary {
  count: number;
  bytes: number;
  /** Chunks that are still to be written. */
  waiting: number;
  /** Its ceiling in bytes. */
  maxBytes: number;
  /** False when storage is blocked (some private windows): then nothing is kept. */
  available: boolean;
  /** Why it is not available, in the browser's words; null when it is. */
  reason: string | null;
}

/** Stores encrypted chunks between runs. It never throws for want of space or of storage: it then stores less. */
export interface ChunkStore {
  /**
   * The stored bytes, in a buffer that is the caller's alone. They may have been damaged since: the caller checks them.
   * What cannot be read at all is counted as damaged and forgotten.
   */
  get(address: Address): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Takes a chunk for writing. Resolves when there is room in the queue, not when it is on disk. */
  put(chunk: VerifiedChunk): Promise<void>;
  /** Forgets a chunk that turned out damaged. */
  delete(address: Address): Promise<void>;
  /** Resolves once everything that was put until now is written. */
  flush(): Promise<void>;
  /** Forgets every chunk. @throws when the storage fails. */
  clear(): Promise<void>;
  summary(): Promise<StoreSummary>;
}

/**
 * What became of a chunk that was put. `ceiling`: pinned chunks leave no room below the store's ceiling. `quota`: the browser
 * gives no more room. `failed`: the browser's storage failed, or the chunk was never put.
 */
export type WriteOutcome = 'stored' | 'ceiling' | 'quota' | 'failed';

/** What the store has to know of a pin: a record of the object store `pins`, by the address of its content. */
export interface PinOwner {
  /** Whether the pin is being removed. Then it can get no more references. */
  isRemoved?: boolean;
}

/**
 * A chunk store that never evicts the chunks that a pin refers to. The owner of a pin reference is the pin, known by the address
 * of its content.
 */
export interface PinningStore extends ChunkStore {
  /** Resolves once it is known whether a chunk that was put is on disk, whichever worker put it there. */
  written(address: Address): Promise<WriteOutcome>;
  /**
   * The bytes of every chunk on disk, by hex address. Kept up to date with what this worker does; what another one does
   * is learnt by `addPinReferences`, `written` and `forgetSizes`.
   */
  sizes(): Promise<ReadonlyMap<string, number>>;
  /** Has `sizes` read anew: another worker has changed what is stored. */
  forgetSizes(): void;
  /** Grows with every change of `sizes`. */
  readonly changes: number;
  /** Grows when chunks go. */
  readonly losses: number;
  /**
   * Adds references to chunks, stored ones and others: the store evicts none of them. Adding a reference twice has no effect.
   * @returns false, without an effect, once the owner is gone or being removed.
   */
  addPinReferences(owner: Address, chunks: readonly Address[], signal?: AbortSignal): Promise<boolean>;
  /** Removes all references of an owner that is gone or being removed, and deletes the chunks without another reference. */
  removePinReferences(owner: Address): Promise<void>;
  /** Removes the references of an owner to other chunks than these (hex), and deletes those without another reference. */
  retainPinReferences(owner: Address, chunks: ReadonlySet<string>): Promise<void>;
  /** Removes the references of owners that are gone. */
  removeAbandonedPinReferences(): Promise<void>;
  /** Deletes those of the chunks that have no reference. */
  free(chunks: readonly Address[]): Promise<void>;
  /** Evicts until so many bytes can be stored. @returns whether they can be. */
  makeRoom(bytes: number): Promise<boolean>;
}

/** Stores nothing: for a command that runs once. */
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
