import { equalBytes } from '../address.ts';
import { concat } from './bytes.ts';
import { nodeError } from './node-error.ts';

/** Positions of the messages in the network's `ChunkMessageBody`. */
const messages = { putRequest: 10, putResponse: 11, getRequest: 12, getResponse: 13 };
/** The results in `PointerGetResponse`. */
const getResults = ['found', 'not-found', 'error'] as const;
/** The results in `PointerPutResponse`. */
const putResults = ['stored', 'unchanged', 'stale', 'unpaid', 'error'] as const;
/** The position of a refused payment in `ProtocolError`. */
const paymentFailed = 6n;
const hashBytes = 32;

/** A request for a pointer, in the `postcard` format: varints, and fixed arrays without a length. */
export function encodePointerGet(id: number, address: Uint8Array): Uint8Array<ArrayBuffer> {
  return concat(varint(BigInt(id)), new Uint8Array([messages.getRequest]), address);
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
  const reader = answerTo(id, messages.getResponse, message);
  const result = getResults[Number(reader.varint())];
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

/** A request to store a state of a pointer. @param proof of the payment for this state, as nodes read it. */
export function encodePointerPut(id: number, record: Uint8Array, proof: Uint8Array): Uint8Array<ArrayBuffer> {
  const isPaid = 1;
  return concat(
    varint(BigInt(id)),
    new Uint8Array([messages.putRequest]),
    varint(BigInt(record.length)),
    record,
    new Uint8Array([isPaid]),
    varint(BigInt(proof.length)),
    proof,
  );
}

/**
 * @param address of the pointer. @param state the identifier of the state that was sent.
 * @returns `stale` if the node says that it has a state which this one does not replace.
 * @throws AntwayError `CORRUPT` for anything else than an answer to this request. `PEERS_UNREACHABLE` for an error, with
 *   `details.reason`: `payment_required` if the node sees no payment, else `put_failed`.
 */
export function decodePointerPut(
  message: Uint8Array,
  id: number,
  address: Uint8Array,
  state: Uint8Array,
): 'stored' | 'stale' {
  const reader = answerTo(id, messages.putResponse, message);
  const result = putResults[Number(reader.varint())];
  if (result === 'unpaid' || result === 'error') {
    const isUnpaid = result === 'unpaid' || reader.varint() === paymentFailed;
    const reason = isUnpaid ? 'payment_required' : 'put_failed';
    throw nodeError('refused', `A node refused the state of a pointer (${reason}).`, undefined, { reason });
  }
  if (result === undefined) throw otherAnswer();
  const rest = reader.rest();
  if (rest.length !== 2 * hashBytes || !equalBytes(rest.subarray(0, hashBytes), address)) throw otherAnswer();
  if (result === 'stale') return 'stale';
  // A node could name what it has in place of what it was sent, and store nothing.
  if (!equalBytes(rest.subarray(hashBytes), state)) throw otherAnswer();
  return 'stored';
}

/** Reads the head of an answer. @throws AntwayError `CORRUPT` for an answer to another request. */
function answerTo(id: number, type: number, message: Uint8Array): Reader {
  const reader = new Reader(message);
  if (reader.varint() !== BigInt(id) || reader.varint() !== BigInt(type)) throw otherAnswer();
  return reader;
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
