import type { Address } from '../address.ts';
import type { Chunks } from '../chunks/chunks.ts';
import { VerifiedChunk } from '../chunks/verified-chunk.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { ChunkPeers } from '../peers/chunk-peers.ts';
import type { PrefetchRange } from '../peers/transports/protocol.ts';
import { loadBlake3 } from '../self-encryption/blake3.ts';
import type { DataMap } from '../self-encryption/data-map.ts';
import type { DataMaps } from './data-maps.ts';
import type { DecryptedChunks } from './decrypted-chunks.ts';
import { PrefetchSession } from './prefetch-session.ts';

export interface PrefetchPart {
  range: PrefetchRange;
  /**
   * Returns the needed range, once the file's own map is known: `range` itself, or one whose chunks come first in the answer
   * for `range`. The rest is cancelled, and all of it if nothing is needed. Default: all of `range`.
   */
  needed?(file: DataMap): PrefetchRange | undefined;
}

interface Prefetch extends PrefetchPart {
  session: PrefetchSession;
  /** Set when the map is known, if less than the range is needed. */
  last?: Address;
}

export interface PrefetcherOptions {
  chunks: Chunks;
  decrypted: DecryptedChunks;
  peers: ChunkPeers;
  maps: DataMaps;
}

/** Fetches a file's map together with the parts of the file that will be read, by the protocol's OPEN. */
export class Prefetcher {
  readonly #chunks: Chunks;
  readonly #decrypted: DecryptedChunks;
  readonly #peers: ChunkPeers;
  readonly #maps: DataMaps;

  constructor({ chunks, decrypted, peers, maps }: PrefetcherOptions) {
    this.#chunks = chunks;
    this.#decrypted = decrypted;
    this.#peers = peers;
    this.#maps = maps;
  }

  /**
   * Starts to fetch parts of a file with its map, in one round trip if a peer supports it. Requests for these chunks
   * wait for the prefetch. This is a hint: it does not throw, and chunks that do not arrive are fetched.
   * @param signal aborts with the file's last reader. Then only chunks that requests wait for still arrive.
   * @param onArrival called with each chunk that arrived.
   */
  start(
    address: Address,
    parts: readonly PrefetchPart[],
    signal: AbortSignal,
    onArrival?: (chunk: VerifiedChunk) => void,
  ): void {
    if (signal.aborted) return;
    const prefetches = parts.map((part): Prefetch => ({ ...part, session: new PrefetchSession() }));
    const release = () => {
      for (const { session } of prefetches) session.release();
    };
    signal.addEventListener('abort', release, { once: true });
    let isKnown = false;
    // The first map that arrives determines the expected records of all parts.
    const onMap = (record: VerifiedChunk) => {
      if (isKnown) return;
      isKnown = true;
      this.#prepare(prefetches, record, signal).catch(() => {
        // The resolver of this address reports the same error, or has aborted.
        for (const { session } of prefetches) session.stop();
      });
    };
    const receiving = prefetches.map(async (prefetch) => {
      const { session } = prefetch;
      session.expect(address);
      const end = this.#chunks.expect(session);
      try {
        await this.#receive(prefetch, address, onMap, onArrival);
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
    onArrival?: (chunk: VerifiedChunk) => void,
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
      // Start this at once: requests that wait for the map must find its chunks expected.
      if (of.equals(address)) onMap(chunk);
      await this.#chunks.receive(chunk);
      onArrival?.(chunk);
      received += bytes.length;
      if (prefetch.last?.equals(of) || received > limits.prefetchedBytes) session.stop();
    };
    try {
      await this.#peers.prefetch?.(address, range, { signal: session.signal, onRecord });
    } catch (error) {
      if (!session.signal.aborted) throw error;
    }
  }

  /** Determines the records that a peer sends after a file's map. */
  async #prepare(
    prefetches: readonly Prefetch[],
    { address, bytes }: VerifiedChunk,
    signal: AbortSignal,
  ): Promise<void> {
    let { map } = this.#maps.decode(address, bytes);
    if (map && map.childLevel > 0) {
      const onNested = (nested: DataMap) => {
        for (const { session } of prefetches) {
          for (let i = 0; i < nested.count; i++) session.expect(nested.address(i));
        }
      };
      map = await this.#maps.fileMap(map, this.#decrypted, onNested, signal);
    }
    for (const prefetch of prefetches) {
      // The peer parsed this record as a data map, but it is not one. Do not penalise the peer.
      if (!map) prefetch.session.stop();
      else expectPart(map, prefetch);
      prefetch.session.prepared();
    }
  }
}

function expectPart(map: DataMap, prefetch: Prefetch): void {
  const { session, range } = prefetch;
  const needed = prefetch.needed ? prefetch.needed(map) : range;
  let isPart = needed !== range;
  let last: Address | undefined;
  let count = 0;
  for (const index of needed ? chunksOf(map, needed) : []) {
    if (count++ === limits.prefetchedChunks) {
      isPart = true;
      break;
    }
    last = map.address(index);
    session.expect(last);
  }
  if (!isPart) return;
  if (last) prefetch.last = last;
  else session.stop();
}

/** The indexes of the chunks that a peer sends for a range, in its order. */
function* chunksOf(map: DataMap, range: PrefetchRange): Generator<number> {
  if ('endFirst' in range) {
    const tail = map.chunkAt(Math.max(map.size - limits.indexTailBytes, 0));
    yield* overlapping(map, map.offsets[tail]!, map.size);
    yield* overlapping(map, 0, Math.min(range.endFirst, map.offsets[tail]!));
    return;
  }
  const start = 'last' in range ? Math.max(map.size - range.last, 0) : range.start;
  const length = 'last' in range ? range.last : range.length || map.size;
  yield* overlapping(map, start, Math.min(start + length, map.size));
}

function* overlapping(map: DataMap, start: number, end: number): Generator<number> {
  for (let i = map.chunkAt(start); i < map.count && map.offsets[i]! < end; i++) yield i;
}
