import { publicError } from './ant-error.ts';
import type { AntReadInit } from './types.ts';

/**
 * Returns a stream for the caller: its pieces are copies, it ends when the signal aborts, and its errors are `AntError`s.
 * @param total size of the whole stream in bytes.
 */
export function publicStream(
  stream: ReadableStream<Uint8Array>,
  total: number,
  signal: AbortSignal,
  onProgress: AntReadInit['onProgress'],
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  let loaded = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        let piece: Uint8Array | undefined;
        try {
          signal.throwIfAborted();
          piece = (await reader.read()).value;
        } catch (error) {
          reader.cancel(error).catch(() => undefined); // it has failed already
          throw publicError(error, signal);
        }
        if (!piece) return controller.close();
        loaded += piece.length;
        // The original is in the cache for other readers.
        controller.enqueue(piece.slice());
        try {
          onProgress?.({ loaded, total });
        } catch (error) {
          reader.cancel(error).catch(() => undefined); // the caller gets its own error
          throw error;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
