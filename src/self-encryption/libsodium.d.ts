/** The functions of Emscripten's libsodium that `sodium.ts` calls. A u64 length of C is a low and a high word here. */
declare module 'libsodium' {
  export interface Sodium {
    /** The array is replaced when the memory grows. */
    readonly HEAPU8: Uint8Array<ArrayBuffer>;
    _malloc(bytes: number): number;
    _free(pointer: number): void;
    _sodium_init(): number;
    _crypto_aead_chacha20poly1305_ietf_encrypt(
      encrypted: number,
      encryptedLengthPointer: 0,
      plaintext: number,
      plaintextBytes: number,
      plaintextBytesHigh: 0,
      data: 0,
      dataBytes: 0,
      dataBytesHigh: 0,
      secretNonce: 0,
      nonce: number,
      key: number,
    ): number;
    _crypto_aead_chacha20poly1305_ietf_decrypt(
      plaintext: number,
      plaintextLengthPointer: 0,
      secretNonce: 0,
      encrypted: number,
      encryptedBytes: number,
      encryptedBytesHigh: 0,
      data: 0,
      dataBytes: 0,
      dataBytesHigh: 0,
      nonce: number,
      key: number,
    ): number;
  }

  export interface SodiumOptions {
    /** 32 random bits. */
    getRandomValue?(): number;
    /** Instantiates the module instead of the library, which then loads no WebAssembly itself. */
    instantiateWasm?(imports: WebAssembly.Imports, done: (instance: WebAssembly.Instance) => void): void;
  }

  export default function libsodium(options?: SodiumOptions): Promise<Sodium>;
}
