const maxNesting = 16;

/**
 * A glob as AntTP's routes use them (crate `globset`, its defaults): `*` any run of characters, slashes too; `**`
 * between slashes any run of folders, or none; `?` one character; `[a-z]`, `[!a]` classes; `{a,b}` alternatives; `\`
 * takes the next character literally.
 *
 * Security: patterns come from untrusted archives. Matching takes time proportional to pattern × text; a regular
 * expression built from an untrusted pattern could run for ever.
 */
export class Glob {
  readonly #program: readonly Step[];

  private constructor(program: readonly Step[]) {
    this.#program = program;
  }

  /** @returns undefined for an invalid pattern: an unclosed class or brace, or a `\` at the end. */
  static parse(pattern: string): Glob | undefined {
    const parts = new Parser(pattern).parse();
    if (!parts) return undefined;
    const program: Step[] = [];
    emit(parts, program);
    return new Glob(program);
  }

  matches(text: string): boolean {
    // For each step, the position at which it was last entered: cheaper than a set per character.
    const entered = new Int32Array(this.#program.length + 1).fill(-1);
    let active: number[] = [];
    let position = 0;
    this.#enter(0, position, entered, active);
    for (const character of text) {
      const code = character.codePointAt(0)!;
      const next: number[] = [];
      position++;
      for (const at of active) {
        const step = this.#program[at];
        if (typeof step === 'function' && step(code)) this.#enter(at + 1, position, entered, next);
      }
      if (next.length === 0) return false;
      active = next;
    }
    return entered[this.#program.length] === position;
  }

  /** Adds a step and all steps that are reachable from it without consuming a character. */
  #enter(first: number, position: number, entered: Int32Array, active: number[]): void {
    const todo: number[] = [];
    for (let at: number | undefined = first; at !== undefined; at = todo.pop()) {
      if (entered[at] === position) continue;
      entered[at] = position;
      const step = this.#program[at];
      if (typeof step === 'object') todo.push(...step);
      else active.push(at);
    }
  }
}

/** A test consumes one character and continues at the next step. A list continues at several steps at once. */
type Step = Test | number[];
type Test = (code: number) => boolean;

type Part = Test | 'run' | Part[][];

const anyCharacter: Test = () => true;
const isSlash = literal('/');

function literal(character: string): Test {
  const wanted = character.codePointAt(0)!;
  return (code) => code === wanted;
}

function emit(parts: readonly Part[], program: Step[]): void {
  for (const part of parts) {
    const start = program.length;
    if (typeof part === 'function') program.push(part);
    else if (part === 'run') program.push([start + 1, start + 3], anyCharacter, [start]);
    else emitChoices(part, program);
  }
}

function emitChoices(choices: readonly Part[][], program: Step[]): void {
  const starts: number[] = [];
  const ends: number[][] = [];
  program.push(starts);
  for (const choice of choices) {
    starts.push(program.length);
    emit(choice, program);
    const end: number[] = [];
    ends.push(end);
    program.push(end);
  }
  for (const end of ends) end.push(program.length);
}

class Parser {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(pattern: string) {
    this.#characters = [...pattern];
  }

  parse(): Part[] | undefined {
    const choices = this.#choices(0);
    return choices && this.#at === this.#characters.length ? choices[0] : undefined;
  }

  /** Parses braces up to the closing one; at the outermost level, the whole pattern. */
  #choices(nesting: number): Part[][] | undefined {
    if (nesting > maxNesting) return undefined;
    const choices: Part[][] = [];
    let parts: Part[] = [];
    for (;;) {
      const character = this.#characters[this.#at++];
      if (character === undefined || (character === '}' && nesting > 0)) {
        if ((character === undefined) !== (nesting === 0)) return undefined;
        choices.push(parts);
        if (character === undefined) this.#at--;
        return choices;
      }
      if (character === ',' && nesting > 0) {
        choices.push(parts);
        parts = [];
      } else if (!this.#part(character, parts, nesting)) {
        return undefined;
      }
    }
  }

  /** Parses the part that begins with `character`. @returns false if the pattern is invalid. */
  #part(character: string, parts: Part[], nesting: number): boolean {
    switch (character) {
      case '*':
        this.#stars(parts, nesting);
        return true;
      case '?':
        parts.push(anyCharacter);
        return true;
      case '[':
        return this.#class(parts);
      case '{': {
        // As in globset, empty alternatives are dropped.
        const choices = this.#choices(nesting + 1)?.filter((choice) => choice.length > 0);
        if (choices && choices.length > 0) parts.push(choices);
        return choices !== undefined;
      }
      case '}':
        return false;
      case '\\': {
        const escaped = this.#characters[this.#at++];
        if (escaped !== undefined) parts.push(literal(escaped));
        return escaped !== undefined;
      }
      case '/':
        parts.push(isSlash);
        return true;
      default:
        parts.push(literal(character));
        return true;
    }
  }

  /** One `*` matches any run. `**` between slashes, or between a slash and an end, matches folders. */
  #stars(parts: Part[], nesting: number): void {
    const next = this.#characters[this.#at + 1];
    const isEnd = next === undefined || (nesting > 0 && (next === ',' || next === '}'));
    const isFolders =
      this.#characters[this.#at] === '*' &&
      (parts.length === 0 || parts.at(-1) === isSlash) &&
      (isEnd || next === '/');
    if (!isFolders) {
      if (parts.at(-1) !== 'run') parts.push('run');
      return;
    }
    this.#at += next === '/' ? 2 : 1;
    if (isEnd) parts.push('run');
    // A slash before is a part already: `a/**/b` is `a/`, and then nothing or any run that ends with a slash.
    else parts.push(parts.length === 0 ? [[], [isSlash], ['run', isSlash]] : [[], ['run', isSlash]]);
  }

  #class(parts: Part[]): boolean {
    const isNegated = ['!', '^'].includes(this.#characters[this.#at] ?? '');
    if (isNegated) this.#at++;
    const ranges: [low: number, high: number][] = [];
    let isInRange = false;
    for (let isFirst = true; ; isFirst = false) {
      const character = this.#characters[this.#at++];
      if (character === undefined) return false;
      if (character === ']' && !isFirst) break;
      const code = character.codePointAt(0)!;
      const last = ranges.at(-1);
      if (isInRange && last) {
        if (code < last[0]) return false;
        last[1] = code;
        isInRange = false;
      } else if (character === '-' && !isFirst) {
        isInRange = true;
      } else {
        ranges.push([code, code]);
      }
    }
    if (isInRange) ranges.push([0x2d, 0x2d]);
    parts.push((code) => ranges.some(([low, high]) => code >= low && code <= high) !== isNegated);
    return true;
  }
}
