/** Bytes that can be read at any position and streamed: a file, or a part of one. */
export interface ByteSource {
  /** In bytes. */
  readonly size: number;
  /** The bytes from `start` up to `end`. They may be shared: do not write to them. */
  read(start: number, end: number, signal?: AbortSignal): Promise<Uint8Array>;
  /**
   * The bytes from `start` up to `end`, fetched as the consumer takes them. Cancelling the stream, or aborting
   * the signal, stops what is under way. An error makes the stream fail; it never just ends early.
   */
  stream(start: number, end: number, signal?: AbortSignal): ReadableStream<Uint8Array>;
}

/** A part of a source as a source of its own. */
export function slice(source: ByteSource, offset: number, size: number): ByteSource {
  return {
    size,
    read: (start, end, signal) => source.read(offset + start, offset + end, signal),
    stream: (start, end, signal) => source.stream(offset + start, offset + end, signal),
  };
}

/** Bytes in memory as a source. */
export function memorySource(bytes: Uint8Array): ByteSource {
  return {
    size: bytes.length,
    read: async (start, end) => bytes.subarray(start, end),
    stream: (start, end) =>
      new ReadableStream({
        start(controller) {
          if (end > start) controller.enqueue(bytes.subarray(start, end));
          controller.close();
        },
      }),
  };
}
