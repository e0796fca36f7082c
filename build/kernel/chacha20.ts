import { add, column0, column1, column2, column3, rotateLeft, xor } from './vectors';

/** Bytes of four blocks, one in each lane. */
const strideBytes: usize = 256;

/**
 * ChaCha20 (RFC 8439, section 2.4). XORs the key stream into the bytes from `data` to `end`, always 256 bytes at a
 * time, so it can overwrite bytes behind `end`. `secret` points to the 32 bytes of the key and the 12 bytes of the
 * nonce. `counter` is the counter of the first block.
 */
export function chacha20(data: usize, end: usize, secret: usize, counter: u32): void {
  // The initial state (section 2.3): "expand 32-byte k", key, counter, nonce.
  const s0 = i32x4.splat(0x61707865), s1 = i32x4.splat(0x3320646e);
  const s2 = i32x4.splat(0x79622d32), s3 = i32x4.splat(0x6b206574);
  const s4 = v128.load32_splat(secret, 0), s5 = v128.load32_splat(secret, 4);
  const s6 = v128.load32_splat(secret, 8), s7 = v128.load32_splat(secret, 12);
  const s8 = v128.load32_splat(secret, 16), s9 = v128.load32_splat(secret, 20);
  const s10 = v128.load32_splat(secret, 24), s11 = v128.load32_splat(secret, 28);
  let s12 = add(i32x4.splat(counter), i32x4(0, 1, 2, 3));
  const s13 = v128.load32_splat(secret, 32), s14 = v128.load32_splat(secret, 36), s15 = v128.load32_splat(secret, 40);
  do {
    let x0 = s0, x1 = s1, x2 = s2, x3 = s3, x4 = s4, x5 = s5, x6 = s6, x7 = s7;
    let x8 = s8, x9 = s9, x10 = s10, x11 = s11, x12 = s12, x13 = s13, x14 = s14, x15 = s15;
    let turns = 10;
    do {
      // Quarter rounds (section 2.1) of the columns.
      x0 = add(x0, x4); x12 = rotateLeft(xor(x12, x0), 16); x8 = add(x8, x12); x4 = rotateLeft(xor(x4, x8), 12);
      x0 = add(x0, x4); x12 = rotateLeft(xor(x12, x0), 8); x8 = add(x8, x12); x4 = rotateLeft(xor(x4, x8), 7);
      x1 = add(x1, x5); x13 = rotateLeft(xor(x13, x1), 16); x9 = add(x9, x13); x5 = rotateLeft(xor(x5, x9), 12);
      x1 = add(x1, x5); x13 = rotateLeft(xor(x13, x1), 8); x9 = add(x9, x13); x5 = rotateLeft(xor(x5, x9), 7);
      x2 = add(x2, x6); x14 = rotateLeft(xor(x14, x2), 16); x10 = add(x10, x14); x6 = rotateLeft(xor(x6, x10), 12);
      x2 = add(x2, x6); x14 = rotateLeft(xor(x14, x2), 8); x10 = add(x10, x14); x6 = rotateLeft(xor(x6, x10), 7);
      x3 = add(x3, x7); x15 = rotateLeft(xor(x15, x3), 16); x11 = add(x11, x15); x7 = rotateLeft(xor(x7, x11), 12);
      x3 = add(x3, x7); x15 = rotateLeft(xor(x15, x3), 8); x11 = add(x11, x15); x7 = rotateLeft(xor(x7, x11), 7);
      // Quarter rounds of the diagonals.
      x0 = add(x0, x5); x15 = rotateLeft(xor(x15, x0), 16); x10 = add(x10, x15); x5 = rotateLeft(xor(x5, x10), 12);
      x0 = add(x0, x5); x15 = rotateLeft(xor(x15, x0), 8); x10 = add(x10, x15); x5 = rotateLeft(xor(x5, x10), 7);
      x1 = add(x1, x6); x12 = rotateLeft(xor(x12, x1), 16); x11 = add(x11, x12); x6 = rotateLeft(xor(x6, x11), 12);
      x1 = add(x1, x6); x12 = rotateLeft(xor(x12, x1), 8); x11 = add(x11, x12); x6 = rotateLeft(xor(x6, x11), 7);
      x2 = add(x2, x7); x13 = rotateLeft(xor(x13, x2), 16); x8 = add(x8, x13); x7 = rotateLeft(xor(x7, x8), 12);
      x2 = add(x2, x7); x13 = rotateLeft(xor(x13, x2), 8); x8 = add(x8, x13); x7 = rotateLeft(xor(x7, x8), 7);
      x3 = add(x3, x4); x14 = rotateLeft(xor(x14, x3), 16); x9 = add(x9, x14); x4 = rotateLeft(xor(x4, x9), 12);
      x3 = add(x3, x4); x14 = rotateLeft(xor(x14, x3), 8); x9 = add(x9, x14); x4 = rotateLeft(xor(x4, x9), 7);
    } while (--turns);
    xorTransposed(data, add(x0, s0), add(x1, s1), add(x2, s2), add(x3, s3));
    xorTransposed(data + 16, add(x4, s4), add(x5, s5), add(x6, s6), add(x7, s7));
    xorTransposed(data + 32, add(x8, s8), add(x9, s9), add(x10, s10), add(x11, s11));
    xorTransposed(data + 48, add(x12, s12), add(x13, s13), add(x14, s14), add(x15, s15));
    s12 = add(s12, i32x4.splat(4));
    data += strideBytes;
  } while (data < end);
}

/** XORs four words of the key stream into each of four blocks. */
@inline
function xorTransposed(data: usize, a: v128, b: v128, c: v128, d: v128): void {
  xorInto(data, column0(a, b, c, d));
  xorInto(data + 64, column1(a, b, c, d));
  xorInto(data + 128, column2(a, b, c, d));
  xorInto(data + 192, column3(a, b, c, d));
}

@inline
function xorInto(data: usize, words: v128): void {
  v128.store(data, xor(v128.load(data), words));
}
