import { type Code, doWhile, type Func, get, i32, Locals, set, tee, transpose, v128 } from './assembler.ts';
import { quarters } from './quarters.ts';

/** The words of "expand 32-byte k". */
const constants = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574];

/** Bytes that one step of `chacha20` processes: four blocks, one in each lane. */
export const strideBytes = 256;

/**
 * `chacha20(data, end, secret, counter)` of RFC 8439. XORs the key stream into the bytes from `data` to
 * `end`. Always processes `strideBytes` at a time, so it can overwrite bytes behind `end`. `secret` points to
 * the 32 bytes of the key and the 12 bytes of the nonce. `counter` is the counter of the first block.
 */
export function chacha20(): Func {
  const [data, end, secret, counter] = [0, 1, 2, 3] as const;
  const locals = new Locals(4);
  const state = locals.many('v128', 16);
  const scratch = locals.many('v128', 4);
  const turns = locals.one('i32');

  const initial = (i: number): Code => {
    if (i < 4) return v128.splat(i32.const(constants[i]!));
    if (i < 12) return v128.loadSplat(get(secret), 4 * (i - 4));
    if (i > 12) return v128.loadSplat(get(secret), 32 + 4 * (i - 13));
    return v128.add(v128.splat(get(counter)), v128.const([0, 1, 2, 3]));
  };
  const step = (x: number, y: number, z: number, bits: number): Code => [
    set(x, v128.add(get(x), get(y))),
    set(z, v128.rotate(v128.xor(get(z), get(x)), 32 - bits, scratch[0]!)),
  ];
  const quarterRound = (quarter: (typeof quarters)[number]): Code => {
    const [a, b, c, d] = quarter.map((i) => state[i]!) as [number, number, number, number];
    return [step(a, b, d, 16), step(c, d, b, 12), step(a, b, d, 8), step(c, d, b, 7)];
  };

  const body = doWhile(
    [
      state.map((word, i) => set(word, initial(i))),
      set(turns, i32.const(10)),
      doWhile(quarters.map(quarterRound), tee(turns, i32.sub(get(turns), i32.const(1)))),
      state.map((word, i) => set(word, v128.add(get(word), initial(i)))),
      [0, 4, 8, 12].map((first) => {
        const words = state.slice(first, first + 4);
        return [
          transpose(words, scratch),
          words.map((word, block) => {
            const at = 64 * block + 4 * first;
            return v128.store(get(data), v128.xor(v128.load(get(data), at), get(word)), at);
          }),
        ];
      }),
      set(counter, i32.add(get(counter), i32.const(4))),
      set(data, i32.add(get(data), i32.const(strideBytes))),
    ],
    i32.isLess(get(data), get(end)),
  );
  return { name: 'chacha20', locals, body };
}
