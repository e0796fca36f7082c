/**
 * Takes the bytes out of a Brotli stream that only stores them: what the encoder makes of pictures, films and archives,
 * which are compressed already. Costs one move of memory, where the decoder needs several copies.
 *
 * The format is RFC 7932, sections 9.1 and 9.2; bits are counted from the lowest.
 *
 * @param stream is overwritten: the result lies in its buffer.
 * @returns undefined for any other stream, a damaged one included: the decoder tells what is the matter with it.
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
    // A length could have been written with fewer nibbles: that is an error, and the decoder's business.
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

/** One, four or seven bits. @returns whether they are a size: one pattern is reserved. */
function skipWindowSize(bits: BitReader): boolean {
  return bits.read(1) === 0 || bits.read(3) !== 0 || bits.read(3) !== 1;
}

/** Past the end there are zeros; `skipPadding` then gives a position beyond it. */
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

  /** To the next byte. @returns its position; undefined when a bit was set before it. */
  skipPadding(): number | undefined {
    const left = (8 - (this.#bit & 7)) & 7;
    return this.read(left) === 0 ? this.#bit >>> 3 : undefined;
  }

  moveTo(position: number): void {
    this.#bit = position * 8;
  }
}
