/** `chacha20` and `xor` process whole strides (256 and 208 bytes) and overwrite bytes past the end. */
const slackBytes = 1024;

/**
 * A multiple of the pad (52 bytes) and of the units of `xor` and `chacha20`. About the size of the pipe to a page, so
 * that the page consumes one piece while the next is decrypted.
 */
export const pieceBytes = 20 * 16 * 208;

/** Offsets in the kernel's memory, in bytes. */
export const layout = {
  /** The key (32 bytes) and the nonce (12 bytes). */
  secret: 0,
  /** Ten words of 64 bits: Poly1305's accumulator, and its multiplier. */
  authenticator: 64,
  /** Four copies of the 52-byte pad. */
  pads: 256,
  /** Chaining values of one subtree, and room for the up to four that `hash4` writes past its end. */
  values: 512,
  /** One incomplete BLAKE3 chunk. */
  partial: 4_096,
  /** The bytes that are hashed, encrypted or decrypted: small enough for a processor's cache. */
  piece: 8_192,
} as const;

export const kernelMemoryBytes = layout.piece + pieceBytes + slackBytes;
