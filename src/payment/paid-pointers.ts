import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { type Address, equalBytes } from '../address.ts';
import { headEnd } from '../content/pointer.ts';
import { asAntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { PointerPeer } from '../owner/move-pointer.ts';
import { paymentProblemOf } from './errors.ts';
import type { RecordToStore } from './quotes.ts';
import { type StoreParts, storePaid } from './upload.ts';

const stateContext = new TextEncoder().encode('autonomi.pointer.state.v1');

/** The record of a pointer's state, as the network names it: `state_id_for_body` of the crate `ant-protocol`. */
export function pointerRecord(address: Address, record: Uint8Array): RecordToStore & { stateId: string } {
  const state = blake3(record.subarray(0, headEnd), { context: stateContext });
  return { address: address.hex, stateId: bytesToHex(state), size: record.length };
}

/**
 * Pointers in the network, which the user pays for: each new state costs as much as a chunk.
 * @param reader reads from the network, such as a relay's own peer.
 * @param payFor pays for a record, or throws if the user does not agree.
 */
export function paidPointers(
  reader: Pick<PointerPeer, 'url' | 'fetch' | 'pointer'>,
  payFor: (record: RecordToStore) => Promise<void>,
  parts: StoreParts,
): PointerPeer {
  return {
    url: reader.url,
    fetch: (address, signal) => reader.fetch(address, signal),
    pointer: (address, maxBytes, signal) => reader.pointer(address, maxBytes, signal),
    async putPointer(address, record, { signal = parts.signal }) {
      if (await hasState(reader, address, record, signal)) return 'present';
      const wanted = pointerRecord(address, record);
      await parts.journal.setMissing(wanted.stateId);
      await payFor(wanted);
      try {
        return await storePaid(wanted, record, { ...parts, signal });
      } catch (error) {
        if (paymentProblemOf(error) === 'OUTDATED') return 'outdated';
        throw error;
      }
    },
  };
}

/** Whether the network's newest state is this one. */
async function hasState(
  reader: Pick<PointerPeer, 'pointer'>,
  address: Address,
  record: Uint8Array,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const newest = await reader.pointer(address, limits.pointerBytes, signal);
    return equalBytes(newest.subarray(0, headEnd), record.subarray(0, headEnd));
  } catch (error) {
    signal.throwIfAborted();
    if (asAntwayError(error).code === 'NOT_FOUND') return false;
    throw error;
  }
}
