import type { Address } from '../address.ts';
import { limits } from '../limits.ts';
import type { DataMap } from '../self-encryption/data-map.ts';
import type { Trace } from '../stats/trace.ts';
import type { ByteSource } from './byte-source.ts';

/** Reads the chunks of data maps, from any source. */
export interface ChunkReader {
  /** How many chunks a stream has in flight. */
  readonly readAhead: number;
  /** Returns a chunk's plaintext. */
  read(map: DataMap, index: number, signal?: AbortSignal, trace?: Trace): Promise<Uint8Array>;
}

/** A self-encrypted file with random access: only the chunks that overlap a range are fetched. */
export class ContentFile implements ByteSource {
  readonly size: number;
  readonly #chunks: ChunkReader;
  readonly #map: DataMap;

  /** @param map the file's own map, not a shrunk one. */
  constructor(map: DataMap, chunks: ChunkReader) {
    this.size = map.size;
    this.#map = map;
    this.#chunks = chunks;
  }

  get memoryBytes(): number {
    return this.#map.memoryBytes;
  }

  /** Reads after this position need no further fetch once the last chunk is loaded. */
  get lastChunkStart(): number {
    return this.#map.offsets[this.#map.count - 1]!;
  }

  async read(start: number, end: number, signal?: AbortSignal, trace?: Trace): Promise<Uint8Array> {
    if (start >= end) return new Uint8Array();
    const parts = this.#parts(start, end);
    if (parts.length === 1) return this.#part(parts[0]!, signal, trace);
    // A hostile map may have thousands of chunks in a few bytes. A stream requests few at the same time.
    const bytes = new Uint8Array(end - start);
    const reader = this.stream(start, end, signal, trace).getReader();
    let at = 0;
    while (at < bytes.length) {
      const piece = (await reader.read()).value!;
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }

  stream(start: number, end: number, signal?: AbortSignal, trace?: Trace): ReadableStream<Uint8Array> {
    const controller = new AbortController();
    const onAbort = () => controller.abort(signal?.reason);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    const finish = () => signal?.removeEventListener('abort', onAbort);

    const parts = start < end ? this.#parts(start, end) : [];
    const pending: Promise<Uint8Array>[] = [];
    let next = 0;
    let current: Uint8Array = new Uint8Array();
    const fetchAhead = () => {
      while (next < parts.length && pending.length < this.#chunks.readAhead) {
        const part = this.#part(parts[next++]!, controller.signal, trace);
        part.catch(() => undefined); // reported when its turn comes
        pending.push(part);
      }
    };

    return new ReadableStream<Uint8Array>(
      {
        pull: async (stream) => {
          try {
            if (current.length === 0) {
              fetchAhead();
              const part = pending.shift();
              if (!part) {
                finish();
                stream.close();
                return;
              }
              current = await part;
              fetchAhead();
            }
            stream.enqueue(current.subarray(0, limits.streamPieceBytes));
            current = current.subarray(limits.streamPieceBytes);
            if (current.length === 0 && pending.length === 0 && next === parts.length) {
              finish();
              stream.close();
            }
          } catch (error) {
            finish();
            controller.abort(error);
            throw error;
          }
        },
        cancel: (reason) => {
          finish();
          controller.abort(reason ?? new DOMException('The consumer went away.', 'AbortError'));
        },
      },
      { highWaterMark: 0 },
    );
  }

  chunks(start: number, end: number): Address[] {
    return this.#parts(start, end).map(({ index }) => this.#map.address(index));
  }

  #parts(start: number, end: number): Part[] {
    if (start < 0 || end > this.size) throw new RangeError(`${start}–${end} is outside 0–${this.size}`);
    const { offsets } = this.#map;
    const parts: Part[] = [];
    for (let index = this.#map.chunkAt(start); index < this.#map.count && offsets[index]! < end; index++) {
      const base = offsets[index]!;
      parts.push({ index, from: Math.max(start - base, 0), to: Math.min(end, offsets[index + 1]!) - base });
    }
    return parts;
  }

  async #part({ index, from, to }: Part, signal?: AbortSignal, trace?: Trace): Promise<Uint8Array> {
    return (await this.#chunks.read(this.#map, index, signal, trace)).subarray(from, to);
  }
}

interface Part {
  index: number;
  /** Positions within the chunk's plaintext. */
  from: number;
  to: number;
}
