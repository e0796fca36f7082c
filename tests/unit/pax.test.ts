import { describe, expect, it } from 'vitest';
import { encodePax, mostPathBytes, parsePax } from '../../src/archive/pax.ts';
import { limits } from '../../src/limits.ts';

const parse = (text: string) => parsePax(new TextEncoder().encode(text));

describe('pax records', () => {
  it('are read in any number, up to the last byte', () => {
    expect(parse('')).toEqual({});
    expect(parse('9 path=a\n')).toEqual({ path: 'a' });
    expect(parse('8 path=a')).toEqual({ path: '' });
    expect(parse('8 size=\n9 path=a\n13 mtime=1.5\n')).toEqual({ size: '', path: 'a', mtime: '1.5' });
    expect(parse('11 size=42\n13 mtime=-15\n')).toEqual({ size: '42', mtime: '-15' });
  });

  it('may have blanks, equals signs and line breaks in their values', () => {
    expect(parse('17 path=a b=c\n d\n')).toEqual({ path: 'a b=c\n d' });
  });

  it('are dropped if their key is another one', () => {
    expect(parse('12 comment=x\n')).toEqual({});
    expect(parse('10 pathx=a\n')).toEqual({});
    expect(parse('11 xpath=a\n9 path=b\n')).toEqual({ path: 'b' });
  });

  it('end at the first one whose length is wrong', () => {
    const first = '9 path=a\n';
    for (const next of [
      'x path=b\n',
      '1 path=b\n',
      '2 path=b\n',
      '0 path=b\n',
      '-9 path=b\n',
      '9.5 path=b\n',
    ]) {
      expect(parse(first + next)).toEqual({ path: 'a' });
    }
    expect(parse(`${first}11 path=b\n`)).toEqual({ path: 'a' });
    expect(parse(`${first}9`)).toEqual({ path: 'a' });
    expect(parse(`${first} path=b\n`)).toEqual({ path: 'a' });
  });

  it('are cut where a path is longer than any, and not before', () => {
    const value = 'x'.repeat(mostPathBytes);
    const [record, longer] = [value, `${value}y`].map((path) => parsePax(encodePax({ path })));
    expect(record!.path).toBe(value);
    expect(longer!.path).toBe(value);
    expect(mostPathBytes).toBeGreaterThan(4 * limits.pathCharacters);
  });

  it('have their own length before them, for values of all lengths', () => {
    expect(encodePax({})).toHaveLength(0);
    for (let length = 0; length < 1_200; length++) {
      const bytes = encodePax({ path: 'x'.repeat(length) });
      expect(Number.parseInt(new TextDecoder().decode(bytes), 10)).toBe(bytes.length);
    }
    expect(new TextDecoder().decode(encodePax({ path: 'ä', size: '7' }))).toBe('11 path=ä\n9 size=7\n');
  });

  it('come back as they were', () => {
    const records = { path: 'ä/b c=d', size: '12', mtime: '1.5' };
    expect(parsePax(encodePax(records))).toEqual(records);
  });
});
