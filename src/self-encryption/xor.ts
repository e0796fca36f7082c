import { padBytes } from './keys.ts';

const padWords = padBytes / 4;

/**
 * XORs `bytes` with the repeated 52-byte `pad`. Works on 32-bit words, thirteen (one pad) at a time: a byte loop runs
 * at a few hundred MB/s, this loop at gigabytes per second. Byte order does not matter: both sides are read in the same
 * way.
 * @param into output buffer, at least as long as `bytes`, at a word boundary of its buffer; may be `bytes` itself. A
 *   new buffer if not given: allocating memory costs more than the XOR.
 */
export function xorPad(
  bytes: Uint8Array,
  pad: Uint8Array,
  into: Uint8Array<ArrayBuffer> = new Uint8Array(bytes.length),
): Uint8Array<ArrayBuffer> {
  const output = into.subarray(0, bytes.length);
  // Copy a view that does not start at a word boundary.
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  const words = bytes.length >>> 2;
  const source = new Uint32Array(aligned.buffer, aligned.byteOffset, words);
  const target = new Uint32Array(output.buffer, output.byteOffset, words);
  const [p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12] = new Uint32Array(new Uint8Array(pad).buffer);

  const wholePads = words - (words % padWords);
  let i = 0;
  for (; i < wholePads; i += padWords) {
    target[i] = source[i]! ^ p0!;
    target[i + 1] = source[i + 1]! ^ p1!;
    target[i + 2] = source[i + 2]! ^ p2!;
    target[i + 3] = source[i + 3]! ^ p3!;
    target[i + 4] = source[i + 4]! ^ p4!;
    target[i + 5] = source[i + 5]! ^ p5!;
    target[i + 6] = source[i + 6]! ^ p6!;
    target[i + 7] = source[i + 7]! ^ p7!;
    target[i + 8] = source[i + 8]! ^ p8!;
    target[i + 9] = source[i + 9]! ^ p9!;
    target[i + 10] = source[i + 10]! ^ p10!;
    target[i + 11] = source[i + 11]! ^ p11!;
    target[i + 12] = source[i + 12]! ^ p12!;
  }
  for (let at = 4 * i; at < bytes.length; at++) output[at] = bytes[at]! ^ pad[at % padBytes]!;
  return output;
}
