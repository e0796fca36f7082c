import { once } from 'node:events';

/** Writes bytes to standard output. Waits for a slow reader, so that this process's memory does not fill. */
export async function writeOutput(
  pieces: Iterable<Uint8Array> | ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  for await (const piece of pieces) {
    signal.throwIfAborted();
    // When the reader closes the pipe, the signal aborts, and no `drain` follows.
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain', { signal });
  }
}
