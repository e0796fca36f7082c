import type { Address } from '../address.ts';
import type { Trace } from '../stats/trace.ts';
import { bufferAccess, type RandomAccess, streamOf } from '../util/random-access.ts';

/** Bytes that can be read at any position and streamed: a file, or a part of one. */
export interface ByteSource extends RandomAccess {
  /** Estimated memory of the object, in bytes, if it may be large. */
  readonly memoryBytes?: number;
  read(start: number, end: number, signal?: AbortSignal, trace?: Trace): Promise<Uint8Array>;
  /**
   * Streams the bytes from `start` up to `end`, fetched as the consumer reads. Cancelling the stream, or aborting the
   * signal, cancels running fetches. On an error the stream fails; it never just ends early.
   */
  stream(start: number, end: number, signal?: AbortSignal, trace?: Trace): ReadableStream<Uint8Array>;
  /** The chunks that contain the bytes from `start` up to `end`. Empty for bytes in memory. */
  chunks(start: number, end: number): readonly Address[];
}

export function slice(source: ByteSource, offset: number, size: number): ByteSource {
  return {
    size,
    read: (start, end, signal, trace) => source.read(offset + start, offset + end, signal, trace),
    stream: (start, end, signal, trace) => source.stream(offset + start, offset + end, signal, trace),
    chunks: (start, end) => source.chunks(offset + start, offset + end),
  };
}

export function randomAccessSource(of: RandomAccess): ByteSource {
  return {
    size: of.size,
    read: (start, end, signal) => of.read(start, end, signal),
    stream: (start, end, signal) => streamOf(of, start, end, signal),
    chunks: () => [],
  };
}

export function memorySource(bytes: Uint8Array): ByteSource {
  return { ...randomAccessSource(bufferAccess(bytes)), memoryBytes: bytes.length };
}
