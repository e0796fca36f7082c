/** URL of libsodium's WebAssembly, made by `libsodium-wasm.ts`. */
declare module 'virtual:libsodium.wasm?url' {
  const url: string;
  export default url;
}

/** SHA-256 of the workers' WebAssembly in base64, made by `wasm-hashes.ts`. */
declare module 'virtual:wasm-hashes' {
  export const decoderHash: string;
  export const sodiumHash: string;
}
