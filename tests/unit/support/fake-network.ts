import type { Address } from '../../../src/address.ts';
import { Chunks } from '../../../src/chunks/chunks.ts';
import type { ChunkStore, StoreSummary } from '../../../src/chunks/store.ts';
import type { VerifiedChunk } from '../../../src/chunks/verified-chunk.ts';
import { DecryptedChunks } from '../../../src/content/decrypted-chunks.ts';
import { AntwayError } from '../../../src/errors.ts';
import type { ChunkPeers, FetchOptions } from '../../../src/peers/chunk-peers.ts';
import { Stats } from '../../../src/stats/stats.ts';
import { codec, type Records } from './encrypted-file.ts';

/** A chunk store in memory, for tests that look into it, or damage what it holds. */
export class MemoryStore implements ChunkStore {
  readonly held = new Map<string, Uint8Array<ArrayBuffer>>();
  deleted: string[] = [];

  async get(address: Address): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.held.get(address.hex)?.slice();
  }

  async put({ address, bytes }: VerifiedChunk): Promise<void> {
    this.held.set(address.hex, bytes);
  }

  async delete(address: Address): Promise<void> {
    this.deleted.push(address.hex);
    this.held.delete(address.hex);
  }

  async flush(): Promise<void> {}

  async clear(): Promise<void> {
    this.held.clear();
  }

  async summary(): Promise<StoreSummary> {
    return { count: this.held.size, bytes: 0, waiting: 0, maxBytes: 0, available: true, reason: null };
  }
}

/** Peers that hold some records, tell what they were asked for, and can be made to wait. */
export class MemoryPeers implements ChunkPeers {
  readonly #records: Records;
  readonly asked: string[] = [];
  /** Addresses whose fetch was aborted. */
  readonly aborted: string[] = [];
  underWay = 0;
  mostUnderWay = 0;
  /** Called before each answer; what it waits for, the answer waits for. */
  beforeAnswer: (hex: string, signal: AbortSignal) => Promise<void> = async () => {};

  constructor(records: Records) {
    this.#records = records;
  }

  async fetch<T>(address: Address, { signal, verify }: FetchOptions<T>): Promise<T> {
    this.asked.push(address.hex);
    this.mostUnderWay = Math.max(this.mostUnderWay, ++this.underWay);
    const onAbort = () => void this.aborted.push(address.hex);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      await this.beforeAnswer(address.hex, signal);
      signal.throwIfAborted();
      const bytes = this.#records.get(address.hex);
      if (!bytes) throw new AntwayError('NOT_FOUND', 'no', { address: address.hex });
      return verify(bytes);
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.underWay--;
    }
  }
}

/** The chunk layer over such a store and such peers, with the real codec. */
export function chunksOver(records: Records, { memoryBytes = 64 * 1024 ** 2 } = {}) {
  const store = new MemoryStore();
  const peers = new MemoryPeers(records);
  const stats = new Stats();
  const chunks = new Chunks({ codec, store, peers, stats });
  const decrypted = new DecryptedChunks({ chunks, codec, peers, stats, memoryBytes });
  return { chunks, decrypted, store, peers, stats };
}

/** Rejects when the signal aborts, and otherwise never ends. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
