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

/** Keeps sealed chunks between runs. Never throws for want of space or of storage: it then keeps less. */
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
 * What became of a chunk that was put. `ceiling`: what is held leaves no room for it below the store's ceiling. `quota`:
 * the browser gives no more room. `failed`: the browser's storage failed, or it was never put.
 */
export type WriteOutcome = 'stored' | 'ceiling' | 'quota' | 'failed';

/** What the store has to know of a pin: a record of the object store `pins`, by the address of its content. */
export interface PinOwner {
  /** Whether it is being removed, and so may hold nothing any more. */
  isRemoved?: boolean;
}

/** Chunks that their holders want to keep whatever else has to go. A holder is known by the address of its content. */
export interface PinningStore extends ChunkStore {
  /** Resolves once it is known whether a chunk that was put is on disk, whichever worker put it there. */
  written(address: Address): Promise<WriteOutcome>;
  /**
   * The bytes of every chunk on disk, by hex address. Kept up to date with what this worker does; what another one does
   * is learnt by `hold`, `written` and `forgetSizes`.
   */
  sizes(): Promise<ReadonlyMap<string, number>>;
  /** Has `sizes` read anew: another worker has changed what is stored. */
  forgetSizes(): void;
  /** Grows with every change of `sizes`. */
  readonly changes: number;
  /** Grows when chunks go. */
  readonly losses: number;
  /**
   * Keeps chunks from being evicted, those that are stored and those that will be. Done twice it is done once.
   * @returns false, and holds nothing more, once the holder is gone or being removed.
   */
  addPinReferences(holder: Address, chunks: readonly Address[], signal?: AbortSignal): Promise<boolean>;
  /** Lets go of all that a holder holds that is gone or being removed, and deletes what nobody else holds. */
  removePinReferences(holder: Address): Promise<void>;
  /** Lets go of what a holder holds beside `chunks` (hex), and deletes of it what nobody else holds. */
  retainPinReferences(holder: Address, chunks: ReadonlySet<string>): Promise<void>;
  /** Lets go of what is held by nobody who is still there. */
  removeAbandonedPinReferences(): Promise<void>;
  /** Deletes those of the chunks that nobody holds. */
  free(chunks: readonly Address[]): Promise<void>;
  /** Evicts until so many bytes can be stored. @returns whether they can be. */
  makeRoom(bytes: number): Promise<boolean>;
}

/** Keeps nothing: for a command that runs once. */
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
