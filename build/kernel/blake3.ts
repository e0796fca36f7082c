import { add, column0, column1, column2, column3, rotateRight, xor } from './vectors';

const blockBytes: usize = 64;

/** The initial chaining value of BLAKE3. */
const iv0: i32 = 0x6a09e667;
const iv1: i32 = 0xbb67ae85;
const iv2: i32 = 0x3c6ef372;
const iv3: i32 = 0xa54ff53a;
const iv4: i32 = 0x510e527f;
const iv5: i32 = 0x9b05688c;
const iv6: i32 = 0x1f83d9ab;
const iv7: i32 = 0x5be0cd19;

/**
 * The words of a block in 32 slots of 16 bytes. The permutation between rounds has two cycles of eight words: 0, 2, 3,
 * 10, 12, 9, 11, 5 and 1, 6, 4, 7, 13, 14, 15, 8. Each cycle is stored twice in a row, from slot 0 and from slot 16, so
 * each round finds its words one slot after those of the previous round.
 */
const message: usize = memory.data(512, 16);
const slotBytes: i32 = 16;
const rounds: i32 = 7;

/**
 * Compresses four inputs, one in each lane (BLAKE3 paper, section 2.2). The inputs are `stride` bytes apart, and have
 * `blocks` blocks each, with `lastBytes` bytes in the last block. Their counters are `step` apart. Writes the four
 * chaining values one after the other to `output`.
 */
