const limbBits: u64 = 26;
const limb: u64 = (1 << limbBits) - 1;

/**
 * Adds whole blocks of 16 bytes to a Poly1305 authenticator (RFC 8439, section 2.5). `state` points to ten 64-bit words
 * of 26 bits each: the accumulator, without a complete carry, and then the multiplier r.
 */
export function poly1305(data: usize, end: usize, state: usize): void {
  let a0 = load<u64>(state), a1 = load<u64>(state, 8), a2 = load<u64>(state, 16);
  let a3 = load<u64>(state, 24), a4 = load<u64>(state, 32);
  const r0 = load<u64>(state, 40), r1 = load<u64>(state, 48), r2 = load<u64>(state, 56);
  const r3 = load<u64>(state, 64), r4 = load<u64>(state, 72);
  // Bits above 130 are multiplied by 5 and added at the bottom, because 2^130 ≡ 5 modulo the prime 2^130 − 5.
  const s1 = 5 * r1, s2 = 5 * r2, s3 = 5 * r3, s4 = 5 * r4;
  do {
    // The block as a number, with a bit above its 128 bits.
    const low = load<u64>(data), high = load<u64>(data, 8);
    a0 += low & limb;
    a1 += (low >> 26) & limb;
    a2 += ((low >> 52) | (high << 12)) & limb;
    a3 += (high >> 14) & limb;
    a4 += (high >> 40) | (1 << 24);
    // The product. No sum exceeds 64 bits.
    let p0 = a0 * r0 + a1 * s4 + a2 * s3 + a3 * s2 + a4 * s1;
    let p1 = a0 * r1 + a1 * r0 + a2 * s4 + a3 * s3 + a4 * s2;
    let p2 = a0 * r2 + a1 * r1 + a2 * r0 + a3 * s4 + a4 * s3;
    let p3 = a0 * r3 + a1 * r2 + a2 * r1 + a3 * r0 + a4 * s4;
    let p4 = a0 * r4 + a1 * r3 + a2 * r2 + a3 * r1 + a4 * r0;
    p1 += p0 >> limbBits;
    p2 += p1 >> limbBits;
    p3 += p2 >> limbBits;
    p4 += p3 >> limbBits;
    a0 = (p0 & limb) + 5 * (p4 >> limbBits);
    a1 = (p1 & limb) + (a0 >> limbBits);
    a0 &= limb;
    a2 = p2 & limb;
    a3 = p3 & limb;
    a4 = p4 & limb;
    data += 16;
  } while (data < end);
  store<u64>(state, a0);
  store<u64>(state, a1, 8);
  store<u64>(state, a2, 16);
  store<u64>(state, a3, 24);
  store<u64>(state, a4, 32);
}
