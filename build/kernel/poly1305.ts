import { type Code, doWhile, type Func, get, i32, i64, Locals, set } from './assembler.ts';

const limbBits = 26;
const limb = i64.const((1n << BigInt(limbBits)) - 1n);
const indices = [0, 1, 2, 3, 4];

/**
 * `poly1305(data, end, state)` adds whole blocks of 16 bytes to an authenticator (RFC 8439). `state` points
 * to ten 64-bit words of 26 bits each: five words of the sum so far, then five words of the multiplier. The
 * sum is stored without a complete carry.
 */
export function poly1305(): Func {
  const locals = new Locals(3);
  const [data, end, state] = [0, 1, 2] as const;
  const sum = locals.many('i64', 5);
  const factor = locals.many('i64', 5);
  /**
   * Five times the multiplier. Bits above 130 are multiplied by 5 and added at the bottom, because 2^130 ≡ 5
   * modulo the prime 2^130 − 5.
   */
  const factor5 = locals.many('i64', 5);
  const product = locals.many('i64', 5);
  const [low, high] = locals.many('i64', 2) as [number, number];

  const masked = (value: Code): Code => i64.and(value, limb);
  const parts: Code[] = [
    masked(get(low)),
    masked(i64.shiftRight(get(low), 26)),
    masked(i64.or(i64.shiftRight(get(low), 52), i64.shiftLeft(get(high), 12))),
    masked(i64.shiftRight(get(high), 14)),
    i64.or(i64.shiftRight(get(high), 40), i64.const(1n << 24n)),
  ];
  const column = (i: number): Code =>
    indices
      .map((j) => i64.mul(get(sum[j]!), get(j <= i ? factor[i - j]! : factor5[i - j + 5]!)))
      .reduce((total, each) => i64.add(total, each));
  const carry = (from: number, into: number, times = 1n): Code => {
    const over = i64.shiftRight(get(product[from]!), limbBits);
    return [
      set(
        product[into]!,
        i64.add(get(product[into]!), times === 1n ? over : i64.mul(over, i64.const(times))),
      ),
      set(product[from]!, masked(get(product[from]!))),
    ];
  };

  const body: Code = [
    indices.map((i) => set(sum[i]!, i64.load(get(state), 8 * i))),
    indices.map((i) => set(factor[i]!, i64.load(get(state), 40 + 8 * i))),
    indices.map((i) => set(factor5[i]!, i64.mul(get(factor[i]!), i64.const(5n)))),
    doWhile(
      [
        set(low, i64.load(get(data))),
        set(high, i64.load(get(data), 8)),
        indices.map((i) => set(sum[i]!, i64.add(get(sum[i]!), parts[i]!))),
        indices.map((i) => set(product[i]!, column(i))),
        carry(0, 1),
        carry(1, 2),
        carry(2, 3),
        carry(3, 4),
        carry(4, 0, 5n),
        carry(0, 1),
        indices.map((i) => set(sum[i]!, get(product[i]!))),
        set(data, i32.add(get(data), i32.const(16))),
      ],
      i32.isLess(get(data), get(end)),
    ),
    indices.map((i) => i64.store(get(state), get(sum[i]!), 8 * i)),
  ];
  return { name: 'poly1305', locals, body };
}
