import { doWhile, type Func, get, i32, Locals, set, v128 } from './assembler.ts';

/** Four pads of 52 bytes fill a whole number of vectors. */
export const padsBytes = 208;

/**
 * `xor(data, end, pads)` XORs the `padsBytes` bytes at `pads` into the bytes from `data` to `end`. Always
 * processes `padsBytes` bytes at a time, so it can overwrite bytes behind `end`.
 */
export function xor(): Func {
  const [data, end, pads] = [0, 1, 2] as const;
  const locals = new Locals(3);
  const positions = Array.from({ length: padsBytes / 16 }, (_, i) => 16 * i);
  const words = positions.map(() => locals.one('v128'));
  const body = [
    positions.map((at, i) => set(words[i]!, v128.load(get(pads), at))),
    doWhile(
      [
        positions.map((at, i) =>
          v128.store(get(data), v128.xor(v128.load(get(data), at), get(words[i]!)), at),
        ),
        set(data, i32.add(get(data), i32.const(padsBytes))),
      ],
      i32.isLess(get(data), get(end)),
    ),
  ];
  return { name: 'xor', locals, body };
}
