import { blake3 as blake3InScript } from '@noble/hashes/blake3.js';
import { loadKernel } from './kernel.ts';

/** BLAKE3-256. */
export type Blake3 = (bytes: Uint8Array) => Uint8Array;

/** Compiles the WebAssembly; without SIMD, returns a hash function in JavaScript. */
export async function loadBlake3(): Promise<Blake3> {
  const kernel = await loadKernel();
  return kernel ? (bytes) => kernel.blake3(bytes) : blake3InScript;
}

/** Yields to other tasks of the thread in between. */
export async function hashInTurns(bytes: Uint8Array): Promise<Uint8Array> {
  const kernel = await loadKernel();
  return kernel ? kernel.blake3InTurns(bytes) : blake3InScript(bytes);
}
