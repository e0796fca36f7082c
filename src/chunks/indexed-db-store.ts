import { get, type UseStore } from 'idb-keyval';
import type { Address } from '../address.ts';
import type { Stats } from '../stats/stats.ts';
import {
  addPinReferences,
  deleteChunk,
  evictSlice,
  freeChunks,
  type Metadata,
  removePinReferencesSlice,
  sliceChunks,
  storeBatch,
  type Totals,
} from './bookkeeping.ts';
import { DatabaseAvailability } from './database-availability.ts';
import { ChunkDatabase } from './indexed-db.ts';
import { ReadQueue } from './read-queue.ts';
import { SizeIndex } from './size-index.ts';
import type { PinningStore, StoreChange, StoreSummary, WriteOutcome } from './store.ts';
import { fromStoredForm, isLarge, isLost, type StoredForm } from './stored-form.ts';
import type { VerifiedChunk } from './verified-chunk.ts';
import { WriteQueue, type Written } from './write-queue.ts';

/** Interval at which times of last use are written if nothing else is written, in milliseconds. */
const touchIntervalMs = 10_000;
const touchesPerWrite = 4 * sliceChunks;
/** Eviction frees space down to this share of the ceiling, so that the next write does not evict again. */
const evictTo = 0.9;
const databaseName = 'antway-chunks';

