import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Glob } from '../../src/content/glob.ts';

interface Recorded {
  texts: string[];
  patterns: { pattern: string; matches: string[] | null }[];
}

const recorded: Recorded = JSON.parse(
  readFileSync(new URL('../fixtures/globset/matches.json', import.meta.url), 'utf8'),
);
const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text);
/** globset takes `?` and classes for one byte, which no author of a route with an “é” can have meant. */
const texts = (pattern: string) => (/[?[]/.test(pattern) ? recorded.texts.filter(isAscii) : recorded.texts);
const comparable = recorded.patterns.filter(({ pattern }) => !/[?[]/.test(pattern) || isAscii(pattern));

describe('a glob', () => {
  it.each(comparable.filter(({ matches }) => matches !== null))(
    'matches the same paths as crate globset: $pattern',
    ({ pattern, matches }) => {
      const glob = Glob.parse(pattern)!;
      expect(texts(pattern).filter((text) => glob.matches(text))).toEqual(
        matches!.filter((text) => texts(pattern).includes(text)),
      );
    },
  );

  it.each(comparable.filter(({ matches }) => matches === null))(
    'is refused where crate globset refuses it: $pattern',
    ({ pattern }) => {
      expect(Glob.parse(pattern)).toBeUndefined();
    },
  );

  it.each([
    ['?', 'é'],
    ['?', '😀'],
    ['[à-ü]', 'é'],
    ['[😀-😅]', '😂'],
    ['[!a]*', 'été'],
  ])('counts in characters, not in bytes or halves of characters: %s matches %s', (pattern, text) => {
    expect(Glob.parse(pattern)!.matches(text)).toBe(true);
    expect(Glob.parse(pattern)!.matches(`${text}/z`)).toBe(pattern.endsWith('*'));
  });

  it('matches every text that is spelt like it when all is escaped', () => {
    const anyText = fc.string({ unit: fc.constantFrom(...'ab*?[]{},\\/-!é') });
    fc.assert(
      fc.property(anyText, anyText, (text, other) => {
        const escaped = Glob.parse([...text].map((character) => `\\${character}`).join(''))!;
        expect(escaped.matches(text)).toBe(true);
        expect(escaped.matches(other)).toBe(other === text);
      }),
    );
  });

  it('never throws, for any pattern', () => {
    const pattern = fc.string({ unit: fc.constantFrom(...'ab*?[]{},\\/-!') });
    fc.assert(fc.property(pattern, fc.string(), (glob, text) => void Glob.parse(glob)?.matches(text)));
  });

  it.each([
    ['stars', '*a'.repeat(500)],
    ['double stars', `${'**/a'.repeat(250)}`],
    ['alternatives of stars', '{*a,*a}'.repeat(140)],
    ['nested alternatives', `${'{a,'.repeat(15)}b${'}'.repeat(15)}`.repeat(10)],
  ])('made of many %s still takes time in proportion to its length and the text', (_, pattern) => {
    const glob = Glob.parse(pattern)!;
    const startedAt = performance.now();
    expect(glob.matches(`${'a/'.repeat(1000)}c`)).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('nested deeper than any site needs is refused instead of exhausting the stack', () => {
    expect(Glob.parse(`${'{a,'.repeat(100_000)}b${'}'.repeat(100_000)}`)).toBeUndefined();
  });
});
