import { equalBytes } from '../address.ts';
import { concat } from './bytes.ts';
import { nodeError } from './node-error.ts';

/** Positions of the messages in the network's `ChunkMessageBody`, and of the results in `PointerGetResponse`. */
const pointerGetRequest = 12;
const pointerGetResponse = 13;
const results = ['found', 'not-found', 'error'] as const;

/** A request for a pointer, in the `postcard` format: varints, and fixed arrays without a length. */
export function encodePointerGet(id: number, address: Uint8Array): Uint8Array<ArrayBuffer> {
  return concat(varint(BigInt(id)), new Uint8Array([pointerGetRequest]), address);
}

/**
 * @param recordBytes the only size that a record may have.
 * @returns the record, which nothing has verified; undefined if the node has none.
 * @throws AntwayError `CORRUPT` for anything else than an answer to this request, `PEERS_UNREACHABLE` for an error.
 */
export function decodePointerGet(
  message: Uint8Array,
  id: number,
  address: Uint8Array,
  recordBytes: number,
): Uint8Array<ArrayBuffer> | undefined {
  const reader = new Reader(message);
  if (reader.varint() !== BigInt(id) || reader.varint() !== BigInt(pointerGetResponse)) throw otherAnswer();
  const result = results[Number(reader.varint())];
  if (result === 'error') throw nodeError('refused', 'A node cannot read its pointers.');
  if (result === undefined) throw otherAnswer();
  if (result === 'not-found') {
    if (!equalBytes(reader.rest(), address)) throw otherAnswer();
    return undefined;
  }
  const length = reader.varint();
  const record = reader.rest();
  if (length !== BigInt(record.length) || record.length !== recordBytes) throw otherAnswer();
  return new Uint8Array(record);
}

const otherAnswer = () => nodeError('protocol', 'A node answered with another message.');

/** Seven bits per byte, the lowest first. */
function varint(value: bigint): Uint8Array {
  const bytes = [];
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return new Uint8Array(bytes);
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) break;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw otherAnswer();
  }

  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }
}
