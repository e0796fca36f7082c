/**
 * A small WebAssembly assembler. Each function returns the encoding of the instruction that it is named
 * after.
 */

/** Encoded instructions. The arrays are nested because joining them at every level would take far longer. */
export type Code = readonly (number | Code)[];

/** A local variable or parameter of a function, by its index. */
export type Local = number;

const types = { i32: 0x7f, i64: 0x7e, v128: 0x7b } as const;

/** The local variables of one function. The parameters come first, and all of them are i32. */
export class Locals {
  readonly declared: number[] = [];

  constructor(readonly parameters: number) {}

  one(type: keyof typeof types): Local {
    return this.parameters + this.declared.push(types[type]) - 1;
  }

  many(type: keyof typeof types, count: number): Local[] {
    return Array.from({ length: count }, () => this.one(type));
  }
}

export const get = (local: Local): Code => [0x20, unsigned(local)];
export const set = (local: Local, value: Code): Code => [value, 0x21, unsigned(local)];
/** Sets the local. The value stays on the stack. */
export const tee = (local: Local, value: Code): Code => [value, 0x22, unsigned(local)];

/** Runs `body` at least once, and repeats it while `condition` is not zero. */
export const doWhile = (body: Code, condition: Code): Code => [0x03, 0x40, body, condition, 0x0d, 0, 0x0b];

const binary =
  (opcode: number | Code) =>
  (a: Code, b: Code): Code => [a, b, opcode];

/** The offset is a constant. The alignment hint is 0, so addresses may be unaligned. */
const load =
  (opcode: number | Code) =>
  (address: Code, offset = 0): Code => [address, opcode, 0, unsigned(offset)];

const store =
  (opcode: number | Code) =>
  (address: Code, value: Code, offset = 0): Code => [address, value, opcode, 0, unsigned(offset)];

const simd = (opcode: number): Code => [0xfd, unsigned(opcode)];

export const i32 = {
  const: (value: number): Code => [0x41, signed(BigInt(value | 0))],
  add: binary(0x6a),
  sub: binary(0x6b),
  or: binary(0x72),
  equal: binary(0x46),
  isLess: binary(0x49),
  /** Returns `a` if the condition is not zero, otherwise `b`. */
  select: (condition: Code, a: Code, b: Code): Code => [a, b, condition, 0x1b],
};

export const i64 = {
  const: (value: bigint): Code => [0x42, signed(BigInt.asIntN(64, value))],
  add: binary(0x7c),
  mul: binary(0x7e),
  and: binary(0x83),
  or: binary(0x84),
  shiftLeft: (value: Code, bits: number): Code => [value, i64.const(BigInt(bits)), 0x86],
  shiftRight: (value: Code, bits: number): Code => [value, i64.const(BigInt(bits)), 0x88],
  load: load(0x29),
  store: store(0x37),
};

/** Vectors of four 32-bit words. */
export const v128 = {
  const: (words: readonly number[]): Code => [
    simd(0x0c),
    words.map((word) => [0, 8, 16, 24].map((bits) => (word >>> bits) & 0xff)),
  ],
  load: load(simd(0x00)),
  store: store(simd(0x0b)),
  /** Loads one word from memory into all four lanes. */
  loadSplat: load(simd(0x09)),
  splat: (word: Code): Code => [word, simd(0x11)],
  add: binary(simd(0xae)),
  mul: binary(simd(0xb5)),
  xor: binary(simd(0x51)),
  /** Selects words by number: 0 to 3 are the words of `a`, 4 to 7 are the words of `b`. */
  shuffle: (a: Code, b: Code, words: readonly number[]): Code => [
    a,
    b,
    simd(0x0d),
    words.map((word) => [0, 1, 2, 3].map((byte) => 4 * word + byte)),
  ],
  /** Rotates each word to the right. A rotation by whole bytes takes one instruction, a byte shuffle. */
  rotate(value: Code, bits: number, scratch: Local): Code {
    if (bits % 8 === 0) {
      const from = Array.from({ length: 16 }, (_, i) => (i & 12) | ((i + bits / 8) & 3));
      return [value, simd(0x0c), from, simd(0x0e)];
    }
    return [
      set(scratch, value),
      [get(scratch), i32.const(bits), simd(0xad)],
      [get(scratch), i32.const(32 - bits), simd(0xab)],
      simd(0x50),
    ];
  },
};

/** Transposes a 4 × 4 matrix of words in four vectors. `scratch` names four more vectors. */
export function transpose(rows: readonly Local[], scratch: readonly Local[]): Code {
  const [a, b, c, d] = rows.map(get) as [Code, Code, Code, Code];
  const [p, q, r, s] = scratch.map(get) as [Code, Code, Code, Code];
  return [
    set(scratch[0]!, v128.shuffle(a, b, [0, 4, 1, 5])),
    set(scratch[1]!, v128.shuffle(c, d, [0, 4, 1, 5])),
    set(scratch[2]!, v128.shuffle(a, b, [2, 6, 3, 7])),
    set(scratch[3]!, v128.shuffle(c, d, [2, 6, 3, 7])),
    set(rows[0]!, v128.shuffle(p, q, [0, 1, 4, 5])),
    set(rows[1]!, v128.shuffle(p, q, [2, 3, 6, 7])),
    set(rows[2]!, v128.shuffle(r, s, [0, 1, 4, 5])),
    set(rows[3]!, v128.shuffle(r, s, [2, 3, 6, 7])),
  ];
}

/** A function that returns nothing. */
export interface Func {
  name: string;
  locals: Locals;
  body: Code;
}

const pageBytes = 64 * 1024;

/**
 * Returns a module that exports these functions and a `memory` of `memoryBytes`, rounded up to whole pages.
 */
export function assemble(functions: readonly Func[], memoryBytes: number): Uint8Array<ArrayBuffer> {
  const pages = unsigned(Math.ceil(memoryBytes / pageBytes));
  const typesOf = ({ locals }: Func) => [0x60, list(Array(locals.parameters).fill([types.i32])), 0];
  const codeOf = ({ locals, body }: Func) =>
    sized([list(locals.declared.map((type) => [1, type])), body, 0x0b]);
  return Uint8Array.from(
    flat([
      [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0], // magic number and version
      [1, sized(list(functions.map(typesOf)))],
      [3, sized(list(functions.map((_, i) => unsigned(i))))],
      [5, sized(list([[1, pages, pages]]))],
      [
        7,
        sized(
          list([[text('memory'), 2, 0], ...functions.map(({ name }, i) => [text(name), 0, unsigned(i)])]),
        ),
      ],
      [10, sized(list(functions.map(codeOf)))],
    ]),
  );
}

function flat(code: Code, into: number[] = []): number[] {
  for (const part of code) {
    if (typeof part === 'number') into.push(part);
    else flat(part, into);
  }
  return into;
}

function sized(content: Code): Code {
  const bytes = flat(content);
  return [unsigned(bytes.length), bytes];
}

function list(entries: Code): Code {
  return [unsigned(entries.length), entries];
}

function text(value: string): Code {
  return list([...new TextEncoder().encode(value)]);
}

/** Encodes an unsigned number as LEB128. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, unsigned(value >>> 7)];
}

function signed(value: bigint): Code {
  const low = Number(value & 0x7fn);
  return value >= -64n && value < 64n ? [low] : [low | 0x80, signed(value >> 7n)];
}
