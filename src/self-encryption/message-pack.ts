import { decode } from '@msgpack/msgpack';

/** Limits for a MessagePack value from an untrusted source. */
export interface ValueLimits {
  /** Most levels of nested arrays and maps. */
  maxDepth: number;
  /** Most values in total: numbers, texts, arrays, and their elements. */
  maxValues: number;
}

/**
 * Decodes one MessagePack value from an untrusted source.
 *
 * Security: the library's decoder allocates as many elements as an array's header claims, before it has seen one. A
 * record of a few hundred bytes with nested headers could take gigabytes. Therefore the structure is checked first,
 * without allocations.
 *
 * @throws Error if the bytes are not exactly one value, or exceed the limits.
 */
export function decodeUntrusted(bytes: Uint8Array, limits: ValueLimits): unknown {
  checkStructure(bytes, limits);
  return decode(bytes);
}

function checkStructure(bytes: Uint8Array, { maxDepth, maxValues }: ValueLimits): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  /** Number of missing values in each open array or map, the innermost last. */
  const open = [1];
  let at = 0;
  /** Number of values read or announced by a header so far. */
  let values = 1;
  while (open.length > 0) {
    if (open.at(-1) === 0) {
      open.pop();
      continue;
    }
    open[open.length - 1]!--;
    if (at >= bytes.length) throw new RangeError('The value ends early');
    const { skip, holds } = readHead(view, at);
    at += skip;
    if (holds === 0) continue;
    values += holds;
    if (values > maxValues || open.length > maxDepth) throw new RangeError('The value is past its limits');
    // Each value takes at least one byte.
    if (holds > bytes.length - at) throw new RangeError('The value ends early');
    open.push(holds);
  }
  if (at !== bytes.length) throw new RangeError('The bytes are not one value');
}

/**
 * Reads the type byte at a position. @returns the distance to the next value, and the number of values inside this one.
 */
function readHead(view: DataView, at: number): { skip: number; holds: number } {
  const type = view.getUint8(at);
  const leaf = (skip: number) => ({ skip, holds: 0 });
  if (type <= 0x7f || type >= 0xe0) return leaf(1);
  if (type <= 0x8f) return { skip: 1, holds: 2 * (type & 0x0f) };
  if (type <= 0x9f) return { skip: 1, holds: type & 0x0f };
  if (type <= 0xbf) return leaf(1 + (type & 0x1f));
  switch (type) {
    case 0xc0: // nil
    case 0xc2: // false
    case 0xc3: // true
      return leaf(1);
    case 0xc4: // bin
    case 0xd9: // str
      return leaf(2 + view.getUint8(at + 1));
    case 0xc5:
    case 0xda:
      return leaf(3 + view.getUint16(at + 1));
    case 0xc6:
    case 0xdb:
      return leaf(5 + view.getUint32(at + 1));
    case 0xc7: // ext: its length, its type, its bytes
      return leaf(3 + view.getUint8(at + 1));
    case 0xc8:
      return leaf(4 + view.getUint16(at + 1));
    case 0xc9:
      return leaf(6 + view.getUint32(at + 1));
    case 0xcc: // uint
    case 0xd0: // int
      return leaf(2);
    case 0xcd:
    case 0xd1:
      return leaf(3);
    case 0xca: // float
    case 0xce:
    case 0xd2:
      return leaf(5);
    case 0xcb:
    case 0xcf:
    case 0xd3:
      return leaf(9);
    case 0xd4: // fixext of 1, 2, 4, 8 and 16 bytes
    case 0xd5:
    case 0xd6:
    case 0xd7:
    case 0xd8:
      return leaf(2 + 2 ** (type - 0xd4));
    case 0xdc:
      return { skip: 3, holds: view.getUint16(at + 1) };
    case 0xdd:
      return { skip: 5, holds: view.getUint32(at + 1) };
    case 0xde:
      return { skip: 3, holds: 2 * view.getUint16(at + 1) };
    case 0xdf:
      return { skip: 5, holds: 2 * view.getUint32(at + 1) };
    default:
      throw new RangeError('There is no such type');
  }
}
