/**
 * In which form a chunk lies in the database: a buffer of exactly its size, or a Blob, which the browser keeps in a file
 * of its own. Both can lie in one database, and both are read everywhere.
 */
export type StoredForm = ArrayBuffer | Blob;

/** Bytes from which on a Blob is written and read in less time than a buffer (docs/PERFORMANCE.md). */
const leastBlobBytes = 512 * 1024;

/**
 * Whether this browser is one in which large Blobs were measured to be faster: Chromium. The others get buffers; Safari
 * stores no Blobs in a private window.
 */
export function prefersBlobs(): boolean {
  return 'userAgentData' in navigator;
}

/** Whether so many bytes are worth a Blob. */
export function isBlobSized(bytes: number): boolean {
  return bytes >= leastBlobBytes;
}

/** @param withBlobs whether large ones may be Blobs. */
export function toStoredForm(bytes: Uint8Array<ArrayBuffer>, withBlobs: boolean): StoredForm {
  if (withBlobs && isBlobSized(bytes.length)) return new Blob([bytes]);
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
