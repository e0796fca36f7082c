import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { type Address, equalBytes } from '../address.ts';
import { headEnd, newestPointer, type Pointer, parsePointer } from '../content/pointer.ts';
import { AntwayError, asAntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { PointerPeer, StatesBefore } from '../owner/move-pointer.ts';
import { paymentError, paymentProblemOf } from './errors.ts';
import { isPaidFor } from './journal.ts';
import type { RecordToStore } from './quotes.ts';
import { type StoreParts, storePaid } from './upload.ts';

const stateContext = new TextEncoder().encode('autonomi.pointer.state.v1');

/** The record of a pointer's state, as the network names it: `state_id_for_body` of the crate `ant-protocol`. */
export function pointerRecord(address: Address, record: Uint8Array): RecordToStore & { stateId: string } {
  const state = blake3(record.subarray(0, headEnd), { context: stateContext });
  return { address: address.hex, stateId: bytesToHex(state), size: record.length };
}

/** Reads from the network. */
export interface PointerReader extends Pick<PointerPeer, 'url' | 'fetch' | 'pointer'> {
  /**
   * Whether enough nodes have the state of a record. Without this function, the state that `pointer` gives counts.
   * @throws AntwayError if the reader cannot find out.
   */
  hasState?(address: Address, record: Uint8Array, signal: AbortSignal): Promise<boolean>;
}

/**
 * Pointers in the network, which the user pays for: each new state costs as much as a chunk.
 * @param readers read from the network, such as relays. The newest state that one of them tells counts: if
 *   a dishonest one hides it, no counter is signed twice.
 * @param payFor pays for a state, or throws if the user does not agree. It gets the name of the record, its bytes, and the
 *   states before it.
 */
export function paidPointers(
  readers: readonly PointerReader[],
  payFor: (due: RecordToStore, record: Uint8Array<ArrayBuffer>, before?: StatesBefore) => Promise<void>,
  parts: StoreParts,
): PointerPeer {
  const [first] = readers as [PointerReader];
  return {
    url: first.url,
    fetch: (address, signal) => first.fetch(address, signal),
    async pointer(address, _maxBytes, signal) {
      const states = await Promise.all(readers.map((reader) => stateAt(reader, address, signal)));
      const newest = newestPointer(
        undefined,
        states.filter((state) => state !== undefined),
      );
      if (newest) return newest.record;
      const { hex } = address;
      throw new AntwayError('NOT_FOUND', `The network has no state of ${hex}.`, { address: hex });
    },
    async prepare(address, record, signal, before) {
      const wanted = pointerRecord(address, record);
      const entry = await parts.journal.record(wanted.stateId);
      // It costs nothing more. So it needs no reader, which may be away.
      const isUnsent = isPaidFor(entry) && entry?.isStored !== true;
      if (isUnsent || !(await areUpToDate(readers, address, record, signal)))
        await payFor(wanted, record, before);
    },
    async putPointer(address, record, { signal = parts.signal }) {
      const isUpToDate = await areUpToDate(readers, address, record, signal).catch(() => {
        // To store the state again costs nothing, and a reader that is away must not prevent it.
        signal.throwIfAborted();
        return false;
      });
      if (isUpToDate) return 'present';
      const { journal } = parts;
      const wanted = pointerRecord(address, record);
      const wasStored = (await journal.record(wanted.stateId))?.isStored === true;
      await journal.setMissing(wanted.stateId);
      // The first relay said that the state is stored, and a reader does not find it.
      const relays = wasStored ? parts.relays.toReversed() : parts.relays;
      try {
        return await storePaid(wanted, record, { relays, journal, signal });
      } catch (error) {
        if (paymentProblemOf(error) !== 'OUTDATED') throw error;
        // Only a relay's or some nodes' word, which a state of the owner has to prove.
        if (await isOutdated(readers, parsePointer(record, address), address, signal)) return 'outdated';
        const message = 'Too few nodes store the new state. The payment is saved: try again later.';
        throw paymentError('SHORTFALL', message, { address: address.hex }, error);
      }
    },
  };
}

/** Whether a reader knows a state that this one does not replace. */
async function isOutdated(
  readers: readonly PointerReader[],
  wanted: Pointer,
  address: Address,
  signal: AbortSignal,
): Promise<boolean> {
  const states = await Promise.all(
    readers.map((reader) => stateAt(reader, address, signal).catch(() => undefined)),
  );
  signal.throwIfAborted();
  return states.some((state) => state && outlasts(state, wanted));
}

/** Whether a state stays when another one arrives. */
function outlasts(state: Pointer, other: Pointer): boolean {
  return !isSameState(state.record, other.record) && newestPointer(state, [other]) === state;
}

/** Whether two records of one pointer have the same state. An owner can sign it several times. */
export function isSameState(record: Uint8Array, other: Uint8Array): boolean {
  return equalBytes(record.subarray(0, headEnd), other.subarray(0, headEnd));
}

/** Whether this state is at all readers, as far as each can tell. */
async function areUpToDate(
  readers: readonly PointerReader[],
  address: Address,
  record: Uint8Array,
  signal: AbortSignal,
): Promise<boolean> {
  const isUpToDate = async (reader: PointerReader) => {
    if (reader.hasState) return reader.hasState(address, record, signal);
    const state = await stateAt(reader, address, signal);
    return state !== undefined && isSameState(state.record, record);
  };
  return !(await Promise.all(readers.map(isUpToDate))).includes(false);
}

/** @returns undefined if there is no state that the owner signed. */
async function stateAt(
  reader: PointerReader,
  address: Address,
  signal: AbortSignal,
): Promise<Pointer | undefined> {
  try {
    return parsePointer(await reader.pointer(address, limits.pointerBytes, signal), address);
  } catch (error) {
    signal.throwIfAborted();
    const { code } = asAntwayError(error);
    if (code === 'NOT_FOUND' || code === 'CORRUPT') return undefined;
    throw error;
  }
}
