import { blake3 } from '@noble/hashes/blake3.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { Address } from '../address.ts';
import { type Pointer, pointerLayout } from './pointer.ts';

/**
 * Signs a state of an owner's pointer.
 * @param seed 32 secret bytes: the seed ξ of the owner's key pair in ML-DSA-65 (FIPS 204).
 * @returns the address of the owner, and the record.
 */
export function signPointer(
  seed: Uint8Array,
  { counter, kind, target }: Omit<Pointer, 'record'>,
): { address: Address; record: Uint8Array<ArrayBuffer> } {
  const { version, ownerEnd, counterEnd, targetStart, headEnd, kinds } = pointerLayout;
  const { publicKey, secretKey } = ml_dsa65.keygen(seed);
  const head = new Uint8Array(headEnd);
  head[0] = version;
  head.set(publicKey, 1);
  new DataView(head.buffer).setBigUint64(ownerEnd, counter);
  head[counterEnd] = kinds.indexOf(kind);
  head.set(target.bytes, targetStart);
  const signature = ml_dsa65.sign(head, secretKey, { context: pointerLayout.signatureContext });
  const record = new Uint8Array(headEnd + signature.length);
  record.set(head);
  record.set(signature, headEnd);
  return { address: Address.fromBytes(blake3(publicKey, { context: pointerLayout.addressContext })), record };
}
