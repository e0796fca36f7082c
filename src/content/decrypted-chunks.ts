import { toHex } from '../address.ts';
import type { Chunks } from '../chunks/chunks.ts';
import { limits } from '../limits.ts';
import type { ChunkPeers } from '../peers/chunk-peers.ts';
import type { Codec } from '../self-encryption/codec.ts';
import type { DataMap } from '../self-encryption/data-map.ts';
import type { ChunkState, Stats } from '../stats/stats.ts';
import type { Trace } from '../stats/trace.ts';
import { LruCache } from '../util/lru-cache.ts';
import { SingleFlight } from '../util/single-flight.ts';
import type { ChunkReader } from './content-file.ts';
import { readAheadChunks } from './read-ahead.ts';

export interface DecryptedChunksOptions {
  chunks: Chunks;
  codec: Codec;
  peers: ChunkPeers;
  stats: Stats;
  /** Most bytes of plaintext in memory, together with the entries of the chunks. */
  memoryBytes: number;
}

/** The plaintext of the chunks of data maps. The chunks read last stay in memory. Concurrent requests share the work. */
export class DecryptedChunks implements ChunkReader {
  readonly #options: DecryptedChunksOptions;
  readonly #inMemory: LruCache<Uint8Array<ArrayBuffer>>;
  readonly #decrypting = new SingleFlight<Uint8Array<ArrayBuffer>>();

  constructor(options: DecryptedChunksOptions) {
    this.#options = options;
    this.#inMemory = new LruCache(options.memoryBytes, ({ length }) => length + limits.chunkEntryBytes);
  }

  /** How many chunks a reader of a whole file requests at the same time. */
  get readAhead(): number {
    return readAheadChunks(this.#options.peers.link?.());
  }

  /** Shared bytes: do not write to them. @throws as `Chunks.record`; `CORRUPT` if the chunk does not decrypt. */
  async read(
    map: DataMap,
    index: number,
    signal?: AbortSignal,
    trace?: Trace,
  ): Promise<Uint8Array<ArrayBuffer>> {
    signal?.throwIfAborted();
    const { stats } = this.#options;
    const key = keyOf(map, index);
    const plaintext = this.#inMemory.get(key);
    if (plaintext) {
      stats.fromMemory(plaintext.length);
      if (trace) trace.chunks.memory++;
      this.#note(map, index, 'm', trace);
      return plaintext;
    }
    this.#note(map, index, '~', trace);
    return this.#decrypting.run(
      key,
      signal,
      async (shared) => {
        const decrypted = await this.#decrypt(map, index, shared, trace);
        this.#inMemory.set(key, decrypted);
        return decrypted;
      },
      () => {
        stats.joined();
        if (trace) trace.chunks.joined++;
      },
    );
  }

  async #decrypt(
    map: DataMap,
    index: number,
    signal: AbortSignal,
    trace?: Trace,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const { chunks, codec } = this.#options;
    const found = await chunks.find(map.address(index), { signal, trace, expectedBytes: map.sizes[index] });
    this.#note(map, index, found.source === 'disk' ? 'd' : 'p', trace);
    // A fetched chunk may still be in the write queue, so its bytes must not be overwritten.
    const target = found.wasStored ? found.chunk.bytes : undefined;
    const decrypt = () => codec.decrypt(map, index, found.chunk.bytes, target);
    return trace ? trace.time('decryptMs', decrypt) : decrypt();
  }

  /** Chunks of nested maps are not reported. */
  #note(map: DataMap, index: number, state: ChunkState, trace?: Trace): void {
    if (map.childLevel === 0) this.#options.stats.chunkOf(map, index, state, trace?.path ?? null);
  }
}

/** Cached, because building a key takes longer than the lookup in memory. */
const keys = new WeakMap<DataMap, string[]>();

/**
 * Memory cache key: the address and all inputs of the encryption keys. Security: the address alone must not give access
 * to the plaintext, and a map with wrong hashes must not share a decryption with a correct map.
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
