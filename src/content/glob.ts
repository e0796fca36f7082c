/**
 * Whether `text` matches a glob as AntTP's routes use them (crate `globset`, its defaults): `*` any run of
 * characters, slashes too; `?` one character; `[a-z]`, `[!a]` classes; `{a,b}` alternatives; `\` takes the next
 * character literally.
 *
 * Takes time proportional to pattern × text: patterns come from untrusted archives, and a regular expression
 * made from one can be made to run for ever.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  return expandBraces(pattern).some((alternative) => matchesTokens(tokenise(alternative), text));
}

type Token = 'run' | ((character: string) => boolean);

/** Most alternatives that one pattern may stand for. */
const maxAlternatives = 256;

function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const todo = [pattern];
  while (todo.length > 0 && done.length + todo.length <= maxAlternatives) {
    const next = todo.pop()!;
    const braces = /^((?:[^{}\\]|\\.)*)\{((?:[^{}\\]|\\.)*)\}(.*)$/s.exec(next);
    if (!braces) done.push(next);
    else for (const choice of braces[2]!.split(',')) todo.push(braces[1]! + choice + braces[3]!);
  }
  return done;
}

function tokenise(pattern: string): Token[] {
  const tokens: Token[] = [];
  const characters = [...pattern];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i]!;
    const close = character === '[' ? characters.indexOf(']', i + 2) : -1;
    if (character === '*') {
      if (tokens.at(-1) !== 'run') tokens.push('run');
    } else if (character === '?') {
      tokens.push(() => true);
    } else if (close > 0) {
      tokens.push(characterClass(characters.slice(i + 1, close)));
      i = close;
    } else {
      const literal = character === '\\' && i + 1 < characters.length ? characters[++i]! : character;
      tokens.push((other) => other === literal);
    }
  }
  return tokens;
}

function characterClass(members: string[]): Token {
  const isNegated = members[0] === '!' || members[0] === '^';
  if (isNegated) members.shift();
  const ranges: [string, string][] = [];
  for (let i = 0; i < members.length; i++) {
    const isRange = members[i + 1] === '-' && i + 2 < members.length;
    ranges.push([members[i]!, isRange ? members[i + 2]! : members[i]!]);
    if (isRange) i += 2;
  }
  return (character) => ranges.some(([low, high]) => character >= low && character <= high) !== isNegated;
}

/** Greedy matching with one point of return, the last run: enough for globs, and never exponential. */
function matchesTokens(tokens: readonly Token[], text: string): boolean {
  const characters = [...text];
  let token = 0;
  let at = 0;
  let run = -1;
  let runAt = 0;
  while (at < characters.length) {
    const current = tokens[token];
    if (current === 'run') {
      run = token++;
      runAt = at;
    } else if (current?.(characters[at]!)) {
      token++;
      at++;
    } else if (run >= 0) {
      token = run + 1;
      at = ++runAt;
    } else {
      return false;
    }
  }
  while (tokens[token] === 'run') token++;
  return token === tokens.length;
}
