import { get, promisifyRequest } from 'idb-keyval';
import type { Address } from '../address.ts';
import type { Stats } from '../stats/stats.ts';
import { ChunkDatabase } from './indexed-db.ts';
import type { ChunkStore, StoreSummary } from './store.ts';
import type { VerifiedChunk } from './verified-chunk.ts';

interface Metadata {
  size: number;
  /** Milliseconds since 1970. */
  lastUsed: number;
}

interface Totals {
  count: number;
  bytes: number;
}

/** Bytes that may wait to be written before `put` makes its caller wait. */
const queueBytes = 32 * 1024 * 1024;
/** Bytes written in one transaction. */
const batchBytes = 16 * 1024 * 1024;
/** How often the times of last use are brought up to date when nothing else is written, in milliseconds. */
const touchIntervalMs = 10_000;
/** After eviction the store is this much below its ceiling, so that the next write does not evict again. */
const evictTo = 0.9;

const databaseName = 'antway-chunks';

/** The chunk store in IndexedDB: ciphertext only, least recently used chunks evicted at the ceiling. */
export class IndexedDbStore implements ChunkStore {
  readonly #database = new ChunkDatabase(databaseName);
  readonly #maxBytes: number;
  readonly #stats: Stats;
  /** Put but not yet written; readers find them here. */
  readonly #queue = new Map<string, VerifiedChunk>();
  #queuedBytes = 0;
  /** Read since the last write: their `lastUsed` is brought up to date with the next one. */
  readonly #touched = new Map<string, Address>();
  #touchesWrittenAt = 0;
  #writing: Promise<void> | undefined;
  #available = true;
  #hasWorked = false;

  constructor(maxBytes: number, stats: Stats) {
    this.#maxBytes = maxBytes;
    this.#stats = stats;
  }

  async get(address: Address): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const queued = this.#queue.get(address.hex);
    if (queued) return queued.bytes;
    if (!this.#available) return undefined;
    try {
      const stored = await get<ArrayBuffer>(address.bytes, this.#database.store('chunks'));
      this.#hasWorked = true;
      if (!stored) return undefined;
      this.#touched.set(address.hex, address);
      return new Uint8Array(stored);
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  async put(chunk: VerifiedChunk): Promise<void> {
    if (!this.#available || this.#queue.has(chunk.address.hex)) return;
    this.#queue.set(chunk.address.hex, chunk);
    this.#queuedBytes += chunk.bytes.length;
    this.#startWriting();
    while (this.#queuedBytes > queueBytes && this.#writing) await this.#writing;
  }

  async delete(address: Address): Promise<void> {
    try {
      await this.#database.write(async ({ chunks, metadata, totals }) => {
        const known: Metadata | undefined = await promisifyRequest(metadata.get(address.bytes));
        if (!known) return;
        chunks.delete(address.bytes);
        metadata.delete(address.bytes);
        await changeTotals(totals, -1, -known.size);
      });
    } catch (error) {
      this.#failed(error);
    }
  }

  async flush(): Promise<void> {
    if (this.#touched.size > 0 && Date.now() - this.#touchesWrittenAt > touchIntervalMs) this.#startWriting();
    while (this.#writing) await this.#writing;
  }

  async clear(): Promise<void> {
    await this.flush();
    await this.#database.write(({ chunks, metadata, totals }) => {
      for (const store of [chunks, metadata, totals]) store.clear();
    });
    this.#touched.clear();
  }

  async summary(): Promise<StoreSummary> {
    let totals: Totals | undefined;
    try {
      totals = await get<Totals>('all', this.#database.store('totals'));
    } catch (error) {
      this.#failed(error);
    }
    return {
      ...(totals ?? { count: 0, bytes: 0 }),
      waiting: this.#queue.size,
      maxBytes: this.#maxBytes,
      available: this.#available,
    };
  }

  #startWriting(): void {
    this.#writing ??= this.#writeBatch().finally(() => {
      this.#writing = undefined;
      if (this.#queue.size > 0) this.#startWriting();
    });
  }

  async #writeBatch(): Promise<void> {
    // Let what arrives in the same moment join the batch.
    await new Promise((resolve) => setTimeout(resolve));
    const batch: VerifiedChunk[] = [];
    let bytes = 0;
    for (const chunk of this.#queue.values()) {
      if (batch.length > 0 && bytes + chunk.bytes.length > batchBytes) break;
      batch.push(chunk);
      bytes += chunk.bytes.length;
    }
    try {
      await this.#write(batch).catch(async (error) => {
        if (!isQuotaExceeded(error)) throw error;
        await this.#evict(bytes);
        await this.#write(batch);
      });
      for (const chunk of batch) this.#stats.stored(chunk.bytes.length);
    } catch (error) {
      for (const _ of batch) this.#stats.unstored();
      this.#failed(error);
    } finally {
      for (const chunk of batch) this.#queue.delete(chunk.address.hex);
      this.#queuedBytes -= bytes;
    }
  }

  async #write(batch: readonly VerifiedChunk[]): Promise<void> {
    const now = Date.now();
    const touched = [...this.#touched.values()];
    let total = 0;
    await this.#database.write(async ({ chunks, metadata, totals }) => {
      let count = 0;
      let bytes = 0;
      const known = await Promise.all(
        batch.map(({ address }) => promisifyRequest<Metadata | undefined>(metadata.get(address.bytes))),
      );
      for (const [i, chunk] of batch.entries()) {
        if (known[i]) continue;
        chunks.put(exactBuffer(chunk.bytes), chunk.address.bytes);
        metadata.put({ size: chunk.bytes.length, lastUsed: now } satisfies Metadata, chunk.address.bytes);
        count++;
        bytes += chunk.bytes.length;
      }
      for (const address of touched) {
        const metadatum: Metadata | undefined = await promisifyRequest(metadata.get(address.bytes));
        if (metadatum) metadata.put({ ...metadatum, lastUsed: now } satisfies Metadata, address.bytes);
      }
      total = (await changeTotals(totals, count, bytes)).bytes;
    });
    for (const { hex } of touched) this.#touched.delete(hex);
    this.#touchesWrittenAt = now;
    if (total > this.#maxBytes) await this.#evict(total - this.#maxBytes * evictTo);
  }

  /** Deletes least recently used chunks until `bytes` are free or none is left. */
  async #evict(bytes: number): Promise<void> {
    await this.#database.write(async ({ chunks, metadata, totals }) => {
      let freed = 0;
      let count = 0;
      const request = metadata.index('lastUsed').openCursor();
      for (let cursor = await promisifyRequest(request); cursor && freed < bytes; ) {
        freed += (cursor.value as Metadata).size;
        count++;
        chunks.delete(cursor.primaryKey);
        cursor.delete();
        const next = promisifyRequest(request);
        cursor.continue();
        cursor = await next;
      }
      await changeTotals(totals, -count, -freed);
    });
  }

  /** Storage that never worked (blocked, private window) is not tried again by this worker. */
  #failed(error: unknown): void {
    if (!this.#hasWorked) this.#available = false;
    console.warn('antway: the chunk store failed', error);
  }
}

async function changeTotals(totals: IDBObjectStore, count: number, bytes: number): Promise<Totals> {
  const before: Totals = (await promisifyRequest(totals.get('all'))) ?? { count: 0, bytes: 0 };
  const after = { count: before.count + count, bytes: before.bytes + bytes };
  totals.put(after, 'all');
  return after;
}

function isQuotaExceeded(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'QuotaExceededError';
}

/** The buffer to store: a view would take its whole backing buffer along. */
function exactBuffer(bytes: Uint8Array<ArrayBuffer>): ArrayBuffer {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer;
}
