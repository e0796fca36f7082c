import { blake3 } from '@noble/hashes/blake3.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { Address, equalBytes } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';

/** What an owner last said: that their newest content is there. docs/FORMATS.md has the layout. */
export interface Pointer {
  /** The larger one is newer. */
  counter: bigint;
  /** What is at `target`. */
  kind: 'chunk' | 'pointer';
  target: Address;
  /** The whole record. */
  record: Uint8Array<ArrayBuffer>;
}

const version = 1;
const ownerEnd = 1 + 1952;
const counterEnd = ownerEnd + 8;
const targetStart = counterEnd + 1;
const headEnd = targetStart + 32;
const kinds = ['chunk', 'pointer'] as const;

const context = (text: string) => new TextEncoder().encode(text);
const addressContext = context('autonomi.pointer.address.v1');
const signatureContext = context('autonomi.pointer.head.v1');

/**
 * Reads a pointer record, which anybody may have sent. Takes some milliseconds: the signature is checked.
 * @param address where it is said to be: the hash of its owner's key.
 * @throws AntwayError `UNSUPPORTED` for another version or kind of target, `CORRUPT` for what its owner did not sign.
 */
export function openPointer(record: Uint8Array<ArrayBuffer>, address: Address): Pointer {
  const corrupt = (why: string) => new AntwayError('CORRUPT', why, { address: address.hex });
  if (record.length !== limits.pointerBytes) {
    throw corrupt(`A pointer has ${limits.pointerBytes} bytes, this one ${record.length}.`);
  }
  if (record[0] !== version) {
    throw new AntwayError(
      'UNSUPPORTED',
      `This is a pointer of version ${record[0]}; version ${version} is known.`,
    );
  }
  const owner = record.subarray(1, ownerEnd);
  if (!equalBytes(blake3(owner, { context: addressContext }), address.bytes)) {
    throw corrupt('The pointer is of another owner.');
  }
  const head = record.subarray(0, headEnd);
  if (!ml_dsa65.verify(record.subarray(headEnd), head, owner, { context: signatureContext })) {
    throw corrupt('The pointer’s signature is not its owner’s.');
  }
  const kind = kinds[record[counterEnd]!];
  if (!kind) throw new AntwayError('UNSUPPORTED', 'The pointer leads to a kind of record that is not known.');
  return {
    counter: new DataView(record.buffer, record.byteOffset).getBigUint64(ownerEnd),
    kind,
    target: Address.fromBytes(record.slice(targetStart, headEnd)),
    record,
  };
}

/** The newer of two pointers of one owner: that with the larger counter, or else with the smaller target. */
export function newer(a: Pointer, b: Pointer): Pointer {
  if (a.counter !== b.counter) return a.counter > b.counter ? a : b;
  return a.target.hex <= b.target.hex ? a : b;
}
