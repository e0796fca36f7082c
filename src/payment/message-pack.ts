import { concatBytes } from '@noble/hashes/utils.js';

/** Values in the format MessagePack, in the forms in which the network's crates (`rmp-serde`) write them. */

/** A structure, or a list of at most 65,535 values: an array of encoded values. */
export function packArray(...values: readonly Uint8Array[]): Uint8Array {
  return concatBytes(arrayHead(values.length), ...values);
}

/** A byte array of Rust (`[u8; n]`, `Vec<u8>`): an array of at most 65,535 numbers. */
export function packNumbers(bytes: Uint8Array): Uint8Array {
  const items = new Uint8Array(2 * bytes.length);
  let end = 0;
  for (const byte of bytes) {
    if (byte >= 0x80) items[end++] = 0xcc;
    items[end++] = byte;
  }
  return concatBytes(arrayHead(bytes.length), items.subarray(0, end));
}

function arrayHead(length: number): Uint8Array {
  return length < 16 ? Uint8Array.of(0x90 | length) : Uint8Array.of(0xdc, length >> 8, length & 0xff);
}

/** The shortest form of a whole number below 2⁵³. */
export function packNumber(value: number): Uint8Array {
  if (value < 0x80) return Uint8Array.of(value);
  const [tag, length] =
    value < 0x100 ? [0xcc, 1] : value < 0x1_0000 ? [0xcd, 2] : value < 0x1_0000_0000 ? [0xce, 4] : [0xcf, 8];
  const bytes = Array.from({ length }, (_, i) =>
    Number((BigInt(value) >> BigInt(8 * (length - 1 - i))) & 0xffn),
  );
  return Uint8Array.of(tag, ...bytes);
}

/** At most 255 bytes as such: the form of the chain's addresses, hashes and amounts. */
export function packBytes(bytes: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(0xc4, bytes.length), bytes);
}

/** No value. */
export const packedNull: Uint8Array = Uint8Array.of(0xc0);
