import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/limits.ts';
import { encodeNameList, parseNameList } from '../../src/names/name-list.ts';

const a = 'ab'.repeat(32);
const b = 'cd'.repeat(32);
const parse = (value: unknown) =>
  parseNameList(new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value)));
const code = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return (error as { code?: string }).code;
  }
  return undefined;
};

describe('a list of names', () => {
  it('is read as it was written, with the same bytes for the same names', () => {
    const names = { docs: a, größe: b, 'my.blog': a };
    const bytes = encodeNameList({ title: 'Club', names });
    expect(parseNameList(bytes)).toEqual({ title: 'Club', names, left: [] });
    const reversed = Object.fromEntries(Object.entries(names).reverse());
    expect(encodeNameList({ title: 'Club', names: reversed })).toEqual(bytes);
    expect(parse({ antwayNames: 1, names: { docs: a.toUpperCase() } }).names).toEqual({ docs: a });
  });

  it('loses its invalid and confusable names, and keeps the others', () => {
    const names = {
      bank: a,
      Bank: b,
      '\u202egnab': b,
      '<b>': b,
      'x/../y': b,
      __proto__x: b,
      'a@b': b,
      [a]: b,
    };
    const { names: kept, left } = parse({ antwayNames: 1, names });
    expect(kept).toEqual({ bank: a });
    expect(left).toHaveLength(7);
    expect(parse(`{"antwayNames":1,"names":{"__proto__":"${a}","constructor":"${a}"}}`).names).toEqual({});
  });

  it('has a title that is text in one line', () => {
    const title = `<img src=x onerror=alert(1)>\u202e\n${'x'.repeat(1_000)}`;
    const read = parse({ antwayNames: 1, title, names: {} });
    expect(read.title).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(read.title.length).toBeLessThanOrEqual(100);
    expect(read.title.startsWith('<img')).toBe(true);
  });

  it.each<[string, unknown, string]>([
    ['another version', { antwayNames: 2, names: {} }, 'UNSUPPORTED'],
    ['no version', { names: {} }, 'UNSUPPORTED'],
    ['no names', { antwayNames: 1 }, 'UNSUPPORTED'],
    ['an unknown key', { antwayNames: 1, names: {}, lists: {} }, 'UNSUPPORTED'],
    ['names as a list', { antwayNames: 1, names: [a] }, 'UNSUPPORTED'],
    ['an address that is none', { antwayNames: 1, names: { x: 'docs' } }, 'UNSUPPORTED'],
    ['an object as address', { antwayNames: 1, names: { x: { address: a } } }, 'UNSUPPORTED'],
    ['no JSON', '{', 'UNSUPPORTED'],
    ['null', 'null', 'UNSUPPORTED'],
    ['a list of sites', [{ title: 'x', address: a }], 'UNSUPPORTED'],
    ['deep nesting', '['.repeat(30_000), 'UNSUPPORTED'],
    [
      'too many names',
      { antwayNames: 1, names: Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`n${i}`, a])) },
      'TOO_LARGE',
    ],
    ['too many bytes', `${' '.repeat(limits.listBytes)}{}`, 'TOO_LARGE'],
  ])('with %s is refused', (_, value, expected) => {
    expect(code(() => parse(value))).toBe(expected);
  });

  it('in another encoding is refused', () => {
    expect(code(() => parseNameList(Uint8Array.of(0xff, 0xfe, 0x7b)))).toBe('UNSUPPORTED');
  });

  it.each<[string, Record<string, string>, string]>([
    ['an invalid name', { 'a b': a }, 'BAD_CONFIG'],
    ['two names that look alike', { bank: a, Bank: b }, 'BAD_CONFIG'],
    ['too many names', Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`n${i}x`, a])), 'TOO_LARGE'],
  ])('with %s is not written', (_, names, expected) => {
    expect(code(() => encodeNameList({ title: '', names }))).toBe(expected);
  });

  it('never makes the reader fail without a code', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect([undefined, 'UNSUPPORTED', 'TOO_LARGE']).toContain(code(() => parse(text)));
      }),
    );
  });
});
