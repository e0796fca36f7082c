import type { Address } from '../address.ts';
import { ownerEnd, type Pointer, parsePointer } from '../content/pointer.ts';
import { asAntwayError } from '../errors.ts';

/** A pointer record that its owner signed. The kind of its target may be one that this version does not know. */
export type StoredPointer = Pick<Pointer, 'counter' | 'record'>;

/** @returns undefined unless the owner signed the record for the address. */
export function parseStoredPointer(
  record: Uint8Array<ArrayBuffer>,
  address: Address,
): StoredPointer | undefined {
  try {
    return parsePointer(record, address);
  } catch (error) {
    // `parsePointer` checks the version first and the kind last, so the signature of an unknown kind is valid.
    const isOfUnknownKind = asAntwayError(error).code === 'UNSUPPORTED' && record[0] === 1;
    if (!isOfUnknownKind) return undefined;
    return { counter: new DataView(record.buffer).getBigUint64(ownerEnd), record };
  }
}
