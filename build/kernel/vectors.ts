@inline
export function add(a: v128, b: v128): v128 {
  return i32x4.add(a, b);
}

@inline
export function xor(a: v128, b: v128): v128 {
  return v128.xor(a, b);
}

@inline
export function rotateRight(words: v128, bits: i32): v128 {
  // A rotation by whole bytes takes one instruction.
  if (bits == 8) return v128.swizzle(words, i8x16(1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12));
  if (bits == 16) return v128.swizzle(words, i8x16(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  if (bits == 24) return v128.swizzle(words, i8x16(3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14));
  return v128.or(i32x4.shr_u(words, bits), i32x4.shl(words, 32 - bits));
}

@inline
export function rotateLeft(words: v128, bits: i32): v128 {
  return rotateRight(words, 32 - bits);
}

// The columns of a matrix of 4 × 4 words with the rows `a`, `b`, `c`, `d`.

@inline
export function column0(a: v128, b: v128, c: v128, d: v128): v128 {
  return v128.shuffle<u64>(v128.shuffle<u32>(a, b, 0, 4, 1, 5), v128.shuffle<u32>(c, d, 0, 4, 1, 5), 0, 2);
}

@inline
export function column1(a: v128, b: v128, c: v128, d: v128): v128 {
  return v128.shuffle<u64>(v128.shuffle<u32>(a, b, 0, 4, 1, 5), v128.shuffle<u32>(c, d, 0, 4, 1, 5), 1, 3);
}

@inline
export function column2(a: v128, b: v128, c: v128, d: v128): v128 {
  return v128.shuffle<u64>(v128.shuffle<u32>(a, b, 2, 6, 3, 7), v128.shuffle<u32>(c, d, 2, 6, 3, 7), 0, 2);
}

@inline
export function column3(a: v128, b: v128, c: v128, d: v128): v128 {
  return v128.shuffle<u64>(v128.shuffle<u32>(a, b, 2, 6, 3, 7), v128.shuffle<u32>(c, d, 2, 6, 3, 7), 1, 3);
}
