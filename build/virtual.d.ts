/** The URL of libsodium's WebAssembly, from `libsodium-wasm.ts`. */
declare module 'virtual:libsodium.wasm?url' {
  const url: string;
  export default url;
}

/** The style of the worker's pages, from `page-style.ts`. */
declare module 'virtual:page-style' {
  const style: string;
  export default style;
}

/** The SHA-256 of the workers' WebAssembly in base64, from `wasm-hashes.ts`. */
declare module 'virtual:wasm-hashes' {
  export const decoderHash: string;
  export const sodiumHash: string;
}

/** Brotli's encoder, from `portable-wasm.ts`: the package `brotli-wasm` for a caller that brings the WebAssembly. */
declare module 'virtual:brotli-encoder' {
  /** Call it before `compress`. @param wasm the bytes of the file below. */
  export default function init(wasm: BufferSource): Promise<unknown>;
  export function compress(bytes: Uint8Array, options: { quality: number }): Uint8Array;
}

/** A `data:` URL with its WebAssembly. */
declare module 'virtual:brotli-encoder.wasm?url&inline' {
  const url: string;
  export default url;
}

/** Only in packages: the URL of the script `encrypt-worker.js` beside the module. */
declare const __ANTWAY_ENCRYPT_WORKER__: URL;
