import { LRUCache } from 'lru-cache';
import type { Address } from '../address.ts';
import { toHex } from '../address.ts';
import { AntwayError } from '../errors.ts';
import type { ChunkPeers } from '../peers/selection/pool.ts';
import type { Codec } from '../self-encryption/codec.ts';
import type { DataMap } from '../self-encryption/data-map.ts';
import type { ChunkState, Stats } from '../stats/stats.ts';
import type { Trace } from '../stats/trace.ts';
import { SingleFlight } from '../util/single-flight.ts';
import { readAheadChunks } from './read-ahead.ts';
import type { ChunkStore } from './store.ts';
import { VerifiedChunk } from './verified-chunk.ts';

/** Chunks that are on their way though nobody asked for each of them. */
export interface ComingChunks {
  /** @returns the chunk once it is here; undefined when it will not come. @throws the signal's reason. */
  take(address: Address, signal: AbortSignal): Promise<VerifiedChunk | undefined>;
}

export interface RecordOptions {
  signal?: AbortSignal | undefined;
  trace?: Trace | undefined;
  /** About how large the record should be, where that is known. */
  expectedBytes?: number | undefined;
  /** Called when the record is not stored, before a peer is asked for it. */
  onMiss?: () => void;
}

export interface ChunksOptions {
  codec: Codec;
  store: ChunkStore;
  peers: ChunkPeers;
  stats: Stats;
  /** Most bytes of decrypted chunks in memory. */
  memoryBytes: number;
}

/**
 * Verified bytes by address: from memory (decrypted), then the store (encrypted), then the peers. Each place is asked at
 * most once at a time for the same chunk.
 */
export class Chunks {
  readonly #codec: Codec;
  readonly #store: ChunkStore;
  readonly #peers: ChunkPeers;
  readonly #stats: Stats;
  readonly #decrypted: LRUCache<string, Uint8Array<ArrayBuffer>>;
  readonly #coming = new Set<ComingChunks>();
  readonly #fetching = new SingleFlight<VerifiedChunk>();
  readonly #decrypting = new SingleFlight<Uint8Array<ArrayBuffer>>();

  constructor({ codec, store, peers, stats, memoryBytes }: ChunksOptions) {
    this.#codec = codec;
    this.#store = store;
    this.#peers = peers;
    this.#stats = stats;
    this.#decrypted = new LRUCache({
      maxSize: Math.max(memoryBytes, 1),
      sizeCalculation: (bytes) => Math.max(bytes.length, 1),
    });
  }

  /** Chunks that a reader should have under way. */
  get readAhead(): number {
    return readAheadChunks(this.#peers.link?.());
  }

  /**
   * A record's own bytes, checked against its address.
   * @throws AntwayError as `PeerPool.fetch`; the signal's reason when aborted.
   */
  async record(address: Address, options: RecordOptions = {}): Promise<VerifiedChunk> {
    return (await this.#find(address, options)).chunk;
  }

  /** Has requests wait for chunks that are on their way. @returns what ends that. */
  expect(coming: ComingChunks): () => void {
    this.#coming.add(coming);
    return () => this.#coming.delete(coming);
  }

  /** Stores a chunk that came without a request for it. Resolves when there is room in the queue. */
  async receive(chunk: VerifiedChunk): Promise<void> {
    await this.#store.put(chunk);
  }

  /** A record, and whether it was stored here. What a disk gives back is checked like what a peer sends. */
  async #find(
    address: Address,
    { signal, trace, expectedBytes, onMiss }: RecordOptions,
  ): Promise<{ chunk: VerifiedChunk; wasStored: boolean }> {
    // What is on its way before the store is looked into may have come, and been stored, since.
    const coming = new Set(this.#coming);
    const stored = await this.#store.get(address);
    if (stored) {
      try {
        const chunk = await VerifiedChunk.verifyInTurns(address, stored, (bytes) => this.#codec.hash(bytes));
        this.#stats.fromDisk(chunk.bytes.length);
        if (trace) trace.chunks.disk++;
        return { chunk, wasStored: true };
      } catch (error) {
        if (!isCorrupt(error)) throw error;
        await this.#forgetDamaged(address);
      }
    }
    onMiss?.();
    if (onMiss) for (const each of this.#coming) coming.add(each);
    const chunk = await this.#fetch(address, coming, expectedBytes, signal, trace);
    return { chunk, wasStored: false };
  }

  /**
   * The plaintext of chunk `index` of `map`. The bytes are shared with other readers: do not write to them.
   * @throws AntwayError as `PeerPool.fetch`, or `CORRUPT` when the chunk does not open with the map's keys.
   */
  async read(
    map: DataMap,
    index: number,
    signal?: AbortSignal,
    trace?: Trace,
  ): Promise<Uint8Array<ArrayBuffer>> {
    signal?.throwIfAborted();
    const key = keyOf(map, index);
    const opened = this.#decrypted.get(key);
    if (opened) {
      this.#stats.fromMemory(opened.length);
      if (trace) trace.chunks.memory++;
      this.#note(map, index, 'm', trace);
      return opened;
    }
    this.#note(map, index, '~', trace);
    return this.#decrypting.run(
      key,
      signal,
      async (shared) => {
        const plaintext = await this.#decrypt(map, index, shared, trace);
        this.#decrypted.set(key, plaintext);
        return plaintext;
      },
      () => this.#joined(trace),
    );
  }

  async #decrypt(
    map: DataMap,
    index: number,
    signal: AbortSignal,
    trace?: Trace,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const address = map.address(index);
    const { chunk, wasStored } = await this.#find(address, {
      signal,
      trace,
      expectedBytes: map.sizes[index],
    });
    this.#note(map, index, wasStored ? 'd' : 'p', trace);
    // What came from a peer may still have to be written.
    const target = wasStored ? chunk.bytes : undefined;
    const decrypt = () => this.#codec.decrypt(map, index, chunk.bytes, target);
    return trace ? trace.time('openMs', decrypt) : decrypt();
  }

  /** For whoever watches a file being read. The maps of maps are no file. */
  #note(map: DataMap, index: number, state: ChunkState, trace?: Trace): void {
    if (map.childLevel === 0) this.#stats.chunkOf(map, index, state, trace?.path ?? null);
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

  /** Drops a stored chunk that is no longer what was written, so that it is fetched again. */
  async #forgetDamaged(address: Address): Promise<void> {
    this.#stats.damaged();
    await this.#store.delete(address);
  }
}

/** The chunk as soon as one brings it; undefined once it is known that none will. */
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

/** Of chunks that were asked for: to make a name takes longer than to find a chunk by it. */
const keys = new WeakMap<DataMap, string[]>();

/**
 * Names a chunk as a map opens it: by its address and all that its keys are made of. Whoever knows only the address
 * must not find the plaintext, and a map with wrong hashes must not share a run with a right one.
 */
function keyOf(map: DataMap, index: number): string {
  let known = keys.get(map);
  if (!known) {
    known = [];
    keys.set(map, known);
  }
  const before = (steps: number) => toHex(map.srcHash((index - steps + map.count) % map.count));
  known[index] ??= `${map.address(index)}.${before(0)}.${before(1)}.${before(2)}.${index}.${map.childLevel}`;
  return known[index];
}

function isCorrupt(error: unknown): boolean {
  return error instanceof AntwayError && error.code === 'CORRUPT';
}
