import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSettings } from '../../src/config.ts';
import { mergeNames } from '../../src/names/name-changes.ts';
import { asName, lookAlike, type NameProblem, nameProblem, skeletonsOf } from '../../src/names/petname.ts';

const a = 'ab'.repeat(32);
const b = 'cd'.repeat(32);

describe('a name', () => {
  it.each([
    'a',
    'home',
    'My.site_2',
    '2048',
    'größe',
    'naïve',
    'Ɛwe-ɔ',
    'Ўзбек',
    'ἀρχή',
    'Việt',
    'Ελλάδα',
    'привет',
    'שלום',
    'مرحبا',
    '日本語テスト',
    '한국어',
    'ไทย',
    'हिन्दी',
    'x'.repeat(100),
  ])('can be %j', (name) => {
    expect(nameProblem(asName(name))).toBeNull();
    expect(parseSettings({ names: { [asName(name)]: a } }).names).toEqual({ [asName(name)]: a });
  });

  it.each<[string, NameProblem]>([
    ['', 'empty'],
    [' \n', 'empty'],
    ['x'.repeat(101), 'long'],
    ['a\u202egnp', 'hidden'],
    ['a\u200bb', 'hidden'],
    ['a\u200db', 'hidden'],
    ['a\u00adb', 'hidden'],
    ['a\u0000b', 'hidden'],
    ['a\u2066b', 'hidden'],
    ['a\ufeffb', 'hidden'],
    ['a\ud800', 'hidden'],
    ['\u3164', 'hidden'],
    ['a b', 'characters'],
    ['a/b', 'characters'],
    ['a@b', 'characters'],
    ['~a', 'characters'],
    ['a:b', 'characters'],
    ['a%20b', 'characters'],
    ['a?b', 'characters'],
    ['a#b', 'characters'],
    ['<b>', 'characters'],
    ['a☂', 'characters'],
    ['a১', 'characters'],
    ['a\u0316\u0317\u0318', 'characters'],
    ['constructor', 'characters'],
    ['__proto__', 'start'],
    ['.a', 'start'],
    ['-a', 'start'],
    ['ａｂｃ', 'form'],
    ['ﬁle', 'form'],
    ['𝐡ome', 'form'],
    ['xⁿ', 'form'],
    ['pаypal', 'scripts'],
    ['ρaypal', 'scripts'],
    ['한カ', 'scripts'],
    ['ꓐank', 'scripts'],
    ['ᎪᏴ', 'scripts'],
    ['ᴘᴀʏᴘᴀʟ', 'scripts'],
    ['ꞵank', 'scripts'],
    ['\u{1df25}ank', 'scripts'],
    ['paypaǀ', 'scripts'],
    ['paypal\ua78f', 'scripts'],
    ['ᲀолк', 'scripts'],
    ['ꙁема', 'scripts'],
    [a, 'address'],
    [`0x${a.slice(2, 40)}`, 'address'],
    [a.slice(0, 16), 'address'],
    ['hhwfqqrq5iurmkhltb5dsuhmj3fhztxwbknnf7xwyk4k555qaaxa', 'address'],
  ])('cannot be %j: %s', (text, problem) => {
    expect(nameProblem(asName(text))).toBe(problem);
  });

  it('that passes is one path segment, in its usual form, and a name for the gateway', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 8 }), (text) => {
        const name = asName(text);
        if (nameProblem(name)) return;
        expect(name).not.toMatch(/[\s/\\?#%@~:\p{Cc}\p{Cf}]/u);
        expect(asName(name)).toBe(name);
        expect(new URL(`/~${name}/x`, 'https://a.example').pathname).toBe(`/~${encodeURIComponent(name)}/x`);
        expect(parseSettings({ names: { [name]: a } }).names).toEqual({ [name]: a });
      }),
      { numRuns: 300 },
    );
  });
});

describe('two names look alike', () => {
  it.each([
    ['home', 'Home'],
    ['home', 'h0me'],
    ['paypal', 'paypa1'],
    ['paypal', 'PAYPAI'],
    ['раураl', 'paypal'],
    ['αlpha', 'alpha'],
    ['modern', 'modem'],
    ['web', 'vveb'],
    ['low-tide', 'low_tide'],
    ['low-tide', 'lowtide'],
    ['muller', 'müller'],
    ['сосо', 'coco'],
    ['ΗΟΜΕ', 'home'],
    ['Ηοορ', 'Hoop'],
    ['ΝΟΥΖ', 'noyz'],
    ['Νέα', 'νέα'],
    ['ʏahoo', 'yahoo'],
    ['ƀank', 'bank'],
    ['ԝеЬ', 'web'],
    ['қот', 'KOT'],
  ])('%j and %j', (one, other) => {
    expect(lookAlike(one, ['x', other])).toBe(other);
    expect(lookAlike(other, [one])).toBe(one);
  });

  it.each([
    ['home', 'homes'],
    ['bank', 'tank'],
    ['site1', 'site2'],
    ['a', 'b'],
  ])('but not %j and %j', (one, other) => {
    expect(lookAlike(one, [other])).toBeUndefined();
    expect(skeletonsOf(one)).not.toContainEqual(expect.toBeOneOf([...skeletonsOf(other)]));
  });
});

describe('names that a file brings', () => {
  it('change none of the user’s, and never look like another', () => {
    const { names, left } = mergeNames(
      { bank: a },
      { bank: b, Bank: b, fresh: b, 'fr-esh': a, '\u202ex': a },
    );
    expect(names).toEqual({ bank: a, fresh: b });
    expect(left.map(({ name }) => name)).toEqual(['bank', 'Bank', 'fr-esh', '\u202ex']);
    expect(mergeNames({ bank: a }, { bank: a.toUpperCase() })).toEqual({ names: { bank: a }, left: [] });
  });

  it('are merged in time that grows with their number', () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`name-x${i}x`, a]));
    expect(Object.keys(mergeNames({}, many).names).length).toBeGreaterThan(3_000);
  });
});
