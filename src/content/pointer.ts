import { blake3 } from '@noble/hashes/blake3.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { Address, equalBytes } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';

/** An owner's signed statement of where their newest content is. docs/reference/formats.md has the layout. */
export interface Pointer {
  /** A larger counter is newer. */
  counter: bigint;
  /** The kind of record at `target`. */
  kind: 'chunk' | 'pointer';
  target: Address;
  record: Uint8Array<ArrayBuffer>;
}

const version = 1;
/** Where the counter begins. */
export const ownerEnd = 1 + 1952;
const counterEnd = ownerEnd + 8;
const targetStart = counterEnd + 1;
/** The owner signs all bytes before. */
export const headEnd = targetStart + 32;
const kinds = ['chunk', 'pointer'] as const;

const context = (text: string) => new TextEncoder().encode(text);
/** Derives the address from the owner's key. */
export const addressContext = context('autonomi.pointer.address.v1');
/** Of signatures over the head. */
export const signatureContext = context('autonomi.pointer.head.v1');

/**
 * Parses and verifies a pointer record from an untrusted source. Checking the signature takes some milliseconds.
 * @param address the claimed address: the hash of the owner's key.
 * @throws AntwayError `UNSUPPORTED` for another version or kind of target, `CORRUPT` if the owner did not sign it.
 */
export function parsePointer(record: Uint8Array<ArrayBuffer>, address: Address): Pointer {
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

/** Encodes the part of a record that the owner signs: 1,994 bytes. @param owner the public key. */
export function encodeHead(
  owner: Uint8Array,
  { counter, kind, target }: Omit<Pointer, 'record'>,
): Uint8Array<ArrayBuffer> {
  const head = new Uint8Array(headEnd);
  head[0] = version;
  head.set(owner, 1);
  new DataView(head.buffer).setBigUint64(ownerEnd, counter);
  head[counterEnd] = kinds.indexOf(kind);
  head.set(target.bytes, targetStart);
  return head;
}

/** No state replaces a state with this counter. */
export const finalCounter = 2n ** 64n - 1n;

/**
 * Returns the valid state of one owner's pointer, by the network's rule (`PointerState::replaces`). The larger counter
 * wins; with equal counters, the smaller kind and target. No state replaces a state with the final counter. If several
 * final states arrive at once, the state with the most answers wins, then the smaller kind and target.
 * @param answers one answer per peer that was asked.
 */
export function newestPointer(known: Pointer | undefined, answers: readonly Pointer[]): Pointer | undefined {
  if (known?.counter === finalCounter) return known;
  const finalStates = answers.filter(({ counter }) => counter === finalCounter).map(order);
  const votesFor = (state: string) => finalStates.filter((other) => other === state).length;
  const isNewer = (next: Pointer, old: Pointer) => {
    if (next.counter !== old.counter) return next.counter > old.counter;
    const majority = votesFor(order(next)) - votesFor(order(old));
    return majority === 0 ? order(next) < order(old) : majority > 0;
  };
  let newest = known;
  for (const answer of answers) if (!newest || isNewer(answer, newest)) newest = answer;
  return newest;
}

/** Sort key for equal counters: the byte of the kind, then of the target. The smaller one wins. */
const order = ({ kind, target }: Pointer) => `${kinds.indexOf(kind)}${target.hex}`;
