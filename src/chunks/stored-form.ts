/**
 * The form of a chunk in the database: a buffer of exactly its size, or a Blob, which the browser stores in a separate
 * file. One database may contain both forms, and every browser reads both.
 */
export type StoredForm = ArrayBuffer | Blob;

const kibibyte = 1024;

/**
 * Returns the minimum size at which a Blob is faster to write and read than a buffer, as measured
 * (docs/reference/benchmarks.md). Infinite in other browsers; Safari stores no Blobs in a private window.
 */
export function leastBlobBytes(): number {
  const { navigator } = globalThis;
  if (navigator && 'userAgentData' in navigator) return 256 * kibibyte; // Chromium
  if (/ Firefox\//.test(navigator?.userAgent ?? '')) return 1024 * kibibyte;
  return Number.POSITIVE_INFINITY;
}

/** @param leastBlobBytes minimum size of a chunk that becomes a Blob. */
export function toStoredForm(bytes: Uint8Array<ArrayBuffer>, leastBlobBytes: number): StoredForm {
  if (bytes.length >= leastBlobBytes) return new Blob([bytes]);
  // The database would store the whole backing buffer of a view.
  return bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer;
}

/** @throws DOMException that satisfies `isLost`, if the browser has lost a Blob's file. */
export async function fromStoredForm(stored: StoredForm): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(stored instanceof Blob ? await stored.arrayBuffer() : stored);
}

/** Whether a Blob could not be read because its file is missing or has changed. */
export function isLost(error: unknown): boolean {
  return error instanceof DOMException && ['NotReadableError', 'NotFoundError'].includes(error.name);
}
