/** An ArrayBuffer of exactly the chunk's size, or a Blob, which is a separate file. A database may contain both. */
export type StoredForm = ArrayBuffer | Blob;

/** The smallest measured size at which Blobs are faster in Chromium and Firefox (docs/decisions/0011). */
const leastBlobBytes = 1024 * 1024;

export function toStoredForm(bytes: Uint8Array<ArrayBuffer>, withBlobs: boolean): StoredForm {
  if (withBlobs && isLarge(bytes)) return new Blob([bytes]);
  // The database would store the whole backing buffer of a view.
  return bytes.byteLength === bytes.buffer.byteLength ? bytes.buffer : bytes.slice().buffer;
}

export function isLarge({ length }: Uint8Array): boolean {
  return length >= leastBlobBytes;
}

/** @throws DOMException that satisfies `isLost`, if the browser has lost a Blob's file. */
export async function fromStoredForm(stored: StoredForm): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(stored instanceof Blob ? await stored.arrayBuffer() : stored);
}

/** Whether a Blob's file is missing or has changed. */
export function isLost(error: unknown): boolean {
  return error instanceof DOMException && ['NotReadableError', 'NotFoundError'].includes(error.name);
}
