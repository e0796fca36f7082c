import { blake3 } from '@noble/hashes/blake3.js';
import type { DataMap } from './data-map.ts';

export interface ChunkKeys {
  /** 52 bytes, XORed repeatedly over the encrypted bytes. */
  pad: Uint8Array<ArrayBuffer>;
  /** 32 bytes for ChaCha20-Poly1305. */
  key: Uint8Array<ArrayBuffer>;
  /** 12 bytes. */
  nonce: Uint8Array<ArrayBuffer>;
}

export const padBytes = 52;
const keyBytes = 32;
const nonceBytes = 12;
const context = new TextEncoder().encode('self_encryption/chunk/v2');

/**
 * As crate `self_encryption` 0.36: BLAKE3 in derive-key mode over the plaintext hashes of the chunk and its two
 * predecessors (wrapping), 96 bytes of output split as pad ‖ key ‖ nonce.
 * @param srcHashes all plaintext hashes of the file, 32 bytes each; at least three.
 * @param childLevel 0 for a file's own chunks, the nesting level for the chunks of a shrunk data map.
 */
export function deriveKeys(srcHashes: Uint8Array, index: number, childLevel: number): ChunkKeys {
  const count = srcHashes.length / 32;
  const material = new Uint8Array(3 * 32 + 2 * 8);
  const before = (steps: number) => (index - steps + count) % count;
  for (const [slot, i] of [index, before(1), before(2)].entries()) {
    material.set(srcHashes.subarray(32 * i, 32 * i + 32), 32 * slot);
  }
  const view = new DataView(material.buffer);
  view.setBigUint64(96, BigInt(index), true);
  view.setBigUint64(104, BigInt(childLevel), true);

  const output = blake3(material, { context, dkLen: padBytes + keyBytes + nonceBytes });
  return {
    pad: output.slice(0, padBytes),
    key: output.slice(padBytes, padBytes + keyBytes),
    nonce: output.slice(padBytes + keyBytes),
  };
}

export function keysOf(map: DataMap, index: number): ChunkKeys {
  return deriveKeys(map.srcHashes, index, map.childLevel);
}
