/** The licences of crates, the preferred ones first. The first one has the same text in all crates. */
const preferred = [
  'Apache-2.0',
  'Apache-2.0 WITH LLVM-exception',
  'MIT',
  'MIT-0',
  'BSD-1-Clause',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'Zlib',
  '0BSD',
  'BSL-1.0',
  'CC0-1.0',
  'CDLA-Permissive-2.0',
  'Unicode-3.0',
  'Unlicense',
  'MPL-2.0',
];

/**
 * Chooses one of the alternatives of an SPDX expression.
 * @param {unknown} expression also in the old form `MIT/Apache-2.0`.
 * @returns {string[] | undefined} all licences of the best alternative. Undefined if a licence of each alternative is
 *   not on the list, or the expression is invalid.
 */
export function chooseLicences(expression) {
  if (typeof expression !== 'string') return undefined;
  const tokens = expression.replaceAll('/', ' OR ').match(/[()]|[^\s()]+/g) ?? [];
  const alternatives = anyOf(tokens);
  if (!alternatives || tokens.length > 0) return undefined;
  const known = alternatives.filter((licences) => licences.every((licence) => preferred.includes(licence)));
  const rank = (licences) => licences.reduce((sum, licence) => sum + preferred.indexOf(licence), 0);
  return known.toSorted((a, b) => rank(a) - rank(b) || a.length - b.length)[0];
}

/** Each of these three removes its tokens, and returns the alternatives. Undefined for an invalid expression. */
function anyOf(tokens) {
  const alternatives = allOf(tokens);
  while (alternatives && tokens[0] === 'OR') {
    tokens.shift();
    const next = allOf(tokens);
    if (!next) return undefined;
    alternatives.push(...next);
  }
  return alternatives;
}

/** `AND` binds more strongly than `OR`. */
function allOf(tokens) {
  let alternatives = oneLicence(tokens);
  while (alternatives && tokens[0] === 'AND') {
    tokens.shift();
    const next = oneLicence(tokens);
    if (!next) return undefined;
    alternatives = alternatives.flatMap((a) => next.map((b) => [...new Set([...a, ...b])]));
  }
  return alternatives;
}

function oneLicence(tokens) {
  const token = tokens.shift();
  if (token === '(') {
    const alternatives = anyOf(tokens);
    return tokens.shift() === ')' ? alternatives : undefined;
  }
  if (token === undefined || [')', 'AND', 'OR', 'WITH'].includes(token)) return undefined;
  if (tokens[0] !== 'WITH') return [[token]];
  const [, exception] = tokens.splice(0, 2);
  return exception === undefined ? undefined : [[`${token} WITH ${exception}`]];
}
