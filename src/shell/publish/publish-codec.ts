import sodiumWasmUrl from 'virtual:libsodium.wasm?url';
import decoderWasmUrl from 'brotli-dec-wasm/web/bg.wasm?url';
import brotliWasm from 'brotli-wasm';
import { Codec } from '../../self-encryption/codec.ts';

/** The codec of the page's own workers. */
export function publishCodec(): Codec {
  return new Codec({
    brotliDecoderWasm: () => fetch(decoderWasmUrl),
    sodiumWasm: () => fetch(sodiumWasmUrl),
    brotliEncoder: async () => {
      const { compress } = await brotliWasm;
      return (bytes) => compress(bytes, { quality: 6 });
    },
  });
}
