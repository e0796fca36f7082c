/**
 * Extracts the bytes of a Brotli stream that contains only stored (uncompressed) blocks (RFC 7932, sections 9.1 and
 * 9.2; bits are counted from the lowest). The encoder produces such streams for pictures, films and archives, which are
 * compressed already. This costs one move of memory, while the decoder needs several copies.
 * @param stream is overwritten: the result is a part of its buffer.
 * @returns undefined for any other stream, also a damaged one: the decoder reports the error.
 */
export function takeStored(
  stream: Uint8Array<ArrayBuffer>,
  maxBytes: number,
): Uint8Array<ArrayBuffer> | undefined {
  const runs = storedRuns(stream);
  if (!runs || runs.reduce((sum, { length }) => sum + length, 0) > maxBytes) return undefined;
  const [only] = runs;
  if (runs.length === 1) return stream.subarray(only!.start, only!.start + only!.length);
  let end = 0;
  for (const { start, length } of runs) {
    stream.copyWithin(end, start, start + length);
    end += length;
  }
  return stream.subarray(0, end);
}

interface Run {
  start: number;
  length: number;
}

function storedRuns(stream: Uint8Array): Run[] | undefined {
  const bits = new BitReader(stream);
  if (!skipWindowSize(bits)) return undefined;
  const runs: Run[] = [];
  for (;;) {
    const isLast = bits.read(1) === 1;
    if (isLast) {
      const isEmpty = bits.read(1) === 1;
      return isEmpty && bits.skipPadding() === stream.length ? runs : undefined;
    }
    const nibbles = bits.read(2) + 4;
    if (nibbles === 7) return undefined; // metadata, which this encoder does not write
    const length = bits.read(4 * nibbles) + 1;
    const isStored = bits.read(1) === 1;
    const start = isStored ? bits.skipPadding() : undefined;
    // A length with more nibbles than necessary is an error. The decoder reports it.
    if (
      start === undefined ||
      start + length > stream.length ||
      (nibbles > 4 && length <= 16 ** (nibbles - 1))
    ) {
      return undefined;
    }
    runs.push({ start, length });
    bits.moveTo(start + length);
  }
}

/** Reads the window size: one, four or seven bits. @returns false for the reserved pattern. */
function skipWindowSize(bits: BitReader): boolean {
  return bits.read(1) === 0 || bits.read(3) !== 0 || bits.read(3) !== 1;
}

/** Reads zeros after the end. There, `skipPadding` returns a position beyond the end. */
class BitReader {
  #bit = 0;

  constructor(private readonly bytes: Uint8Array) {}

  read(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++, this.#bit++) {
      value += (((this.bytes[this.#bit >>> 3] ?? 0) >>> (this.#bit & 7)) & 1) * 2 ** i;
    }
    return value;
  }

  /** Moves to the next byte. @returns its position; undefined if a skipped bit was set. */
  skipPadding(): number | undefined {
    const left = (8 - (this.#bit & 7)) & 7;
    return this.read(left) === 0 ? this.#bit >>> 3 : undefined;
  }

  moveTo(position: number): void {
    this.#bit = position * 8;
  }
}
