/** The most UTF-16 units of a name. */
export const mostNameCharacters = 100;

/** Scripts that are read together. All letters of a name belong to one group. */
const scripts = [
  /^[\p{Script=Latin}\p{Script=Inherited}]*$/u,
  /^[\p{Script=Greek}\p{Script=Inherited}]*$/u,
  /^[\p{Script=Cyrillic}\p{Script=Inherited}]*$/u,
  /^[\p{Script=Arabic}\p{Script=Inherited}]*$/u,
  /^[\p{Script=Hebrew}\p{Script=Inherited}]*$/u,
  /^[\p{Script_Extensions=Han}\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}]*$/u,
  /^[\p{Script_Extensions=Han}\p{Script_Extensions=Hangul}\p{Script_Extensions=Bopomofo}]*$/u,
];

/** Every other script by itself. */
const others = [
  'Armenian',
  'Bengali',
  'Devanagari',
  'Ethiopic',
  'Georgian',
  'Gujarati',
  'Gurmukhi',
  'Kannada',
  'Khmer',
  'Lao',
  'Malayalam',
  'Myanmar',
  'Sinhala',
  'Tamil',
  'Telugu',
  'Thai',
].map((script) => new RegExp(`^[\\p{Script=${script}}\\p{Script=Inherited}]*$`, 'u'));

const groups = [...scripts, ...others];

/**
 * Why a text is no name.
 *
 * - `hidden`: characters that are invisible or change the direction of the text.
 * - `characters`: others than letters, the digits 0 to 9, dots, dashes and underscores, or three marks on one letter.
 * - `start`: it does not begin with a letter or digit.
 * - `form`: another spelling of the same text is the usual one (Unicode NFKC).
 * - `scripts`: letters of several scripts, or of a script that names do not use.
 * - `address`: it looks like an address.
 */
export type NameProblem =
  | 'empty'
  | 'long'
  | 'hidden'
  | 'characters'
  | 'start'
  | 'form'
  | 'scripts'
  | 'address';

/** The text of a name as it is stored: without spaces around it, and in Unicode NFC. */
export function asName(text: string): string {
  return text.trim().normalize('NFC');
}

/** Checks a text that a name is to be made of. @param name as `asName` returns it. */
export function nameProblem(name: string): NameProblem | null {
  if (name === '') return 'empty';
  if (name.length > mostNameCharacters) return 'long';
  // The format controls contain the marks of direction and the joiners.
  if (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(name)) return 'hidden';
  if (!/^[\p{L}\p{M}0-9._-]*$/u.test(name) || /\p{M}{3}/u.test(name)) return 'characters';
  if (!/^[\p{L}0-9]/u.test(name)) return 'start';
  if (name.normalize('NFKC') !== name) return 'form';
  const letters = name.replace(/[0-9._-]/g, '');
  if (!groups.some((group) => group.test(letters))) return 'scripts';
  // Addresses have 64 hex digits, or 52 characters of base32. Part of one must not pass for a name either.
  if (/^(0x)?[0-9a-f]{16,}$/i.test(name) || /^[a-z2-7]{52}$/i.test(name)) return 'address';
  // Properties of every object are no keys of a JSON object for some programs.
  if (name in {}) return 'characters';
  return null;
}

/** Letters and pairs of letters that look like others in common fonts, as small letters without marks. */
const alike = new Map(
  Object.entries({
    // The letters of the alphabet that most names use come first, then those that look like them.
    a: 'аαɑ',
    b: 'вβ',
    c: 'сϲ',
    d: 'ԁđ',
    e: 'еε',
    g: 'ɡց',
    h: 'һհħн',
    j: 'јϳ',
    k: 'кκ',
    l: '1iіıιӏłא',
    m: 'м',
    n: 'ηոп',
    o: '0оοօøσ',
    p: 'рρ',
    q: 'ԛզ',
    r: 'г',
    s: '5ѕ',
    t: 'тτŧ',
    u: 'υսμ',
    v: 'νѵ',
    w: 'ԝωш',
    x: 'хχ',
    y: 'уγү',
    z: '2ƶ',
  }).flatMap(([letter, others]) => Array.from(others, (other) => [other, letter] as const)),
);

/**
 * Two names with the same result look alike: they differ only in case, marks, separators, or in letters and digits that
 * common fonts draw almost alike.
 */
export function skeletonOf(name: string): string {
  return Array.from(
    name
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[\p{M}._-]/gu, ''),
    (character) => alike.get(character) ?? character,
  )
    .join('')
    .replace(/rn/g, 'm')
    .replace(/vv/g, 'w');
}

/** Returns a name of the given ones that looks like this name and is another one. */
export function lookAlike(name: string, names: Iterable<string>): string | undefined {
  const skeleton = skeletonOf(name);
  for (const other of names) if (other !== name && skeletonOf(other) === skeleton) return other;
  return undefined;
}
