import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex, concatBytes } from '@noble/hashes/utils.js';
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js';
import { littleEndian } from './bytes.ts';

/** At 64 bytes each, they take little memory. */
const mostRemembered = 20_000;

/**
 * Hashes of valid signatures with their keys and texts. Nodes sign one commitment for all of their prices, plans are checked
 * again before they are paid, and a verification takes some milliseconds.
 */
const valid = new Set<string>();

/**
 * Whether a node has signed these bytes.
 * @param key an ML-DSA-65 key of 1952 bytes.
 * @param signature 3309 bytes.
 * @param context the context of the signature, as in FIPS 204.
 */
export function hasSigned(
  key: Uint8Array,
  signed: Uint8Array,
  signature: Uint8Array,
  context: Uint8Array = new Uint8Array(),
): boolean {
  // Without the lengths, a part could pass for the end of the part before.
  const parts = [key, signature, context, signed].flatMap((part) => [littleEndian(part.length, 4), part]);
  const id = bytesToHex(blake3(concatBytes(...parts)));
  if (valid.has(id)) return true;
  if (!ml_dsa65.verify(signature, signed, key, { context })) return false;
  if (valid.size >= mostRemembered) valid.clear();
  valid.add(id);
  return true;
}
