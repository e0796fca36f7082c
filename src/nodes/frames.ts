import { resized } from './buffers.ts';
import { concat } from './bytes.ts';
import { nodeError } from './node-error.ts';
import { nodeLimits } from './node-limits.ts';

const prefixBytes = 4;
/** The first allocation for a payload. Each further one is so many times as large as the bytes that have arrived. */
const firstBytes = 64 * 1024;
const growth = 8;

/** Cuts a payload into messages of a data channel. A frame is the payload's length (u32, big-endian) and the payload. */
export function* frameMessages(payload: Uint8Array): Generator<Uint8Array<ArrayBuffer>> {
  const prefix = new Uint8Array(prefixBytes);
  new DataView(prefix.buffer).setUint32(0, payload.length);
  const frame = concat(prefix, payload);
  for (let at = 0; at < frame.length; at += nodeLimits.messageBytes) {
    yield frame.subarray(at, at + nodeLimits.messageBytes);
  }
}

/**
 * Puts the frames of a node together, each in one buffer. The buffer grows with the bytes that arrive, not with the length
 * that a node claims. A frame is accepted only if one is owed.
 */
export class FrameReader {
  #owed = 0;
  #limit = 0;
  #prefix: Uint8Array = new Uint8Array();
  #length: number | undefined;
  #payload = new Uint8Array();
  #messages = 0;
  #received = 0;

  /** Whether a frame has begun and is not complete. */
  get isReceiving(): boolean {
    return this.#length !== undefined || this.#prefix.length > 0;
  }

  /** The length of the payload that is arriving. */
  get length(): number | undefined {
    return this.#length;
  }

  /** Allows one more frame, and payloads up to `limit` bytes from now on. */
  expect(limit: number): void {
    if (this.#owed === 0) this.#limit = 0;
    this.#owed++;
    this.#limit = Math.max(this.#limit, limit);
  }

  /**
   * Takes one message, and copies it.
   * @returns the payload that it completes, if it does.
   * @throws AntwayError `CORRUPT` if no honest node sends this message.
   */
  take(message: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
    if (message.length === 0 || message.length > nodeLimits.messageBytes) {
      throw nodeError('protocol', `A node sent a message of ${message.length} bytes.`);
    }
    if (this.#owed === 0) throw nodeError('protocol', 'A node sent data without a request.');
    let rest = message;
    if (this.#length === undefined) {
      const missing = prefixBytes - this.#prefix.length;
      this.#prefix = concat(this.#prefix, rest.subarray(0, missing));
      rest = rest.subarray(missing);
      if (this.#prefix.length < prefixBytes) return undefined;
      this.#begin(new DataView(this.#prefix.buffer).getUint32(0));
    }
    const length = this.#length!;
    const received = this.#received + rest.length;
    if (received > length) throw nodeError('protocol', 'A node sent more bytes than it announced.');
    if (rest.length > 0) this.#messages++;
    if (this.#messages > 16 + length / nodeLimits.leastMessageBytes) {
      throw nodeError('protocol', 'A node sends its answer in too small pieces.');
    }
    if (received > this.#payload.length) {
      const bytes = Math.min(length, Math.max(firstBytes, growth * received));
      this.#payload = new Uint8Array(resized(this.#payload.buffer, bytes));
    }
    this.#payload.set(rest, this.#received);
    this.#received = received;
    return received === length ? this.#end() : undefined;
  }

  #begin(length: number): void {
    if (length === 0 || length > this.#limit) {
      throw nodeError('protocol', `A node announced ${length} bytes; ${this.#limit} are allowed.`);
    }
    this.#length = length;
  }

  #end(): Uint8Array<ArrayBuffer> {
    const payload = this.#payload;
    this.#owed--;
    this.#prefix = new Uint8Array();
    this.#length = undefined;
    this.#payload = new Uint8Array();
    this.#messages = 0;
    this.#received = 0;
    return payload;
  }
}
