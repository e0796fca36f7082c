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
   * The stored bytes, in a buffer of their own. They may have been damaged since: the caller checks them. What cannot be
   * read at all is counted as damaged and forgotten.
   */
  get(address: Address): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Takes a chunk for writing. Resolves when there is room in the queue, not when it is on disk. */
  put(chunk: VerifiedChunk): Promise<void>;
  /** Forgets a chunk that turned out damaged. */
  delete(address: Address): Promise<void>;
  /** Resolves once everything that was put is written. */
  flush(): Promise<void>;
  /** Forgets every chunk. @throws when the storage fails. */
  clear(): Promise<void>;
  summary(): Promise<StoreSummary>;
}

/** Chunks that their holders want to keep whatever else has to go. A holder is known by the address of its content. */
export interface HoldingStore extends ChunkStore {
  /** Resolves once it is known whether a chunk that was put is on disk. False for one that was never put. */
  written(address: Address): Promise<boolean>;
  /** The bytes of every chunk on disk, by hex address; kept up to date while the worker lives. */
  sizes(): Promise<ReadonlyMap<string, number>>;
  /** Grows with every change of `sizes`. */
  readonly changes: number;
  /** Grows when chunks go. */
  readonly losses: number;
  /** Keeps chunks from being evicted, those that are stored and those that will be. Done twice it is done once. */
  hold(holder: Address, chunks: readonly Address[]): Promise<void>;
  /** Lets go of all that a holder holds, but for `except` (hex), and deletes what nobody else holds. */
  release(holder: Address, except?: ReadonlySet<string>): Promise<void>;
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
