import { type Code, doWhile, type Func, get, i32, Locals, set, transpose, v128 } from './assembler.ts';
import { quarters } from './quarters.ts';

/** The initial chaining value of BLAKE3. */
const initialWords = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];

/** The message schedule: for each word of a round's message, its index in the previous round's message. */
const permutation = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];

const blockBytes = 64;

/**
 * `hash4(input, stride, blocks, lastBytes, flags, firstFlag, lastFlag, counter, step, output)` of BLAKE3.
 * Compresses four inputs, one in each lane. The inputs are at `input`, `input + stride` and so on. Each input
 * has `blocks` blocks, with `lastBytes` bytes in the last block. The counters are `counter`, `counter + step`
 * and so on. Writes the four chaining values one after the other to `output`.
 */
export function hash4(): Func {
  const [input, stride, blocks, lastBytes, flags] = [0, 1, 2, 3, 4] as const;
  const [firstFlag, lastFlag, counter, step, output] = [5, 6, 7, 8, 9] as const;
  const locals = new Locals(10);
  const state = locals.many('v128', 16);
  const chaining = locals.many('v128', 8);
  const message = locals.many('v128', 16);
  const scratch = locals.many('v128', 4);
  const counters = locals.one('v128');
  const blockFlags = locals.one('i32');
  const address = locals.one('i32');

  const initial = (i: number) => v128.splat(i32.const(initialWords[i]!));
  const isLast = i32.equal(get(blocks), i32.const(1));
  const compress: Code = [
    loadMessage(),
    chaining.map((word, i) => set(state[i]!, get(word))),
    [0, 1, 2, 3].map((i) => set(state[8 + i]!, initial(i))),
    set(state[12]!, get(counters)),
    set(state[13]!, v128.const([0, 0, 0, 0])),
    set(state[14]!, v128.splat(i32.select(isLast, get(lastBytes), i32.const(blockBytes)))),
    set(state[15]!, v128.splat(i32.or(get(blockFlags), i32.select(isLast, get(lastFlag), i32.const(0))))),
    rounds(),
    chaining.map((word, i) => set(word, v128.xor(get(state[i]!), get(state[8 + i]!)))),
  ];
  const body: Code = [
    chaining.map((word, i) => set(word, initial(i))),
    set(
      counters,
      v128.add(v128.splat(get(counter)), v128.mul(v128.splat(get(step)), v128.const([0, 1, 2, 3]))),
    ),
    set(blockFlags, i32.or(get(flags), get(firstFlag))),
    doWhile(
      [
        compress,
        set(blockFlags, get(flags)),
        set(input, i32.add(get(input), i32.const(blockBytes))),
        set(blocks, i32.sub(get(blocks), i32.const(1))),
      ],
      get(blocks),
    ),
    [0, 4].map((first) => {
      const words = chaining.slice(first, first + 4);
      return [
        transpose(words, scratch),
        words.map((word, lane) => v128.store(get(output), get(word), 32 * lane + 4 * first)),
      ];
    }),
  ];
  return { name: 'hash4', locals, body };

  function loadMessage(): Code {
    return [
      set(address, get(input)),
      [0, 1, 2, 3].map((lane) => [
        [0, 4, 8, 12].map((word) => set(message[word + lane]!, v128.load(get(address), 4 * word))),
        set(address, i32.add(get(address), get(stride))),
      ]),
      [0, 4, 8, 12].map((word) => transpose(message.slice(word, word + 4), scratch)),
    ];
  }

  function rounds(): Code {
    const code: Code[] = [];
    let words = message;
    for (let round = 0; round < 7; round++) {
      const turn = words;
      code.push(
        quarters.map((quarter, i) => [
          mix(quarter, turn[2 * i]!, [16, 12]),
          mix(quarter, turn[2 * i + 1]!, [8, 7]),
        ]),
      );
      words = permutation.map((from) => turn[from]!);
    }
    return code;
  }

  function mix(
    quarter: (typeof quarters)[number],
    word: number,
    [first, second]: readonly [number, number],
  ): Code {
    const [a, b, c, d] = quarter.map((i) => state[i]!) as [number, number, number, number];
    return [
      set(a, v128.add(v128.add(get(a), get(b)), get(word))),
      set(d, v128.rotate(v128.xor(get(d), get(a)), first, scratch[0]!)),
      set(c, v128.add(get(c), get(d))),
      set(b, v128.rotate(v128.xor(get(b), get(c)), second, scratch[0]!)),
    ];
  }
}
