import type { Address } from '../address.ts';
import { encodeHead, finalCounter, type Pointer, parsePointer } from '../content/pointer.ts';
import { AntwayError } from '../errors.ts';
import type { OwnerKey } from './owner-key.ts';

/** The content that a pointer leads to. */
export interface PointerTarget {
  kind: Pointer['kind'];
  target: Address;
}

/** Any state of a pointer that is known: of a peer, or one that was signed before. */
export interface KnownState {
  counter: bigint;
}

/**
 * Signs the next state of the owner's pointer. Its counter is higher than every known counter; the first is 0.
 * @param known all states that this device signed, and all that peers answered. If one is missing, two states can have
 *   one counter, and the network keeps the smaller target.
 * @throws AntwayError `REFUSED` if the pointer is frozen, or if only the final counter is left; as `checkTarget`.
 */
export function signPointer(key: OwnerKey, target: PointerTarget, known: Iterable<KnownState>): Pointer {
  const counter = highest(key, known) + 1n;
  if (counter === finalCounter) {
    throw new AntwayError('REFUSED', 'The pointer has no counter left. It can only be frozen.', {
      address: key.address.hex,
    });
  }
  return signState(key, target, counter);
}

/**
 * Signs the final state of the owner's pointer. No other state ever replaces it, also not one of the owner.
 * @param known as for `signPointer`.
 * @throws AntwayError `REFUSED` if the pointer is frozen; as `checkTarget`.
 */
export function freezePointer(key: OwnerKey, target: PointerTarget, known: Iterable<KnownState>): Pointer {
  highest(key, known);
  return signState(key, target, finalCounter);
}

/** The highest known counter, or −1. @throws AntwayError `REFUSED` if it is the final counter. */
function highest({ address }: OwnerKey, known: Iterable<KnownState>): bigint {
  let counter = -1n;
  for (const state of known) if (state.counter > counter) counter = state.counter;
  if (counter < finalCounter) return counter;
  throw new AntwayError('REFUSED', 'The pointer is frozen. It leads to the same content for ever.', {
    address: address.hex,
  });
}

/**
 * Signs a state with a counter that the caller answers for.
 * @throws AntwayError `BAD_ADDRESS` if the pointer would lead to itself.
 */
export function signState(key: OwnerKey, { kind, target }: PointerTarget, counter: bigint): Pointer {
  checkTarget(key, target);
  const head = encodeHead(key.publicKey, { counter, kind, target });
  const record = new Uint8Array([...head, ...key.sign(head)]);
  // A fault of the memory or of the library must not become a record that no peer accepts.
  return parsePointer(record, key.address);
}

/** @throws AntwayError `BAD_ADDRESS` if the pointer would lead to itself. */
function checkTarget({ address }: OwnerKey, target: Address): void {
  if (target.hex !== address.hex) return;
  throw new AntwayError('BAD_ADDRESS', 'A pointer cannot lead to itself.', { address: address.hex });
}
