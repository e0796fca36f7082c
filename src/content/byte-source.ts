import type { Address } from '../address.ts';
import { limits } from '../limits.ts';
import type { Trace } from '../stats/trace.ts';

/** Bytes that can be read at any position and streamed: a file, or a part of one. */
export interface ByteSource {
  /** In bytes. */
  readonly size: number;
  /** Reads the bytes from `start` up to `end`. They may be shared: do not write to them. */
  read(start: number, end: number, signal?: AbortSignal, trace?: Trace): Promise<Uint8Array>;
  /**
   * Streams the bytes from `start` up to `end`, fetched as the consumer reads. Cancelling the stream, or aborting the
   * signal, cancels running fetches. On an error the stream fails; it never just ends early.
   */
  stream(start: number, end: number, signal?: AbortSignal, trace?: Trace): ReadableStream<Uint8Array>;
  /** The chunks that contain the bytes from `start` up to `end`. Empty for bytes in memory. */
  chunks(start: number, end: number): readonly Address[];
}

/** Returns a part of a source as a separate source. */
export function slice(source: ByteSource, offset: number, size: number): ByteSource {
  return {
    size,
    read: (start, end, signal, trace) => source.read(offset + start, offset + end, signal, trace),
    stream: (start, end, signal, trace) => source.stream(offset + start, offset + end, signal, trace),
    chunks: (start, end) => source.chunks(offset + start, offset + end),
  };
}

/** Returns a source that streams by reading piece by piece. */
export function randomAccessSource(of: Pick<ByteSource, 'size' | 'read'>): ByteSource {
  return {
    size: of.size,
    read: (start, end, signal, trace) => of.read(start, end, signal, trace),
    chunks: () => [],
    stream(start, end, signal, trace) {
      let at = start;
      return new ReadableStream(
        {
          async pull(controller) {
            signal?.throwIfAborted();
            const next = Math.min(at + limits.streamPieceBytes, end);
            if (next > at) controller.enqueue(await of.read(at, next, signal, trace));
            at = next;
            if (at >= end) controller.close();
          },
        },
        { highWaterMark: 0 },
      );
    },
  };
}

/** Returns bytes in memory as a source. */
export function memorySource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    read: async (start, end) => bytes.subarray(start, end),
    chunks: () => [],
    stream: (start, end) =>
      new ReadableStream({
        start(controller) {
          if (end > start) controller.enqueue(bytes.subarray(start, end));
          controller.close();
        },
      }),
  };
}