/** The chunk store in IndexedDB. At the ceiling it evicts the least recently used chunks. */
export class IndexedDbStore implements PinningStore {
  readonly #database = new ChunkDatabase(databaseName, {
    onClosed: () => this.#index.forget(),
    onUnopened: (error) => this.#availability.failed(error),
  });
  readonly #index = new SizeIndex(() => this.#database.store('metadata'));
  readonly #availability = new DatabaseAvailability(
    () => this.#totals(),
    () => this.#index.forget(),
  );
  #maxBytes: number;
  readonly #stats: Stats;
  readonly #queue = new WriteQueue((chunks, bytes) => this.#writeBatch(chunks, bytes));
  readonly #chunks = new ReadQueue<StoredForm>(this.#database.store('chunks'));
  readonly #touched = new Map<string, Address>();
  #touchesWrittenAt = 0;
  /** Why the last batch was not stored completely; undefined if it was. */
  #refusal: WriteOutcome | undefined;
  /** False after writing a Blob has failed. Safari stores no Blobs in private windows. */
  #withBlobs = true;

  constructor(stats: Stats, maxBytes = Number.POSITIVE_INFINITY) {
    this.#stats = stats;
    this.#maxBytes = maxBytes;
  }

  /** Object stores in the same database as the chunks, so that the browser clears all of it at once. */
  get pins(): UseStore {
    return this.#database.store('pins');
  }

  get inventories(): UseStore {
    return this.#database.store('inventories');
  }

  async setMaxBytes(maxBytes: number): Promise<void> {
    this.#maxBytes = maxBytes;
    await this.#guarded(() => this.makeRoom(0), false);
  }

  async get(address: Address): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const queued = this.#queue.get(address);
    if (queued) return queued.bytes.slice();
    if (!this.#availability.check()) return undefined;
    try {
      const stored = await this.#chunks.get(address);
      if (!stored) return undefined;
      const bytes = await fromStoredForm(stored);
      this.#touched.set(address.hex, address);
      return bytes;
    } catch (error) {
      if (isLost(error)) await this.#forgetLost(address);
      else this.#failed(error);
      return undefined;
    }
  }

  async put(chunk: VerifiedChunk): Promise<void> {
    if (this.#availability.check()) await this.#queue.put(chunk);
  }

  async written(address: Address): Promise<WriteOutcome> {
    const outcome = this.#queue.outcome(address);
    if (outcome) return outcome;
    try {
      const known = await get<Metadata>(address.bytes, this.#database.store('metadata'));
      this.#index.found([address], [known?.size]);
      return known ? 'stored' : (this.#refusal ?? 'failed');
    } catch (error) {
      this.#failed(error);
      return 'failed';
    }
  }

  async delete(address: Address): Promise<void> {
    await this.#guarded(async () => {
      this.#index.removed(await this.#database.write((stores) => deleteChunk(stores, address)));
    }, undefined);
  }

  flush(): Promise<void> {
    if (this.#queue.size > 0) this.#queue.start();
    return this.drained();
  }

  drained(): Promise<void> {
    if (this.#touched.size > 0 && Date.now() - this.#touchesWrittenAt > touchIntervalMs) this.#queue.start();
    return this.#queue.drained();
  }

  async clear(): Promise<void> {
    await this.flush();
    await this.#database.clear();
    this.#touched.clear();
    this.#index.forget();
  }

  async summary(): Promise<StoreSummary> {
    const totals = this.#availability.check()
      ? await this.#guarded(() => this.#totals(), undefined)
      : undefined;
    return {
      ...(totals ?? { count: 0, bytes: 0 }),
      waiting: this.#queue.size,
      maxBytes: this.#maxBytes,
      available: this.#availability.isAvailable,
      reason: this.#availability.reason,
    };
  }

  sizes(): Promise<ReadonlyMap<string, number>> {
    return this.#index.sizes();
  }

  forgetSizes(): void {
    this.#index.forget();
  }

  onChange(listener: (change: StoreChange) => void): () => void {
    return this.#index.changes.listen(listener);
  }

  async addPinReferences(owner: Address, chunks: readonly Address[], signal?: AbortSignal): Promise<boolean> {
    for (const slice of slicesOf(chunks)) {
      signal?.throwIfAborted();
      const sizes = await this.#database.writeWithPins((stores) => addPinReferences(stores, owner, slice));
      if (!sizes) return false;
      this.#index.found(slice, sizes);
    }
    return true;
  }

  removePinReferences(owner: Address): Promise<void> {
    return this.#release(owner, undefined);
  }

  retainPinReferences(owner: Address, chunks: ReadonlySet<string>): Promise<void> {
    return this.#release(owner, chunks);
  }

  async free(chunks: readonly Address[]): Promise<void> {
    await this.flush();
    for (const slice of slicesOf(chunks)) {
      this.#index.removed(await this.#database.write((stores) => freeChunks(stores, slice)));
    }
  }

  async makeRoom(bytes: number): Promise<boolean> {
    const totals = await this.#totals();
    const stored = totals?.bytes ?? 0;
    if (stored + bytes <= this.#maxBytes) return true;
    const freed = await this.#evict(stored + bytes - this.#maxBytes * evictTo);
    return stored + bytes - freed <= this.#maxBytes;
  }

  async #writeBatch(batch: readonly VerifiedChunk[], bytes: number): Promise<Written> {
    let stored: ReadonlySet<VerifiedChunk> = new Set();
    let refusal: Written['refusal'] = 'ceiling';
    try {
      stored = await this.#write(batch, bytes).catch((error) => this.#writeAgain(batch, bytes, error));
    } catch (error) {
      refusal = isQuotaExceeded(error) ? 'quota' : 'failed';
      this.#failed(error);
    }
    if (batch.length > 0) this.#refusal = stored.size < batch.length ? refusal : undefined;
    for (const chunk of batch) {
      if (stored.has(chunk)) this.#stats.stored(chunk.bytes.length);
      else this.#stats.unstored();
    }
    return { stored, refusal };
  }

  /** Retries a failed write if that can help: after eviction if the quota was exceeded, otherwise without Blobs. */
  async #writeAgain(
    batch: readonly VerifiedChunk[],
    bytes: number,
    error: unknown,
  ): Promise<Set<VerifiedChunk>> {
    if (isQuotaExceeded(error)) {
      await this.#evict(bytes);
      return this.#write(batch, bytes);
    }
    if (!this.#withBlobs || !batch.some(({ bytes }) => isLarge(bytes))) throw error;
    const stored = await this.#write(batch, bytes, false);
    this.#withBlobs = false;
    console.warn('antway: this browser stores no Blobs', error);
    return stored;
  }

  /** @returns the chunks on disk: all of them, unless pinned chunks leave no room. */
  async #write(
    batch: readonly VerifiedChunk[],
    bytes: number,
    withBlobs = this.#withBlobs,
  ): Promise<Set<VerifiedChunk>> {
    // Make room before the write, so that the store never exceeds the ceiling.
    if (bytes > 0) await this.makeRoom(bytes);
    const touched = [...this.#touched.values()].slice(0, touchesPerWrite);
    const { stored } = await this.#database.write((stores) =>
      storeBatch(stores, batch, touched, { maxBytes: this.#maxBytes, withBlobs }),
    );
    for (const { hex } of touched) this.#touched.delete(hex);
    this.#touchesWrittenAt = Date.now();
    this.#index.added(stored);
    return new Set(stored);
  }

  /** Deletes least recently used chunks until `bytes` are free or none is left. @returns the freed bytes. */
  async #evict(bytes: number): Promise<number> {
    let freed = 0;
    for (let isDone = false; !isDone && freed < bytes; ) {
      const missing = bytes - freed;
      const { removed, isLast } = await this.#database.write((stores) => evictSlice(stores, missing));
      this.#index.removed(removed);
      for (const { size } of removed) freed += size;
      isDone = isLast || removed.length === 0;
    }
    return freed;
  }

  async #release(owner: Address, except: ReadonlySet<string> | undefined): Promise<void> {
    await this.flush();
    let after: Address | undefined;
    do {
      const from = after;
      const slice = await this.#database.writeWithPins((stores) =>
        removePinReferencesSlice(stores, owner, from, except),
      );
      this.#index.removed(slice.removed);
      after = slice.last;
    } while (after);
  }

  async #forgetLost(address: Address): Promise<void> {
    this.#stats.damaged();
    await this.delete(address);
  }

  async #guarded<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#failed(error);
      return otherwise;
    }
  }

  #failed(error: unknown): void {
    console.warn('antway: the chunk store failed', error);
  }

  #totals(): Promise<Totals | undefined> {
    return get<Totals>('all', this.#database.store('totals'));
  }
}

function* slicesOf(addresses: readonly Address[]): Generator<readonly Address[]> {
  for (let at = 0; at < addresses.length; at += sliceChunks) yield addresses.slice(at, at + sliceChunks);
}

function isQuotaExceeded(error: unknown): boolean {
  // Newer browsers throw a separate class, QuotaExceededError, with the same name.
  return error instanceof Error && error.name === 'QuotaExceededError';
}
