import { createBLAKE3 } from 'hash-wasm';

/** BLAKE3-256 of some bytes: 32 bytes. */
export type Blake3 = (bytes: Uint8Array) => Uint8Array;

let loading: Promise<Blake3> | undefined;

/** The hash function, once its WebAssembly is compiled. Calls are synchronous and never interleave. */
export function loadBlake3(): Promise<Blake3> {
  loading ??= createBLAKE3().then(
    (hasher) => (bytes) => hasher.init().update(bytes).digest('binary'),
    (error) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}
