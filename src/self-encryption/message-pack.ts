export interface ValueLimits {
  maxDepth: number;
  /** Most values in total: numbers, texts, arrays, and their elements. */
  maxValues: number;
}

/**
 * Decodes one MessagePack value from an untrusted source. Integers beyond 2⁵³ become the nearest number, binary data a
 * view of `bytes`, and an extension `{ type, data }`. Security: a header may claim more values than follow it, so it is
 * checked before memory is allocated.
 * @throws Error if the bytes are not exactly one value, exceed the limits, or contain a map whose key is neither text
 *   nor a number, or is `__proto__`.
 */
export function decodeUntrusted(bytes: Uint8Array, limits: ValueLimits): unknown {
  const decoder = new Decoder(bytes, limits);
  const value = decoder.value(0);
  if (!decoder.isAtEnd) throw new RangeError('The bytes are not one value');
  return value;
}

const textDecoder = new TextDecoder('utf-8', { ignoreBOM: true });
const textEncoder = new TextEncoder();

class Decoder {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #maxDepth: number;
  #remaining: number;
  #at = 0;

  constructor(bytes: Uint8Array, { maxDepth, maxValues }: ValueLimits) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#maxDepth = maxDepth;
    this.#remaining = maxValues - 1;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  /** @param depth number of arrays and maps around the value. */
  value(depth: number): unknown {
    const type = this.#uint(0);
    if (type < 0x80) return type;
    if (type < 0x90) return this.#map(type - 0x80, depth);
    if (type < 0xa0) return this.#array(type - 0x90, depth);
    if (type < 0xc0) return this.#text(type - 0xa0);
    if (type === 0xc0) return null;
    if (type === 0xc1) throw new RangeError('There is no such type');
    if (type < 0xc4) return type === 0xc3;
    if (type < 0xc7) return this.#take(this.#uint(type - 0xc4));
    if (type < 0xca) return this.#extension(this.#uint(type - 0xc7));
    if (type === 0xca) return this.#view.getFloat32(this.#skip(4));
    if (type === 0xcb) return this.#view.getFloat64(this.#skip(8));
    if (type < 0xd0) return this.#uint(type - 0xcc);
    if (type < 0xd4) return this.#int(type - 0xd0);
    if (type < 0xd9) return this.#extension(1 << (type - 0xd4));
    if (type < 0xdc) return this.#text(this.#uint(type - 0xd9));
    if (type < 0xde) return this.#array(this.#uint(type - 0xdb), depth);
    if (type < 0xe0) return this.#map(this.#uint(type - 0xdd), depth);
    return type - 0x100;
  }

  #array(length: number, depth: number): unknown[] {
    this.#enter(length, depth);
    // An array that grows would take three times the memory of a short one. A long one may be claimed only.
    const values: unknown[] = length <= 64 ? new Array(length) : [];
    for (let i = 0; i < length; i++) values[i] = this.value(depth + 1);
    return values;
  }

  #map(length: number, depth: number): Record<string, unknown> {
    this.#enter(2 * length, depth);
    const map: Record<string, unknown> = {};
    for (let i = 0; i < length; i++) {
      const key = this.value(depth + 1);
      if ((typeof key !== 'string' && typeof key !== 'number') || key === '__proto__') {
        throw new RangeError('A map has an impossible key');
      }
      map[key] = this.value(depth + 1);
    }
    return map;
  }

  /** @param count number of the values inside an array or map. */
  #enter(count: number, depth: number): void {
    if (count === 0) return;
    this.#remaining -= count;
    if (this.#remaining < 0 || depth >= this.#maxDepth) throw new RangeError('The value is past its limits');
    // Each value takes at least one byte.
    if (count > this.#bytes.length - this.#at) throw new RangeError('The value ends early');
  }

  #extension(length: number): { type: number; data: Uint8Array } {
    return { type: this.#int(0), data: this.#take(length) };
  }

  #text(length: number): string {
    return textDecoder.decode(this.#take(length));
  }

  /** Reads an unsigned number of `2 ** exponent` bytes. */
  #uint(exponent: number): number {
    const at = this.#skip(1 << exponent);
    if (exponent === 0) return this.#bytes[at]!;
    if (exponent === 1) return this.#view.getUint16(at);
    return exponent === 2 ? this.#view.getUint32(at) : Number(this.#view.getBigUint64(at));
  }

  /** Reads a signed number of `2 ** exponent` bytes. */
  #int(exponent: number): number {
    const at = this.#skip(1 << exponent);
    if (exponent === 0) return this.#view.getInt8(at);
    if (exponent === 1) return this.#view.getInt16(at);
    return exponent === 2 ? this.#view.getInt32(at) : Number(this.#view.getBigInt64(at));
  }

  #take(length: number): Uint8Array {
    const start = this.#skip(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** @returns the position of the first skipped byte. */
  #skip(length: number): number {
    const start = this.#at;
    if (length > this.#bytes.length - start) throw new RangeError('The value ends early');
    this.#at += length;
    return start;
  }
}

