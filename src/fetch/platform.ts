import type { CodecPlatform } from '../self-encryption/codec.ts';

/** WebAssembly is part of the modules, so that no platform needs to find a file. */
export const portablePlatform: CodecPlatform = {
  async brotliDecoderWasm() {
    const { default: url } = await import('brotli-dec-wasm/web/bg.wasm?url&inline');
    const binary = atob(url.slice(url.indexOf(',') + 1));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  },
};
