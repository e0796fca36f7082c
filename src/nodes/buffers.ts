/**
 * Changes the length of a buffer, whose bytes move to a new one. The memory of the old buffer is free at once where the
 * browser can do that, and otherwise after a garbage collection.
 */
export function resized(buffer: ArrayBuffer, length: number): ArrayBuffer {
  if (buffer.byteLength === length) return buffer;
  // Not in all browsers, and not in Node 20.
  const { transfer } = buffer as Partial<Pick<ArrayBuffer, 'transfer'>>;
  if (transfer) return transfer.call(buffer, length);
  const copy = new Uint8Array(length);
  copy.set(new Uint8Array(buffer, 0, Math.min(length, buffer.byteLength)));
  return copy.buffer;
}

const { port1: sink, port2: closedEnd } = new MessageChannel();
closedEnd.close();

/**
 * Frees the memory of a buffer that the browser made. It would stay until a garbage collection of the whole page, which
 * comes after some 64 MB. `ArrayBuffer.transfer` does not free it: the browser has a reference of its own.
 */
export function discard(buffer: ArrayBuffer): void {
  // A message to a closed port is dropped with all that it transfers.
  sink.postMessage(undefined, [buffer]);
}
