import { kernelMemoryBytes } from '../../src/self-encryption/kernel-layout.ts';
import { assemble } from './assembler.ts';
import { hash4 } from './blake3.ts';
import { chacha20 } from './chacha20.ts';
import { poly1305 } from './poly1305.ts';
import { xor } from './xor.ts';

/**
 * The WebAssembly for the work on every byte of a chunk, with SIMD. A build does not generate it. The
 * generated module is in `src/self-encryption/kernel-wasm.ts`. To generate it again, run
 * `UPDATE_KERNEL=1 npx vitest run tests/unit/kernel.test.ts`.
 */
export function kernel(): Uint8Array<ArrayBuffer> {
  return assemble([hash4(), chacha20(), poly1305(), xor()], kernelMemoryBytes);
}
