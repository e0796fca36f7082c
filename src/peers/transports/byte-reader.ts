import { AntwayError } from '../../errors.ts';

export class ByteReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #onBytes: (length: number) => void;
  #left: Uint8Array = new Uint8Array();

  /** @param onBytes called with the number of bytes of every arriving piece. */
  constructor(stream: ReadableStream<Uint8Array>, onBytes: (length: number) => void) {
    this.#reader = stream.getReader();
    this.#onBytes = onBytes;
  }

  /** Returns a buffer of exactly that size. @throws AntwayError `PEERS_UNREACHABLE` if the stream ends before. */
  async read(length: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      if (this.#left.length === 0 && !(await this.#fill())) {
        throw new AntwayError('PEERS_UNREACHABLE', `The peer's answer ended ${length - filled} bytes early.`);
      }
      const part = this.#left.subarray(0, length - filled);
      bytes.set(part, filled);
      filled += part.length;
      this.#left = this.#left.subarray(part.length);
    }
    return bytes;
  }

  async isAtEnd(): Promise<boolean> {
    return this.#left.length === 0 && !(await this.#fill());
  }

  /** @returns undefined if there are more than `maxBytes`. */
  async readToEnd(maxBytes: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const parts: Uint8Array[] = [];
    let length = 0;
    while (this.#left.length > 0 || (await this.#fill())) {
      parts.push(this.#left);
      length += this.#left.length;
      this.#left = new Uint8Array();
      if (length > maxBytes) return undefined;
    }
    const bytes = new Uint8Array(length);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }

  /** Never rejects: the stream may have failed already. */
  async cancel(reason?: unknown): Promise<void> {
    await this.#reader.cancel(reason).catch(() => undefined);
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    if (done) return false;
    this.#onBytes(value.length);
    this.#left = value;
    return true;
  }
}
