import { createHash } from 'node:crypto';
import { limits } from '../../src/limits.ts';
import type { RandomAccess } from '../../src/util/random-access.ts';
import { noise, RepeatingFile } from '../../tests/support/publish.ts';

/** A file of the lab. */
export interface LabFile {
  /** Without slashes in front; unique in its set. */
  name: string;
  source: RandomAccess;
}

/** A body that a page will get, and how it can be known to be right. */
export interface Expected {
  size: number;
  /** SHA-256 of the body, or of what stands at `samples`, one after the other. */
  sha256: string;
  /** Of a long body the check stores 4 KiB at each of these positions; of a short body it stores all. */
  samples?: number[];
}

export const sampleBytes = 4096;
/** Longer bodies are read as streams, and only parts of them are stored. */
const keptBytes = 8 * 1024 * 1024;
const samplesPerBody = 16;

/** Incompressible files, as pictures and films are, of these sizes. @param seed 0–255; each gives other bytes. */
export function noiseFiles(seed: number, sizes: readonly number[], extension: string): LabFile[] {
  const bytes = noise(
    seed,
    sizes.reduce((sum, size) => sum + size, 0),
  );
  let at = 0;
  return sizes.map((size, i) => {
    const part = bytes.subarray(at, at + size);
    at += size;
    return { name: `${String(i).padStart(5, '0')}.${extension}`, source: buffered(part) };
  });
}

/**
 * Sizes of pictures, 437 KB on average, as in AntTP's own measurements.
 * @param count a multiple of 8 for the average to be exact.
 */
export function pictureSizes(count: number): number[] {
  const kilobytes = [212, 675, 371, 420, 568, 497, 448, 305];
  return Array.from({ length: count }, (_, i) => kilobytes[i % kilobytes.length]! * 1000);
}

/** Sizes from `least` to `most`, small ones more often (evenly on a logarithmic scale), the same every time. */
export function spreadSizes(count: number, least: number, most: number): number[] {
  // The golden ratio's multiples fill the interval evenly, in an order that looks random.
  return Array.from({ length: count }, (_, i) =>
    Math.round(least * (most / least) ** (((i + 1) * 0.618_033_988_75) % 1)),
  );
}

/** Compressible bytes: words at random, the common ones more often, as in a language. The same every time. */
export function text(size: number): Uint8Array<ArrayBuffer> {
  const letters = noise(3, 16_000);
  const words = Array.from({ length: 2_000 }, (_, i) => {
    const from = 8 * i;
    return String.fromCharCode(
      ...letters.subarray(from, from + 2 + (letters[from]! % 7)).map((byte) => 97 + (byte % 26)),
    );
  });
  const choice = noise(4, size);
  let line = '';
  for (let i = 0; line.length < size; i += 2) {
    const share = (choice[i % size]! * 256 + choice[(i + 1) % size]!) / 65_536;
    line += `${words[Math.floor(share ** 3 * words.length)]} `;
  }
  return new TextEncoder().encode(line.slice(0, size));
}

/** A large file that is quickly made and encrypted. Readable at any position, as `RepeatingFile` alone is not. */
export class LargeFile implements RandomAccess {
  readonly #parts: RepeatingFile;

  /** @param size at least three parts of 4,190,208 bytes. */
  constructor(readonly size: number) {
    this.#parts = new RepeatingFile(size);
  }

  /** After these it begins again. */
  static readonly period = 3 * limits.plaintextChunkBytes;

  async read(start: number, end: number): Promise<Uint8Array> {
    const part = limits.plaintextChunkBytes;
    if (start % part === 0 && end - start <= part) return this.#parts.read(start, end);
    const bytes = new Uint8Array(end - start);
    for (let at = start; at < end; ) {
      const base = at - (at % part);
      const stop = Math.min(end, base + part);
      const whole = await this.#parts.read(base, Math.min(base + part, this.size));
      bytes.set(whole.subarray(at - base, stop - base), at - start);
      at = stop;
    }
    return bytes;
  }
}

/** The bytes that a page must get for a file, or for a part of it (`end` is exclusive). */
export async function expectedOf(
  { size }: RandomAccess,
  read: RandomAccess['read'],
  [start, end]: readonly [number, number] = [0, size],
): Promise<Expected> {
  const length = end - start;
  if (length <= keptBytes) return { size: length, sha256: sha256([await read(start, end)]) };
  const last = length - sampleBytes;
  const samples = Array.from({ length: samplesPerBody }, (_, i) =>
    Math.floor((last * i) / (samplesPerBody - 1)),
  );
  const parts = await Promise.all(samples.map((at) => read(start + at, start + at + sampleBytes)));
  return { size: length, sha256: sha256(parts), samples };
}

export function sha256(parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

function buffered(bytes: Uint8Array): RandomAccess {
  return { size: bytes.length, read: async (start, end) => bytes.subarray(start, end) };
}
