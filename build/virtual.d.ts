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
