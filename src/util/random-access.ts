import { limits } from '../limits.ts';

/** Bytes that can be read at any position: a `Blob`, a file on disk, a buffer. */
export interface RandomAccess {
  /** In bytes. */
  readonly size: number;
  /** Reads exactly `end - start` bytes from `start`. They may be shared: do not write to them. */
  read(start: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
}

export function bufferAccess(bytes: Uint8Array): RandomAccess {
  return { size: bytes.length, read: async (start, end) => bytes.subarray(start, end) };
}

/** Streams the bytes from `start` up to `end`, piece by piece as the consumer reads. */
export function streamOf(
  source: RandomAccess,
  start: number,
  end: number,
  signal?: AbortSignal,
): ReadableStream<Uint8Array> {
  let at = start;
  return new ReadableStream(
    {
      async pull(controller) {
        signal?.throwIfAborted();
        const next = Math.min(at + limits.streamPieceBytes, end);
        if (next > at) controller.enqueue(await source.read(at, next, signal));
        at = next;
        if (at >= end) controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
