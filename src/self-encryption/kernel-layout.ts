/** What one call of `chacha20` works on at least, and a round number of pads. Each may go past the end by that much. */
const slackBytes = 1024;

/**
 * What is opened or sealed at a time: a whole number of pads (52 bytes), and of what `xor` and `chacha20` take at once. About
 * as much as the pipe to a page holds: in the time that it takes, the page takes that.
 */
export const pieceBytes = 20 * 16 * 208;

/** Where things lie in the kernel's memory, in bytes. */
export const layout = {
  /** 32 bytes of a key, 12 of a nonce. */
  secret: 0,
  /** Ten words of 64 bits: Poly1305's sum, and what it is multiplied by. */
  authenticator: 64,
  /** Four times the 52 bytes of a pad. */
  pads: 256,
  /** Chaining values of one subtree, and of the four that may come too many. */
  values: 512,
  /** One BLAKE3 chunk that is not whole. */
  partial: 4_096,
  /** What is hashed, or a piece that is opened or sealed: small enough for a processor's cache. */
  piece: 8_192,
} as const;

export const kernelMemoryBytes = layout.piece + pieceBytes + slackBytes;
