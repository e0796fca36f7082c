/** The work on every byte of a chunk, with SIMD. The language is AssemblyScript (`build/compile-kernel.ts`). */
export { hash4 } from './blake3';
export { chacha20 } from './chacha20';
export { poly1305 } from './poly1305';
export { xorPads as xor } from './xor';
