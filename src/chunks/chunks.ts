import { LRUCache } from 'lru-cache';
import type { Address } from '../address.ts';
import { toHex } from '../address.ts';
import { AntwayError } from '../errors.ts';
import type { ChunkPeers } from '../peers/pool.ts';
import type { OpenRange } from '../peers/protocol.ts';
import { raceAbort } from '../peers/watchdog.ts';
import type { Codec } from '../self-encryption/codec.ts';
import { type DataMap, decodeDataMap } from '../self-encryption/data-map.ts';
import { unshrink } from '../self-encryption/file.ts';
import type { ChunkState, Stats } from '../stats/stats.ts';
import type { Trace } from '../stats/trace.ts';
import { Arrivals } from './arrivals.ts';
import { readAheadChunks } from './read-ahead.ts';
import { SingleFlight } from './single-flight.ts';
import type { ChunkStore } from './store.ts';
import { VerifiedChunk } from './verified-chunk.ts';

/** What of a range is wanted ahead: all of it, the file's first chunk only, or nothing after all. */
export type AheadWish = 'all' | 'first' | 'none';

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
  /** Where chunks come from. What else they have is asked of them directly. */
  readonly peers: ChunkPeers;
  readonly #stats: Stats;
  readonly #opened: LRUCache<string, Uint8Array<ArrayBuffer>>;
  readonly #ahead = new Set<Arrivals>();
  readonly #fetching = new SingleFlight<VerifiedChunk>();
  readonly #opening = new SingleFlight<Uint8Array<ArrayBuffer>>();

  constructor({ codec, store, peers, stats, memoryBytes }: ChunksOptions) {
    this.codec = codec;
    this.store = store;
    this.peers = peers;
    this.#stats = stats;
    this.#opened = new LRUCache({
      maxSize: Math.max(memoryBytes, 1),
      sizeCalculation: (bytes) => Math.max(bytes.length, 1),
    });
  }

  /** Chunks that a reader should have under way. */
  get readAhead(): number {
    return readAheadChunks(this.peers.link?.());
  }

  /**
   * A record's own bytes, checked against its address.
   * @param expectedBytes about how large it should be, where that is known.
   * @throws AntwayError as `PeerPool.fetch`; the signal's reason when aborted.
   */
  async record(
    address: Address,
    signal?: AbortSignal,
    trace?: Trace,
    expectedBytes?: number,
  ): Promise<VerifiedChunk> {
    return (await this.#find(address, signal, trace, expectedBytes)).chunk;
  }

  /** A record, and whether it was stored here. What a disk gives back is checked like what a peer sends. */
  async #find(
    address: Address,
    signal?: AbortSignal,
    trace?: Trace,
    expectedBytes?: number,
  ): Promise<{ chunk: VerifiedChunk; wasStored: boolean }> {
    const ahead = [...this.#ahead];
    const stored = await this.store.get(address);
    if (stored) {
      try {
        const chunk = VerifiedChunk.verify(address, stored, await this.codec.blake3());
        this.#stats.fromDisk(chunk.bytes.length);
        if (trace) trace.chunks.disk++;
        return { chunk, wasStored: true };
      } catch (error) {
        if (!isCorrupt(error)) throw error;
        await this.#forgetDamaged(address);
      }
    }
    const chunk = await this.#fetch(address, ahead, expectedBytes, signal, trace);
    return { chunk, wasStored: false };
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
    const key = keyOf(map, index);
    const opened = this.#opened.get(key);
    if (opened) {
      this.#stats.fromMemory(opened.length);
      if (trace) trace.chunks.memory++;
      this.#note(map, index, 'm', trace);
      return opened;
    }
    this.#note(map, index, '~', trace);
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
    const address = map.address(index);
    const { chunk, wasStored } = await this.#find(address, signal, trace, map.sizes[index]);
    this.#note(map, index, wasStored ? 'd' : 'p', trace);
    const decrypt = () => this.codec.open(map, index, chunk.bytes, { isVerified: true });
    return trace ? trace.time('openMs', decrypt) : decrypt();
  }

  /** For whoever watches a file being read. The maps of maps are no file. */
  #note(map: DataMap, index: number, state: ChunkState, trace?: Trace): void {
    if (map.childLevel === 0) this.#stats.chunkOf(map, index, state, trace?.path ?? null);
  }

  /**
   * Begins to fetch what a range of a file needs, in one round trip where a peer can do that. Requests for those
   * chunks then wait for what is on its way. A hint: nothing is thrown, and what does not come is fetched.
   *
   * @param range in bytes of the file.
   * @param wants what of the range is wanted, once the file's own map is known: the rest is cancelled.
   */
  openAhead(
    address: Address,
    range: OpenRange,
    signal: AbortSignal,
    wants: (file: DataMap) => AheadWish,
  ): void {
    const arrivals = new Arrivals();
    arrivals.expect([address]);
    this.#ahead.add(arrivals);
    this.#receiveAhead(arrivals, address, range, signal, wants)
      .catch((error) => console.warn('antway: reading ahead failed', error))
      .finally(() => {
        arrivals.end();
        this.#ahead.delete(arrivals);
      });
  }

  async #receiveAhead(
    arrivals: Arrivals,
    address: Address,
    range: OpenRange,
    signal: AbortSignal,
    wants: (file: DataMap) => AheadWish,
  ): Promise<void> {
    const blake3 = await this.codec.blake3();
    const controller = new AbortController();
    const stop = () => controller.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const enough = () => controller.abort(new DOMException('The rest is not needed.', 'AbortError'));
    /** Set once the map is known and only the first chunk is wanted. */
    let last: Address | undefined;
    try {
      await this.peers.open?.(address, range, {
        signal: controller.signal,
        onRecord: async (of, bytes) => {
          const chunk = VerifiedChunk.verify(of, bytes, blake3);
          if (of.equals(address)) {
            // Without waiting: opening nested maps needs the records that come next.
            this.#prepare(arrivals, chunk, range, controller.signal)
              .then((root) => {
                const wish = root ? wants(root) : 'all';
                if (wish === 'none') enough();
                if (wish === 'first') last = root!.address(0);
              })
              .finally(() => arrivals.prepared())
              .catch(() => undefined); // whoever opens the map for real meets the same error
          }
          arrivals.arrived(chunk);
          await this.store.put(chunk);
          if (last?.equals(of)) enough();
        },
      });
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Finds out what a peer will send after a file's map. @returns the file's own map. */
  async #prepare(
    arrivals: Arrivals,
    record: VerifiedChunk,
    range: OpenRange,
    signal: AbortSignal,
  ): Promise<DataMap | undefined> {
    const map = decodeDataMap(record.bytes);
    if (!map) return undefined;
    const root = await unshrink(map, (level, index) => {
      arrivals.expect([level.address(index)]);
      return this.open(level, index, signal);
    });
    const start = 'last' in range ? Math.max(root.size - range.last, 0) : range.start;
    const length = 'last' in range ? range.last : range.length || root.size;
    const end = Math.min(start + length, root.size);
    const first = root.chunkAt(start);
    for (let i = first; i < root.count && root.offsets[i]! < end; i++) arrivals.expect([root.address(i)]);
    return root;
  }

  /**
   * @param ahead what was on its way before the store was looked into: it may have come, and been stored, since.
   */
  #fetch(
    address: Address,
    ahead: readonly Arrivals[],
    expectedBytes: number | undefined,
    signal?: AbortSignal,
    trace?: Trace,
  ): Promise<VerifiedChunk> {
    return this.#fetching.run(
      address.hex,
      signal,
      async (shared) => {
        const arrived = await firstArrival(ahead, address, shared);
        if (arrived) {
          if (trace) trace.chunks.peer++;
          return arrived;
        }
        const blake3 = await this.codec.blake3();
        const verify = (received: Uint8Array<ArrayBuffer>) => VerifiedChunk.verify(address, received, blake3);
        const ask = () => this.peers.fetch(address, { signal: shared, verify, expectedBytes });
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

async function firstArrival(
  ahead: readonly Arrivals[],
  address: Address,
  signal: AbortSignal,
): Promise<VerifiedChunk | undefined> {
  for (const arrivals of ahead) {
    const chunk = await raceAbort(arrivals.take(address), signal);
    if (chunk) return chunk;
  }
  return undefined;
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
