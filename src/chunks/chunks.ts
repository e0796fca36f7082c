import { LRUCache } from 'lru-cache';
import type { Address } from '../address.ts';
import { equalBytes, toHex } from '../address.ts';
import { AntwayError } from '../errors.ts';
import type { ChunkPeers } from '../peers/pool.ts';
import type { Codec } from '../self-encryption/codec.ts';
import type { DataMap } from '../self-encryption/data-map.ts';
import type { Stats } from '../stats/stats.ts';
import type { Trace } from '../stats/trace.ts';
import { SingleFlight } from './single-flight.ts';
import type { ChunkStore } from './store.ts';
import { VerifiedChunk } from './verified-chunk.ts';

export interface ChunksOptions {
  codec: Codec;
  store: ChunkStore;
  peers: ChunkPeers;
  stats: Stats;
  /** Most bytes of opened chunks kept in memory. */
  memoryBytes: number;
}

/** Chunks by address: memory (opened), then the store (sealed), then the peers; each asked at most once at a time. */
export class Chunks {
  readonly codec: Codec;
  readonly store: ChunkStore;
  readonly #peers: ChunkPeers;
  readonly #stats: Stats;
  readonly #opened: LRUCache<string, Uint8Array<ArrayBuffer>>;
  readonly #fetching = new SingleFlight<VerifiedChunk>();
  readonly #opening = new SingleFlight<Uint8Array<ArrayBuffer>>();

  constructor({ codec, store, peers, stats, memoryBytes }: ChunksOptions) {
    this.codec = codec;
    this.store = store;
    this.#peers = peers;
    this.#stats = stats;
    this.#opened = new LRUCache({
      maxSize: Math.max(memoryBytes, 1),
      sizeCalculation: (bytes) => Math.max(bytes.length, 1),
    });
  }

  /**
   * A record's own bytes, checked against its address.
   * @throws AntwayError as `PeerPool.fetch`; the signal's reason when aborted.
   */
  async record(address: Address, signal?: AbortSignal, trace?: Trace): Promise<VerifiedChunk> {
    const stored = await this.store.get(address);
    if (stored) {
      try {
        const chunk = VerifiedChunk.verify(address, stored, await this.codec.blake3());
        this.#stats.fromDisk(chunk.bytes.length);
        if (trace) trace.chunks.disk++;
        return chunk;
      } catch (error) {
        if (!isCorrupt(error)) throw error;
        await this.#forgetDamaged(address);
      }
    }
    return this.#fetch(address, signal, trace);
  }

  /**
   * The plaintext of chunk `index` of `map`. The bytes are shared with other readers: do not write to them.
   * @throws AntwayError as `PeerPool.fetch`, or `CORRUPT` when the chunk does not open with the map's keys.
   */
  async open(
    map: DataMap,
    index: number,
    signal?: AbortSignal,
    trace?: Trace,
  ): Promise<Uint8Array<ArrayBuffer>> {
    signal?.throwIfAborted();
    // Both hashes: whoever knows only a sealed chunk's address must not find its plaintext here.
    const key = toHex(map.dstHashes.subarray(32 * index, 32 * index + 32)) + toHex(map.srcHash(index));
    const opened = this.#opened.get(key);
    if (opened) {
      this.#stats.fromMemory(opened.length);
      if (trace) trace.chunks.memory++;
      return opened;
    }
    return this.#opening.run(
      key,
      signal,
      async (shared) => {
        const plaintext = await this.#openSealed(map, index, shared, trace);
        this.#opened.set(key, plaintext);
        return plaintext;
      },
      () => this.#joined(trace),
    );
  }

  async #openSealed(
    map: DataMap,
    index: number,
    signal: AbortSignal,
    trace?: Trace,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const decrypt = (sealed: Uint8Array) => {
      const work = () => this.codec.open(map, index, sealed);
      return trace ? trace.time('openMs', work) : work();
    };
    const address = map.address(index);
    const stored = await this.store.get(address);
    if (stored) {
      try {
        // No hash here: the AEAD's tag and the plaintext's own hash tell whether the disk kept it well.
        const plaintext = await decrypt(stored);
        this.#stats.fromDisk(stored.length);
        if (trace) trace.chunks.disk++;
        return plaintext;
      } catch (error) {
        // A good chunk that does not open is the fault of the map, and fetching it again would not help.
        const blake3 = await this.codec.blake3();
        if (!isCorrupt(error) || equalBytes(blake3(stored), address.bytes)) throw error;
        await this.#forgetDamaged(address);
      }
    }
    const chunk = await this.#fetch(address, signal, trace);
    return decrypt(chunk.bytes);
  }

  #fetch(address: Address, signal?: AbortSignal, trace?: Trace): Promise<VerifiedChunk> {
    return this.#fetching.run(
      address.hex,
      signal,
      async (shared) => {
        const blake3 = await this.codec.blake3();
        const verify = (received: Uint8Array<ArrayBuffer>) => VerifiedChunk.verify(address, received, blake3);
        const ask = () => this.#peers.fetch(address, { signal: shared, verify });
        const chunk = await (trace ? trace.time('fetchMs', ask) : ask());
        if (trace) trace.chunks.peer++;
        await this.store.put(chunk);
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
    await this.store.delete(address);
  }
}

function isCorrupt(error: unknown): boolean {
  return error instanceof AntwayError && error.code === 'CORRUPT';
}