/** A value for `encode`. Numbers are non-negative integers. */
export type Encodable =
  | null
  | number
  | string
  | Uint8Array
  | readonly Encodable[]
  | { readonly [key: string]: Encodable };

/** Encodes each header and number in its shortest form, as crate `rmp-serde` does. */
export function encode(value: Encodable): Uint8Array<ArrayBuffer> {
  const encoder = new Encoder();
  encoder.value(value);
  return encoder.bytes();
}

class Encoder {
  #buffer = new Uint8Array(1024);
  #length = 0;

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.slice(0, this.#length);
  }

  value(value: Encodable): void {
    if (value === null) this.#head(0xc0, 1, 0, 0);
    else if (typeof value === 'number') this.#head(0x00, 0x80, 0xcc, value);
    else if (typeof value === 'string') {
      if (value.length < 0x20 && this.#asciiText(value)) return;
      // The text is written behind the longest head, because the head has its length.
      this.#reserve(5 + 3 * value.length);
      const start = this.#length + 5;
      const { written } = textEncoder.encodeInto(value, this.#buffer.subarray(start));
      this.#head(0xa0, 0x20, 0xd9, written);
      this.#buffer.copyWithin(this.#length, start, start + written);
      this.#length += written;
    } else if (value instanceof Uint8Array) {
      this.#head(0xc4, 0x00, 0xc4, value.length);
      this.#append(value);
    } else if (Array.isArray(value)) {
      this.#head(0x90, 0x10, 0xdb, value.length, 1);
      for (const element of value) this.value(element);
    } else {
      const fields = Object.entries(value);
      this.#head(0x80, 0x10, 0xdd, fields.length, 1);
      for (const [key, field] of fields) {
        this.value(key);
        this.value(field);
      }
    }
  }

  /** Writes a short text, which is faster than `encodeInto`. @returns false if it is not ASCII. */
  #asciiText(text: string): boolean {
    this.#reserve(1 + text.length);
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) return false;
      this.#buffer[this.#length + 1 + i] = code;
    }
    this.#buffer[this.#length] = 0xa0 + text.length;
    this.#length += 1 + text.length;
    return true;
  }

  /**
   * Writes a type and a number. A number below `fixedEnd` is added to the type `fixed`. Otherwise the number follows
   * the type in `2 ** exponent` bytes.
   * @param type the type for the exponent 0. The types for larger exponents follow it.
   */
  #head(fixed: number, fixedEnd: number, type: number, number: number, leastExponent = 0): void {
    let exponent = leastExponent;
    while (exponent < 3 && number >= 256 ** (1 << exponent)) exponent++;
    const width = number < fixedEnd ? 0 : 1 << exponent;
    this.#reserve(1 + width);
    this.#buffer[this.#length] = width === 0 ? fixed + number : type + exponent;
    // A typed array stores the lowest byte of a number.
    for (let i = width, rest = number; i > 0; i--, rest = Math.floor(rest / 256))
      this.#buffer[this.#length + i] = rest;
    this.#length += 1 + width;
  }

  #append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#buffer.length) return;
    const larger = new Uint8Array(2 * needed);
    larger.set(this.#buffer);
    this.#buffer = larger;
  }
}
