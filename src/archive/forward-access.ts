import type { RandomAccess } from '../util/random-access.ts';
import { DamagedTar } from './tar-members.ts';

/** Reads the tar in a stream. Each read must start at or after the end of the previous read. */
export class ForwardAccess implements RandomAccess {
  /** Unknown. A read past the end fails. */
  readonly size = Number.POSITIVE_INFINITY;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #piece = new Uint8Array();
  #at = 0;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
  }

  /** @throws DamagedTar if the stream fails or ends before. */
  async read(start: number, end: number): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(end - start);
    while (this.#at < end) {
      if (this.#piece.length === 0) this.#piece = await this.#next();
      const part = this.#piece.subarray(0, (this.#at < start ? start : end) - this.#at);
      if (this.#at >= start) bytes.set(part, this.#at - start);
      this.#piece = this.#piece.subarray(part.length);
      this.#at += part.length;
    }
    return bytes;
  }

  cancel(): void {
    this.#reader.cancel().catch(() => undefined);
  }

  async #next(): Promise<Uint8Array<ArrayBuffer>> {
    const { value } = await this.#reader.read().catch((cause) => {
      throw new DamagedTar('it cannot be read to its end', cause);
    });
    if (!value) throw new DamagedTar('it ends early');
    return value as Uint8Array<ArrayBuffer>;
  }
}
