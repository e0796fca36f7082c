import { equalBytes } from '../address.ts';
import type { AntwayError } from '../errors.ts';
import { concat } from './bytes.ts';
import { nodeError } from './node-error.ts';

/** Positions of the messages in the network's `ChunkMessageBody`. */
const messages = {
  chunkPut: 0,
  chunkPutAnswer: 1,
  candidateAnswer: 7,
  candidate: 9,
  pointerPut: 10,
  pointerPutAnswer: 11,
  pointerGet: 12,
  pointerGetAnswer: 13,
};
/** The results in `ChunkPutResponse`. */
const chunkResults = ['stored', 'present', 'unpaid', 'error'] as const;
/** The results in `MerkleCandidateQuoteResponse`. */
const candidateResults = ['quoted', 'error'] as const;
/** The results in `PointerGetResponse`. */
const getResults = ['found', 'not-found', 'error'] as const;
/** The results in `PointerPutResponse`. */
const putResults = ['stored', 'unchanged', 'stale', 'unpaid', 'error'] as const;
/** The position of a refused payment in `ProtocolError`. */
const paymentFailed = 6n;
/** The position of “no value” and of a value in an `Option`. */
const [absent, present] = [0, 1];
const hashBytes = 32;
/** `DATA_TYPE_CHUNK` of the network. */
const chunkType = 0;
/** The rules of payment that this code follows, as the network numbers them. */
const settlementVersion = 1;

/** The price of a node for a pool of a batch, which nothing has verified. Both are MessagePack. */
export interface CandidateQuote {
  /** `MerklePaymentCandidateNode` of the network's crate `evmlib`. */
  candidate: Uint8Array;
  /** `StorageCommitment` of the network's crate `ant-protocol`. Null if the node sent none. */
  commitment: Uint8Array | null;
}

/** A request for a pointer, in the `postcard` format: varints, and fixed arrays without a length. */
export function encodePointerGet(id: number, address: Uint8Array): Uint8Array<ArrayBuffer> {
  return concat(varint(BigInt(id)), new Uint8Array([messages.pointerGet]), address);
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
  const reader = answerTo(id, messages.pointerGetAnswer, message);
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

/**
 * A request to store a chunk that was paid for in a batch.
 * @param proof of the payment, as nodes read it.
 * @returns the parts of the message, so that a large chunk is not copied.
 */
export function encodeChunkPut(
  id: number,
  address: Uint8Array,
  bytes: Uint8Array<ArrayBuffer>,
  proof: Uint8Array,
): Uint8Array<ArrayBuffer>[] {
  return [
    concat(varint(BigInt(id)), new Uint8Array([messages.chunkPut]), address, varint(BigInt(bytes.length))),
    bytes,
    concat(new Uint8Array([present]), varint(BigInt(proof.length)), proof),
  ];
}

/**
 * Makes sure that a node says that it has the chunk.
 * @throws AntwayError `CORRUPT` for anything else than an answer to this request. `PEERS_UNREACHABLE` for an error, with
 *   `details.reason` as `decodePointerPut`.
 */
export function decodeChunkPut(message: Uint8Array, id: number, address: Uint8Array): void {
  const reader = answerTo(id, messages.chunkPutAnswer, message);
  const result = chunkResults[Number(reader.varint())];
  if (result === 'unpaid' || result === 'error') throw refused('a chunk', result, reader);
  if (result === undefined || !equalBytes(reader.rest(), address)) throw otherAnswer();
}

/**
 * A request for the price of a node in a pool of a batch.
 * @param address of the pool. @param size of the largest chunk, in bytes. @param timestamp that the node shall sign, in
 *   seconds since 1970.
 */
export function encodeCandidate(
  id: number,
  address: Uint8Array,
  size: number,
  timestamp: number,
): Uint8Array<ArrayBuffer> {
  const numbers = [chunkType, size, timestamp, settlementVersion];
  return concat(
    varint(BigInt(id)),
    new Uint8Array([messages.candidate]),
    address,
    ...numbers.map((number) => varint(BigInt(number))),
  );
}

/**
 * @throws AntwayError `CORRUPT` for anything else than an answer to this request, `PEERS_UNREACHABLE` if the node gives no
 *   price.
 */
export function decodeCandidate(message: Uint8Array, id: number): CandidateQuote {
  const reader = answerTo(id, messages.candidateAnswer, message);
  const result = candidateResults[Number(reader.varint())];
  if (result === 'error') throw nodeError('refused', 'A node gives no price for a batch.');
  if (result === undefined) throw otherAnswer();
  const candidate = reader.bytes();
  const option = reader.varint();
  if (option !== BigInt(absent) && option !== BigInt(present)) throw otherAnswer();
  const commitment = option === BigInt(present) ? reader.bytes() : null;
  if (reader.rest().length > 0) throw otherAnswer();
  return { candidate, commitment };
}

/** A request to store a state of a pointer. @param proof of the payment for this state, as nodes read it. */
export function encodePointerPut(id: number, record: Uint8Array, proof: Uint8Array): Uint8Array<ArrayBuffer> {
  return concat(
    varint(BigInt(id)),
    new Uint8Array([messages.pointerPut]),
    varint(BigInt(record.length)),
    record,
    new Uint8Array([present]),
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
  const reader = answerTo(id, messages.pointerPutAnswer, message);
  const result = putResults[Number(reader.varint())];
  if (result === 'unpaid' || result === 'error') throw refused('the state of a pointer', result, reader);
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

/** The error of a node that refused a record. @param reader after the result. */
function refused(what: string, result: 'unpaid' | 'error', reader: Reader): AntwayError {
  const isUnpaid = result === 'unpaid' || reader.varint() === paymentFailed;
  const reason = isUnpaid ? 'payment_required' : 'put_failed';
  return nodeError('refused', `A node refused ${what} (${reason}).`, undefined, { reason });
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

  /** Bytes after their length. */
  bytes(): Uint8Array {
    const length = this.varint();
    const rest = this.rest();
    if (length > BigInt(rest.length)) throw otherAnswer();
    this.#at += Number(length);
    return rest.subarray(0, Number(length));
  }

  rest(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }
}
