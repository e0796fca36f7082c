import { sha3_256 } from '@noble/hashes/sha3.js';
import { limits } from '../limits.ts';
import type { RandomAccess } from '../util/random-access.ts';

/** A running SHA3-256. Those of `@noble/hashes` and of `node:crypto` have this form. */
export interface ContentHash {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

export type NewContentHash = () => ContentHash;

const inJavaScript: NewContentHash = () => sha3_256.create();

/**
 * The xorname of a file in the index of a tarchive: the SHA3-256 of its bytes, as the crate `xor_name` computes it. It is
 * not the address of the file in the network.
 * @param newHash a faster implementation, where the platform has one.
 */
export async function xornameOf(
  source: RandomAccess,
  { signal, newHash = inJavaScript }: { signal?: AbortSignal; newHash?: NewContentHash } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const hash = newHash();
  for (let at = 0; at < source.size; at += limits.streamPieceBytes) {
    signal?.throwIfAborted();
    hash.update(await source.read(at, Math.min(at + limits.streamPieceBytes, source.size), signal));
  }
  return Uint8Array.from(hash.digest());
}
