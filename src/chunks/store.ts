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
}

/** Keeps sealed chunks between runs. Never throws for want of space or of storage: it then keeps less. */
export interface ChunkStore {
  /** The stored bytes, which may have been damaged since: the caller checks them. */
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

/** Keeps nothing: for a command that runs once. */
export const noStore: ChunkStore = {
  get: async () => undefined,
  put: async () => {},
  delete: async () => {},
  flush: async () => {},
  clear: async () => {},
  summary: async () => ({ count: 0, bytes: 0, waiting: 0, maxBytes: 0, available: false }),
};
