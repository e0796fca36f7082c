/**
 * In which form a chunk lies in the database: a buffer of exactly its size, or a Blob, which the browser keeps in a file
 * of its own. Both can lie in one database, and both are read everywhere.
 */
export type StoredForm = ArrayBuffer | Blob;

const kibibyte = 1024;

/**
 * How many bytes a chunk has to have for a Blob to be written and read in less time than a buffer, as was measured
 * (docs/reference/benchmarks.md). Infinite in other browsers; Safari stores no Blobs in a private window.
 */
export function leastBlobBytes(): number {
  const { navigator } = globalThis;
  if (navigator && 'userAgentData' in navigator) return 256 * kibibyte; // Chromium
  if (/ Firefox\//.test(navigator?.userAgent ?? '')) return 1024 * kibibyte;
  return Number.POSITIVE_INFINITY;
}

/** @param leastBlobBytes how large a Blob has to be. */
export function toStoredForm(bytes: Uint8Array<ArrayBuffer>, leastBlobBytes: number): StoredForm {
  if (bytes.length >= leastBlobBytes) return new Blob([bytes]);
  // A view would take its whole backing buffer along.
  return bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer;
}

/** @throws DOMException for which `isLost` holds, when the browser has lost a Blob's file. */
export async function fromStoredForm(stored: StoredForm): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(stored instanceof Blob ? await stored.arrayBuffer() : stored);
}

/** Whether a Blob could not be read because its file is gone, or is no longer what it was. */
export function isLost(error: unknown): boolean {
  return error instanceof DOMException && ['NotReadableError', 'NotFoundError'].includes(error.name);
}
