import { limits } from '../limits.ts';

/** What one call of `chacha20` works on at least, and a round number of pads. Each may go past the end by that much. */
const slackBytes = 1024;

/** Where things lie in the kernel's memory, in bytes. */
export const layout = {
  /** 32 bytes of a key, 12 of a nonce. */
  secret: 0,
  /** Ten words of 64 bits: Poly1305's sum, and what it is multiplied by. */
  authenticator: 64,
  /** Four times the 52 bytes of a pad. */
  pads: 256,
  /** Chaining values of one piece, and of the four that may come too many. */
  values: 512,
  /** One BLAKE3 chunk that is not whole. */
  partial: 4_096,
  /** A piece that is hashed. */
  piece: 8_192,
  /** A chunk that is opened or sealed. */
  chunk: 128 * 1024,
} as const;

export const kernelMemoryBytes = layout.chunk + limits.chunkBytes + slackBytes;
