/** URL of libsodium's WebAssembly, made by `libsodium-wasm.ts`. */
declare module 'virtual:libsodium.wasm?url' {
  const url: string;
  export default url;
}
