import type { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import type { ChunkPeers } from '../peers/chunk-peers.ts';
import type { Codec } from '../self-encryption/codec.ts';
import type { Stats } from '../stats/stats.ts';
import type { Trace } from '../stats/trace.ts';
import { LruCache } from '../util/lru-cache.ts';
import { SingleFlight } from '../util/single-flight.ts';
import type { ChunkStore } from './store.ts';
import { VerifiedChunk } from './verified-chunk.ts';

export interface ComingChunks {
  /** @returns the chunk when it arrives; undefined if it will not arrive. @throws the signal's reason. */
  take(address: Address, signal: AbortSignal): Promise<VerifiedChunk | undefined>;
}

export interface RecordOptions {
  signal?: AbortSignal | undefined;
  trace?: Trace | undefined;
  /** Approximate size of the record in bytes, if known. */
  expectedBytes?: number | undefined;
  /** Called if the record is not stored, before a peer is asked for it. */
  onMiss?: () => void;
}

export interface FoundChunk {
  chunk: VerifiedChunk;
  /** Whether it was stored before. The bytes of another chunk may still be in the store's write queue. */
  wasStored: boolean;
  /** A chunk that was prefetched lately counts as one from a peer. */
  source: 'disk' | 'peer';
}

export interface ChunksOptions {
  codec: Codec;
  store: ChunkStore;
  peers: ChunkPeers;
  stats: Stats;
  /** Called if a record is not stored, before a peer is asked for it. */
  onMiss?: (() => void) | undefined;
}

/** Most prefetched chunks that are remembered until they are read. */
const rememberedPrefetches = 256;
/** How long a prefetched chunk counts as one from a peer, in milliseconds. */
const prefetchedMs = 10_000;

/** Verified bytes, from the store or the peers. Concurrent requests share the work. */
export class Chunks {
  readonly #codec: Codec;
  readonly #store: ChunkStore;
  readonly #peers: ChunkPeers;
  readonly #stats: Stats;
  readonly #onMiss: (() => void) | undefined;
  readonly #coming = new Set<ComingChunks>();
  /** Chunks that were prefetched lately and not read yet, with the time. To the user, a peer gave them. */
  readonly #prefetched = new LruCache<number>(rememberedPrefetches);
  readonly #fetching = new SingleFlight<VerifiedChunk>();

  constructor({ codec, store, peers, stats, onMiss }: ChunksOptions) {
    this.#codec = codec;
    this.#store = store;
    this.#peers = peers;
    this.#stats = stats;
    this.#onMiss = onMiss;
  }

  /** Returns a record's own bytes. @throws AntwayError as `PeerPool.fetch`; the signal's reason when aborted. */
  async record(address: Address, options: RecordOptions = {}): Promise<VerifiedChunk> {
    return (await this.find(address, options)).chunk;
  }

  /** Makes requests wait for chunks of a prefetch. @returns a function that ends this. */
  expect(coming: ComingChunks): () => void {
    this.#coming.add(coming);
    return () => this.#coming.delete(coming);
  }

  /** Stores a prefetched chunk. Resolves when there is room in the queue. */
  async receive(chunk: VerifiedChunk): Promise<void> {
    this.#prefetched.set(chunk.address.hex, Date.now());
    await this.#store.put(chunk);
  }

  /** Returns a record and where it came from. Bytes from disk are verified too. @throws as `record`. */
  async find(address: Address, { signal, trace, expectedBytes, onMiss }: RecordOptions): Promise<FoundChunk> {
    // Take the prefetches before the store is read: a prefetch may deliver the chunk and end during the read.
    const coming = new Set(this.#coming);
    const stored = await this.#store.get(address);
    if (stored) {
      try {
        const chunk = await VerifiedChunk.verifyInTurns(address, stored, (bytes) => this.#codec.hash(bytes));
        const cameAt = this.#prefetched.get(address.hex) ?? 0;
        const source = Date.now() - cameAt < prefetchedMs ? 'peer' : 'disk';
        this.#prefetched.delete(address.hex);
        if (source === 'disk') this.#stats.fromDisk(chunk.bytes.length);
        if (trace) trace.chunks[source]++;
        return { chunk, wasStored: true, source };
      } catch (error) {
        if (!isCorrupt(error)) throw error;
        await this.#forgetDamaged(address);
      }
    }
    onMiss?.();
    this.#onMiss?.();
    if (onMiss) for (const each of this.#coming) coming.add(each);
    const chunk = await this.#fetch(address, coming, expectedBytes, signal, trace);
    this.#prefetched.delete(address.hex);
    return { chunk, wasStored: false, source: 'peer' };
  }

  #fetch(
    address: Address,
    coming: Iterable<ComingChunks>,
    expectedBytes: number | undefined,
    signal?: AbortSignal,
    trace?: Trace,
  ): Promise<VerifiedChunk> {
    return this.#fetching.run(
      address.hex,
      signal,
      async (shared) => {
        const arrived = await firstToCome(coming, address, shared);
        if (arrived) {
          if (trace) trace.chunks.peer++;
          return arrived;
        }
        const blake3 = await this.#codec.blake3();
        const verify = (received: Uint8Array<ArrayBuffer>) => VerifiedChunk.verify(address, received, blake3);
        const ask = () => this.#peers.fetch(address, { signal: shared, verify, expectedBytes });
        const chunk = await (trace ? trace.time('fetchMs', ask) : ask());
        if (trace) trace.chunks.peer++;
        await this.#store.put(chunk);
        return chunk;
      },
      () => this.#joined(trace),
    );
  }

  #joined(trace?: Trace): void {
    this.#stats.joined();
    if (trace) trace.chunks.joined++;
  }

  async #forgetDamaged(address: Address): Promise<void> {
    this.#stats.damaged();
    await this.#store.delete(address);
  }
}

/** Resolves to undefined once no prefetch will deliver the chunk. */
async function firstToCome(
  coming: Iterable<ComingChunks>,
  address: Address,
  signal: AbortSignal,
): Promise<VerifiedChunk | undefined> {
  const taking = Array.from(
    coming,
    async (chunks) => (await chunks.take(address, signal)) ?? Promise.reject(),
  );
  try {
    return await Promise.any(taking);
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

function isCorrupt(error: unknown): boolean {
  return error instanceof AntwayError && error.code === 'CORRUPT';
}
