import type { RandomAccess } from '../../util/random-access.ts';
import { createHeader, headerBytes, openHeader, recordBytes } from './backup-header.ts';
import { backupProblem } from './backup-problem.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const tagBytes = 16;
const encryptedRecordBytes = recordBytes + tagBytes;

/**
 * Encrypts a backup while it is read: the header, then records. The number of a record and whether it is the last are
 * part of its nonce, so no record can be moved, left out or added.
 * @param content is read once, as the consumer reads.
 */
export async function* encryptBackup(
  passphrase: string,
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Bytes, void> {
  const { header, keys } = await createHeader(passphrase);
  yield header;
  let number = 0;
  const encrypt = async (record: Bytes, isLast: boolean) =>
    new Uint8Array(await crypto.subtle.encrypt(cipher(header, number++, isLast), keys.records, record));
  let record = new Uint8Array(recordBytes);
  let filled = 0;
  for await (let piece of content) {
    while (piece.length > 0) {
      // A full record is the last one only if nothing follows.
      if (filled === recordBytes) {
        yield await encrypt(record, false);
        record = new Uint8Array(recordBytes);
        filled = 0;
      }
      const part = piece.subarray(0, recordBytes - filled);
      record.set(part, filled);
      filled += part.length;
      piece = piece.subarray(part.length);
    }
  }
  yield await encrypt(record.slice(0, filled), true);
}

/** The decrypted content of a backup, readable at any position. Every read verifies the records that it touches. */
export class BackupContent implements RandomAccess {
  readonly size: number;
  /** The number of records. */
  readonly count: number;
  readonly #file: Blob;
  readonly #header: Bytes;
  readonly #key: CryptoKey;
  /** The record that was read last. Readers of a tar read many small parts of it. */
  #current: { number: number; bytes: Promise<Bytes> } | undefined;

  private constructor(file: Blob, header: Bytes, key: CryptoKey) {
    const bytes = file.size - headerBytes;
    this.count = Math.max(1, Math.ceil(bytes / encryptedRecordBytes));
    this.size = bytes - this.count * tagBytes;
    this.#file = file;
    this.#header = header;
    this.#key = key;
    if (
      bytes < tagBytes ||
      (this.count > 1 && (bytes % encryptedRecordBytes || encryptedRecordBytes) <= tagBytes)
    )
      throw backupProblem('truncated');
  }

  /** @throws AntwayError with a `fault` of the header, or `truncated`. The content is not verified yet. */
  static async open(file: Blob, passphrase: string): Promise<BackupContent> {
    const header = await bytesOf(file.slice(0, headerBytes));
    const { records } = await openHeader(header, passphrase);
    return new BackupContent(file, header, records);
  }

  /**
   * Decrypts every record once. Call it before anything of the content is used.
   * @param onProgress the share of verified records, 0 to 1.
   * @throws AntwayError with the fault `modified` or `truncated`.
   */
  async verify(onProgress: (share: number) => void, signal?: AbortSignal): Promise<void> {
    for (let number = 0; number < this.count; number++) {
      signal?.throwIfAborted();
      await this.#record(number);
      onProgress((number + 1) / this.count);
    }
  }

  async read(start: number, end: number, signal?: AbortSignal): Promise<Bytes> {
    const bytes = new Uint8Array(end - start);
    for (let at = start; at < end; ) {
      signal?.throwIfAborted();
      const number = Math.floor(at / recordBytes);
      const offset = number * recordBytes;
      const part = (await this.#record(number)).subarray(at - offset, end - offset);
      if (part.length === 0) throw backupProblem('truncated');
      bytes.set(part, at - start);
      at += part.length;
    }
    return bytes;
  }

  #record(number: number): Promise<Bytes> {
    if (this.#current?.number !== number) {
      this.#current = { number, bytes: this.#decrypt(number) };
    }
    return this.#current.bytes;
  }

  async #decrypt(number: number): Promise<Bytes> {
    const start = headerBytes + number * encryptedRecordBytes;
    const isLast = number === this.count - 1;
    const encrypted = await bytesOf(this.#file.slice(start, start + encryptedRecordBytes));
    try {
      return await this.#decryptAs(encrypted, number, isLast);
    } catch (cause) {
      // Whole records were cut off if the last one was not made as the last one.
      const isCut =
        isLast && (await this.#decryptAs(encrypted, number, false).catch(() => undefined)) !== undefined;
      throw backupProblem(isCut ? 'truncated' : 'modified', cause);
    }
  }

  async #decryptAs(encrypted: Bytes, number: number, isLast: boolean): Promise<Bytes> {
    return new Uint8Array(
      await crypto.subtle.decrypt(cipher(this.#header, number, isLast), this.#key, encrypted),
    );
  }
}

/** AES-GCM. The key is used for one file only, so the number of the record is a nonce. */
function cipher(header: Bytes, number: number, isLast: boolean) {
  const iv = new Uint8Array(12);
  const view = new DataView(iv.buffer);
  view.setUint32(7, number);
  view.setUint8(11, isLast ? 1 : 0);
  return { name: 'AES-GCM', iv, additionalData: header };
}

async function bytesOf(file: Blob): Promise<Bytes> {
  return new Uint8Array(await file.arrayBuffer());
}
