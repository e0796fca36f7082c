import { AntwayError } from '../errors.ts';
import type { CodecPlatform } from '../self-encryption/codec.ts';

/** WebAssembly is part of the modules, so that no platform needs to find a file. */
export const publishPlatform: CodecPlatform = {
  async brotliDecoderWasm() {
    throw new AntwayError('UNSUPPORTED', 'This package publishes only.');
  },
  async brotliEncoder() {
    const [{ default: init, compress }, { default: url }] = await Promise.all([
      import('virtual:brotli-encoder'),
      import('virtual:brotli-encoder.wasm?url&inline'),
    ]);
    const binary = atob(url.slice(url.indexOf(',') + 1));
    await init(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
    // Addresses depend on the quality.
    return (bytes) => compress(bytes, { quality: 6 });
  },
};