export function hash4(
  input: usize,
  stride: usize,
  blocks: u32,
  lastBytes: u32,
  flags: u32,
  firstFlag: u32,
  lastFlag: u32,
  counter: u32,
  step: u32,
  output: usize,
): void {
  let h0 = i32x4.splat(iv0), h1 = i32x4.splat(iv1), h2 = i32x4.splat(iv2), h3 = i32x4.splat(iv3);
  let h4 = i32x4.splat(iv4), h5 = i32x4.splat(iv5), h6 = i32x4.splat(iv6), h7 = i32x4.splat(iv7);
  const counters = add(i32x4.splat(counter), i32x4.mul(i32x4.splat(step), i32x4(0, 1, 2, 3)));
  let blockFlags = flags | firstFlag;
  do {
    loadWords(input, stride, 0, 16, 1, 2);
    loadWords(input + 16, stride, 18, 7, 17, 19);
    loadWords(input + 32, stride, 23, 5, 3, 6);
    loadWords(input + 48, stride, 4, 20, 21, 22);
    const isLast = blocks == 1;
    let x0 = h0, x1 = h1, x2 = h2, x3 = h3, x4 = h4, x5 = h5, x6 = h6, x7 = h7;
    let x8 = i32x4.splat(iv0), x9 = i32x4.splat(iv1), x10 = i32x4.splat(iv2), x11 = i32x4.splat(iv3);
    let x12 = counters, x13 = i32x4.splat(0);
    let x14 = i32x4.splat(isLast ? lastBytes : <u32>blockBytes);
    let x15 = i32x4.splat(isLast ? blockFlags | lastFlag : blockFlags);
    let round = message;
    do {
      // G mixes the columns with words 0 to 7 of the round.
      x0 = add(add(x0, x4), word(round, 0)); x12 = rotateRight(xor(x12, x0), 16); x8 = add(x8, x12); x4 = rotateRight(xor(x4, x8), 12);
      x0 = add(add(x0, x4), word(round, 16)); x12 = rotateRight(xor(x12, x0), 8); x8 = add(x8, x12); x4 = rotateRight(xor(x4, x8), 7);
      x1 = add(add(x1, x5), word(round, 1)); x13 = rotateRight(xor(x13, x1), 16); x9 = add(x9, x13); x5 = rotateRight(xor(x5, x9), 12);
      x1 = add(add(x1, x5), word(round, 2)); x13 = rotateRight(xor(x13, x1), 8); x9 = add(x9, x13); x5 = rotateRight(xor(x5, x9), 7);
      x2 = add(add(x2, x6), word(round, 18)); x14 = rotateRight(xor(x14, x2), 16); x10 = add(x10, x14); x6 = rotateRight(xor(x6, x10), 12);
      x2 = add(add(x2, x6), word(round, 7)); x14 = rotateRight(xor(x14, x2), 8); x10 = add(x10, x14); x6 = rotateRight(xor(x6, x10), 7);
      x3 = add(add(x3, x7), word(round, 17)); x15 = rotateRight(xor(x15, x3), 16); x11 = add(x11, x15); x7 = rotateRight(xor(x7, x11), 12);
      x3 = add(add(x3, x7), word(round, 19)); x15 = rotateRight(xor(x15, x3), 8); x11 = add(x11, x15); x7 = rotateRight(xor(x7, x11), 7);
      // G mixes the diagonals with words 8 to 15.
      x0 = add(add(x0, x5), word(round, 23)); x15 = rotateRight(xor(x15, x0), 16); x10 = add(x10, x15); x5 = rotateRight(xor(x5, x10), 12);
      x0 = add(add(x0, x5), word(round, 5)); x15 = rotateRight(xor(x15, x0), 8); x10 = add(x10, x15); x5 = rotateRight(xor(x5, x10), 7);
      x1 = add(add(x1, x6), word(round, 3)); x12 = rotateRight(xor(x12, x1), 16); x11 = add(x11, x12); x6 = rotateRight(xor(x6, x11), 12);
      x1 = add(add(x1, x6), word(round, 6)); x12 = rotateRight(xor(x12, x1), 8); x11 = add(x11, x12); x6 = rotateRight(xor(x6, x11), 7);
      x2 = add(add(x2, x7), word(round, 4)); x13 = rotateRight(xor(x13, x2), 16); x8 = add(x8, x13); x7 = rotateRight(xor(x7, x8), 12);
      x2 = add(add(x2, x7), word(round, 20)); x13 = rotateRight(xor(x13, x2), 8); x8 = add(x8, x13); x7 = rotateRight(xor(x7, x8), 7);
      x3 = add(add(x3, x4), word(round, 21)); x14 = rotateRight(xor(x14, x3), 16); x9 = add(x9, x14); x4 = rotateRight(xor(x4, x9), 12);
      x3 = add(add(x3, x4), word(round, 22)); x14 = rotateRight(xor(x14, x3), 8); x9 = add(x9, x14); x4 = rotateRight(xor(x4, x9), 7);
      round += slotBytes;
    } while (round < message + rounds * slotBytes);
    h0 = xor(x0, x8); h1 = xor(x1, x9); h2 = xor(x2, x10); h3 = xor(x3, x11);
    h4 = xor(x4, x12); h5 = xor(x5, x13); h6 = xor(x6, x14); h7 = xor(x7, x15);
    blockFlags = flags;
    input += blockBytes;
  } while (--blocks);
  storeTransposed(output, h0, h1, h2, h3);
  storeTransposed(output + 16, h4, h5, h6, h7);
}

@inline
function word(round: usize, slot: i32): v128 {
  return v128.load(round + slot * slotBytes);
}

@inline
function loadWords(from: usize, stride: usize, slot0: i32, slot1: i32, slot2: i32, slot3: i32): void {
  const a = v128.load(from), b = v128.load(from + stride);
  const c = v128.load(from + 2 * stride), d = v128.load(from + 3 * stride);
  place(slot0, column0(a, b, c, d));
  place(slot1, column1(a, b, c, d));
  place(slot2, column2(a, b, c, d));
  place(slot3, column3(a, b, c, d));
}

@inline
function place(slot: i32, words: v128): void {
  v128.store(message + slot * slotBytes, words);
  v128.store(message + (slot + 8) * slotBytes, words);
}

@inline
function storeTransposed(output: usize, a: v128, b: v128, c: v128, d: v128): void {
  v128.store(output, column0(a, b, c, d));
  v128.store(output, column1(a, b, c, d), 32);
  v128.store(output, column2(a, b, c, d), 64);
  v128.store(output, column3(a, b, c, d), 96);
}
