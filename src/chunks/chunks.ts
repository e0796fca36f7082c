import { LRUCache } from 'lru-cache';
import type { Address } from '../address.ts';
import { toHex } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ChunkPeers } from '../peers/selection/pool.ts';
import type { PrefetchRange } from '../peers/transports/protocol.ts';
import type { Codec } from '../self-encryption/codec.ts';
import { type DataMap, decodeDataMap } from '../self-encryption/data-map.ts';
import { unshrink } from '../self-encryption/file.ts';
import type { ChunkState, Stats } from '../stats/stats.ts';
import type { Trace } from '../stats/trace.ts';
import { SingleFlight } from '../util/single-flight.ts';
import { PrefetchSession } from './prefetch-session.ts';
import { readAheadChunks } from './read-ahead.ts';
import type { ChunkStore } from './store.ts';
import { VerifiedChunk } from './verified-chunk.ts';

/** What of a range is wanted ahead: all of it, its first chunk only, or nothing after all. */
export type PrefetchScope = 'all' | 'first' | 'none';

/** A part of a file that is fetched ahead. */
export interface PrefetchPart {
  /** In bytes of the file. */
  range: PrefetchRange;
  /** What of it is wanted, once the file's own map is known: the rest is cancelled. All, if not given. */
  wants?(file: DataMap): PrefetchScope;
}

/** A part on its way. */
interface Prefetch extends PrefetchPart {
  session: PrefetchSession;
  /** With which chunk it is enough, where that is before the end of the range. Known with the map. */
  last?: Address;
}

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
  readonly #ahead = new Set<PrefetchSession>();
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
        const chunk = await VerifiedChunk.verifyInTurns(address, stored, (bytes) => this.codec.hash(bytes));
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
  async read(
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
        const plaintext = await this.#decrypt(map, index, shared, trace);
        this.#opened.set(key, plaintext);
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
    const { chunk, wasStored } = await this.#find(address, signal, trace, map.sizes[index]);
    this.#note(map, index, wasStored ? 'd' : 'p', trace);
    // What came from a peer may still have to be written.
    const target = wasStored ? chunk.bytes : undefined;
    const decrypt = () => this.codec.decrypt(map, index, chunk.bytes, target);
    return trace ? trace.time('openMs', decrypt) : decrypt();
  }

  /** For whoever watches a file being read. The maps of maps are no file. */
  #note(map: DataMap, index: number, state: ChunkState, trace?: Trace): void {
    if (map.childLevel === 0) this.#stats.chunkOf(map, index, state, trace?.path ?? null);
  }

  /**
   * Begins to fetch parts of a file with its map, in one round trip where a peer can do that. Requests for those chunks
   * then wait for what is on its way. A hint: nothing is thrown, and what does not come is fetched.
   *
   * @param signal aborts when nobody reads the file any more: then only what is waited for still comes.
   */
  prefetch(address: Address, parts: readonly PrefetchPart[], signal: AbortSignal): void {
    if (signal.aborted) return;
    const openings = parts.map((part): Prefetch => ({ ...part, session: new PrefetchSession() }));
    const release = () => {
      for (const { session: arrivals } of openings) arrivals.release();
    };
    signal.addEventListener('abort', release, { once: true });
    let isKnown = false;
    // The map that came first tells what all of them bring.
    const onMap = (record: VerifiedChunk) => {
      if (isKnown) return;
      isKnown = true;
      this.#prepare(openings, record, signal).catch(() => {
        // Whoever opens the map for real meets the same error, or has gone.
        for (const { session: arrivals } of openings) arrivals.stop();
      });
    };
    const receiving = openings.map(async (opening) => {
      const { session: arrivals } = opening;
      arrivals.expect(address);
      this.#ahead.add(arrivals);
      try {
        await this.#receivePrefetched(opening, address, onMap);
      } catch (error) {
        console.warn('antway: reading ahead failed', error);
      }
      arrivals.end();
      this.#ahead.delete(arrivals);
    });
    void Promise.all(receiving).then(() => signal.removeEventListener('abort', release));
  }

  async #receivePrefetched(
    opening: Prefetch,
    address: Address,
    onMap: (record: VerifiedChunk) => void,
  ): Promise<void> {
    const { session: arrivals, range } = opening;
    const blake3 = await this.codec.blake3();
    let received = 0;
    const onRecord = async (of: Address, bytes: Uint8Array<ArrayBuffer>) => {
      const isExpected = await arrivals.admits(of);
      if (arrivals.signal.aborted) return;
      if (!isExpected) {
        const message = 'The peer sent a chunk that it was not asked for.';
        throw new AntwayError('CORRUPT', message, { address: of.hex });
      }
      const chunk = VerifiedChunk.verify(of, bytes, blake3);
      arrivals.arrived(chunk);
      // At once: when those who wait for the map have it, they find that its chunks are on their way.
      if (of.equals(address)) onMap(chunk);
      await this.store.put(chunk);
      received += bytes.length;
      if (opening.last?.equals(of) || received > limits.aheadBytes) arrivals.stop();
    };
    try {
      await this.peers.prefetch?.(address, range, { signal: arrivals.signal, onRecord });
    } catch (error) {
      if (!arrivals.signal.aborted) throw error;
    }
  }

  /** Finds out what a peer sends after a file's map. */
  async #prepare(openings: readonly Prefetch[], record: VerifiedChunk, signal: AbortSignal): Promise<void> {
    let map = decodeDataMap(record.bytes);
    if (map && map.childLevel > 0) {
      map = await unshrink(map, (level, index) => {
        for (const { session: arrivals } of openings) arrivals.expect(level.address(index));
        return this.read(level, index, signal);
      });
    }
    for (const opening of openings) {
      // What a peer takes for a map and this does not brings chunks that nobody wants, and is nobody's fault.
      if (!map) opening.session.stop();
      else expectPart(map, opening);
      opening.session.prepared();
    }
  }

  /**
   * @param ahead what was on its way before the store was looked into: it may have come, and been stored, since.
   */
  #fetch(
    address: Address,
    ahead: readonly PrefetchSession[],
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

function expectPart(map: DataMap, opening: Prefetch): void {
  const { session: arrivals, range, wants } = opening;
  const wish = wants?.(map) ?? 'all';
  if (wish === 'none') {
    arrivals.stop();
    return;
  }
  const start = 'last' in range ? Math.max(map.size - range.last, 0) : range.start;
  const length = 'last' in range ? range.last : range.length || map.size;
  const end = Math.min(start + length, map.size);
  const most = wish === 'first' ? 1 : limits.aheadChunks;
  const first = map.chunkAt(start);
  for (let i = first; i < map.count && map.offsets[i]! < end; i++) {
    const of = map.address(i);
    arrivals.expect(of);
    if (i + 1 - first < most) continue;
    opening.last = of;
    break;
  }
}

/** The chunk as soon as one brings it; undefined once it is known that none will. */
async function firstArrival(
  ahead: readonly PrefetchSession[],
  address: Address,
  signal: AbortSignal,
): Promise<VerifiedChunk | undefined> {
  const coming = ahead.map(async (arrivals) => (await arrivals.take(address, signal)) ?? Promise.reject());
  try {
    return await Promise.any(coming);
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
