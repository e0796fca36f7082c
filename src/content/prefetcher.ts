import type { Address } from '../address.ts';
import type { Chunks } from '../chunks/chunks.ts';
import { VerifiedChunk } from '../chunks/verified-chunk.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ChunkPeers } from '../peers/selection/pool.ts';
import type { PrefetchRange } from '../peers/transports/protocol.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import type { DataMap } from '../self-encryption/data-map.ts';
import { unshrink } from '../self-encryption/file.ts';
import type { DataMaps } from './data-maps.ts';
import { PrefetchSession } from './prefetch-session.ts';

/** What of a range is wanted: all of it, its first chunk only, or nothing after all. */
export type PrefetchScope = 'all' | 'first' | 'none';

/** A part of a file to prefetch. */
export interface PrefetchPart {
  /** In bytes of the file. */
  range: PrefetchRange;
  /** What of it is wanted, once the file's own map is known: the rest is cancelled. All, if not given. */
  scope?(file: DataMap): PrefetchScope;
}

/** A part on its way. */
interface Prefetch extends PrefetchPart {
  session: PrefetchSession;
  /** With which chunk it is enough, where that is before the end of the range. Known with the map. */
  last?: Address;
}

export interface PrefetcherOptions {
  chunks: Chunks;
  peers: ChunkPeers;
  maps: DataMaps;
}

/** Fetches a file's map and what will be read of the file together, by the protocol's OPEN. */
export class Prefetcher {
  readonly #chunks: Chunks;
  readonly #peers: ChunkPeers;
  readonly #maps: DataMaps;

  constructor({ chunks, peers, maps }: PrefetcherOptions) {
    this.#chunks = chunks;
    this.#peers = peers;
    this.#maps = maps;
  }

  /**
   * Begins to fetch parts of a file with its map, in one round trip where a peer can do that. Requests for those chunks
   * then wait for what is on its way. A hint: nothing is thrown, and what does not come is fetched.
   *
   * @param signal aborts when nobody reads the file any more: then only what is waited for still comes.
   */
  start(address: Address, parts: readonly PrefetchPart[], signal: AbortSignal): void {
    if (signal.aborted) return;
    const prefetches = parts.map((part): Prefetch => ({ ...part, session: new PrefetchSession() }));
    const release = () => {
      for (const { session } of prefetches) session.release();
    };
    signal.addEventListener('abort', release, { once: true });
    let isKnown = false;
    // The map that came first tells what all of them bring.
    const onMap = (record: VerifiedChunk) => {
      if (isKnown) return;
      isKnown = true;
      this.#prepare(prefetches, record, signal).catch(() => {
        // Whoever resolves the address meets the same error, or has gone.
        for (const { session } of prefetches) session.stop();
      });
    };
    const receiving = prefetches.map(async (prefetch) => {
      const { session } = prefetch;
      session.expect(address);
      const end = this.#chunks.expect(session);
      try {
        await this.#receive(prefetch, address, onMap);
      } catch (error) {
        console.warn('antway: prefetching failed', error);
      }
      session.end();
      end();
    });
    void Promise.all(receiving).then(() => signal.removeEventListener('abort', release));
  }

  async #receive(
    prefetch: Prefetch,
    address: Address,
    onMap: (record: VerifiedChunk) => void,
  ): Promise<void> {
    const { session, range } = prefetch;
    const blake3 = await loadBlake3();
    let received = 0;
    const onRecord = async (of: Address, bytes: Uint8Array<ArrayBuffer>) => {
      const isExpected = await session.admits(of);
      if (session.signal.aborted) return;
      if (!isExpected) {
        const message = 'The peer sent a chunk that it was not asked for.';
        throw new AntwayError('CORRUPT', message, { address: of.hex });
      }
      const chunk = VerifiedChunk.verify(of, bytes, blake3);
      session.arrived(chunk);
      // At once: when those who wait for the map have it, they find that its chunks are on their way.
      if (of.equals(address)) onMap(chunk);
      await this.#chunks.receive(chunk);
      received += bytes.length;
      if (prefetch.last?.equals(of) || received > limits.aheadBytes) session.stop();
    };
    try {
      await this.#peers.prefetch?.(address, range, { signal: session.signal, onRecord });
    } catch (error) {
      if (!session.signal.aborted) throw error;
    }
  }

  /** Finds out what a peer sends after a file's map. */
  async #prepare(
    prefetches: readonly Prefetch[],
    { address, bytes }: VerifiedChunk,
    signal: AbortSignal,
  ): Promise<void> {
    let { map } = this.#maps.decode(address, bytes);
    if (map && map.childLevel > 0) {
      map = await unshrink(map, (level, index) => {
        for (const { session } of prefetches) session.expect(level.address(index));
        return this.#chunks.read(level, index, signal);
      });
    }
    for (const prefetch of prefetches) {
      // What a peer takes for a map and this does not brings chunks that nobody wants, and is nobody's fault.
      if (!map) prefetch.session.stop();
      else expectPart(map, prefetch);
      prefetch.session.prepared();
    }
  }
}

function expectPart(map: DataMap, prefetch: Prefetch): void {
  const { session, range } = prefetch;
  const scope = prefetch.scope?.(map) ?? 'all';
  if (scope === 'none') {
    session.stop();
    return;
  }
  const start = 'last' in range ? Math.max(map.size - range.last, 0) : range.start;
  const length = 'last' in range ? range.last : range.length || map.size;
  const end = Math.min(start + length, map.size);
  const most = scope === 'first' ? 1 : limits.aheadChunks;
  const first = map.chunkAt(start);
  for (let i = first; i < map.count && map.offsets[i]! < end; i++) {
    const of = map.address(i);
    session.expect(of);
    if (i + 1 - first < most) continue;
    prefetch.last = of;
    break;
  }
}
