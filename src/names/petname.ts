/** The most UTF-16 units of a name. */
export const mostNameCharacters = 100;

/**
 * Scripts that are read together. All letters of a name belong to one group. Of Latin, Greek and Cyrillic, names have the
 * blocks with the letters of alphabets. Other blocks have letters of phonetics, many of which are copies of others.
 */
const scripts = [
  /^(?:(?=[A-Za-z\u00c0-\u01bf\u01c4-\u02af\u1e00-\u1eff])\p{Script=Latin}|\p{Script=Inherited})*$/u,
  /^(?:(?=[\u0370-\u03ff\u1f00-\u1fff])\p{Script=Greek}|\p{Script=Inherited})*$/u,
  /^(?:(?=[\u0400-\u052f])\p{Script=Cyrillic}|\p{Script=Inherited})*$/u,
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

/** Letters that look like others in common fonts, as small letters without marks. */
const alike = tableOf({
  // The letters of the alphabet that most names use come first, then those that look like them.
  a: 'аαɑ',
  b: 'вβьъƀɓƃƅ',
  c: 'сϲҫƈȼɕ',
  d: 'ԁđðɖɗƌȡ',
  e: 'еєεҽҿɇɘɛ',
  f: 'ƒғ',
  g: 'ɡցǥɠ',
  h: 'һհħнңҥӈӊɦ',
  j: 'јϳɉɟʝ',
  k: 'кκқҝҟҡӄƙĸ',
  l: '1iіıιӏłאɩɪƚɨɫɬɭȴ',
  m: 'мӎɱ',
  n: 'ηոпŋƞȵɲɳ',
  o: '0оοօøσөɵ',
  p: 'рρþƥҏ',
  q: 'ԛզɋ',
  r: 'гґɍɼɽɾ',
  s: '5ѕȿʂ',
  t: 'тτŧҭƫƭʈȶ',
  u: 'υսμʉʋ',
  v: 'νѵ',
  w: 'ԝωшщѡ',
  x: 'хχҳӽӿ',
  y: 'уγүұƴɏʏ',
  z: '2ƶȥɀʐʑ',
  3: 'зӡʒɜɝȝ',
  4: 'ч',
  6: 'б',
});

/** Capital letters that look like another letter than their small letters do. */
const alikeCapitals = tableOf({ h: 'ΗҢ', k: 'Ҡ', m: 'Μ', n: 'Ν', y: 'Υ', z: 'Ζ' });

function tableOf(letters: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(letters).flatMap(([letter, others]) =>
      Array.from(others, (other) => [other, letter] as const),
    ),
  );
}

/**
 * Two names look alike if one of their skeletons is equal: they differ only in case, marks, separators, or in letters and
 * digits that common fonts draw almost alike.
 * @returns the name as it is drawn, and if that differs, as its small letters are drawn.
 */
export function skeletonsOf(name: string): readonly string[] {
  const letters = name.normalize('NFKD').replace(/[\p{M}._-]/gu, '');
  const drawn = Array.from(letters, (letter) => alikeCapitals.get(letter) ?? letter).join('');
  return [...new Set([drawn, letters].map(skeletonOf))];
}

function skeletonOf(letters: string): string {
  return Array.from(letters.toLowerCase(), (letter) => alike.get(letter) ?? letter)
    .join('')
    .replace(/rn/g, 'm')
    .replace(/vv/g, 'w');
}

/** Returns the first of the given names that looks like this name and differs from it. */
export function lookAlike(name: string, names: Iterable<string>): string | undefined {
  const skeletons = skeletonsOf(name);
  for (const other of names) {
    if (other !== name && skeletonsOf(other).some((each) => skeletons.includes(each))) return other;
  }
  return undefined;
}
