/** Fewer characters are refused. */
export const leastCharacters = 8;
export const mostCharacters = 1_000;

export type Strength = 'short' | 'weak' | 'fair' | 'strong';

const strongBits = 75;
const fairBits = 50;
const pools: readonly [RegExp, number][] = [
  [/\p{Ll}/u, 26],
  [/\p{Lu}/u, 26],
  [/\p{Nd}/u, 10],
  [/[^\p{Ll}\p{Lu}\p{Nd}]/u, 20],
];

/**
 * A hint from the length and the variety of the characters. It does not know words, so it cannot call a passphrase safe:
 * it can only call one unsafe.
 */
export function strengthOf(passphrase: string): Strength {
  const characters = [...passphrase];
  if (characters.length < leastCharacters) return 'short';
  const pool = pools.reduce((sum, [type, size]) => sum + (type.test(passphrase) ? size : 0), 0);
  const isExpected = (character: string, i: number) => {
    const step = character.codePointAt(0)! - (characters[i - 1]?.codePointAt(0) ?? 0);
    return Math.abs(step) <= 1;
  };
  const surprising = characters.filter((character, i) => !isExpected(character, i)).length;
  const counted = Math.min(surprising, 2 * new Set(characters).size);
  const bits = counted * Math.log2(pool);
  return bits >= strongBits ? 'strong' : bits >= fairBits ? 'fair' : 'weak';
}

/** Without characters that look alike. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';
const groups = 5;
const groupCharacters = 4;

/** A random passphrase of about 99 bits. */
export function suggestPassphrase(): string {
  return Array.from({ length: groups }, () =>
    Array.from({ length: groupCharacters }, randomCharacter).join(''),
  ).join('-');
}

function randomCharacter(): string {
  const fair = 256 - (256 % alphabet.length);
  for (;;) {
    const [byte] = crypto.getRandomValues(new Uint8Array(1));
    if (byte! < fair) return alphabet[byte! % alphabet.length]!;
  }
}
