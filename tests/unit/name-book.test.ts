import { describe, expect, it } from 'vitest';
import { NameBook, written } from '../../src/names/name-book.ts';

const [a, b, c] = ['aa', 'bb', 'cc'].map((byte) => byte.repeat(32)) as [string, string, string];
const book = new NameBook({
  own: { home: a, docs: a },
  host: { docs: b, start: b, same: a },
  lists: new Map<string, Record<string, string>>([
    ['club', { start: b, docs: c, blog: c, same: a, hоme: c }],
    ['fans', { blog: a, same: a, constructor: c, h0me: c, StarT: a, d0cs: b }],
  ]),
});
const found = (text: string) => {
  const result = book.resolve(text);
  if (result.kind === 'found') {
    return [written(result.meaning), result.meaning.address, result.others.map(written)];
  }
  return result.kind === 'conflict' ? result.meanings.map(written) : result.kind;
};

describe('a name', () => {
  it.each<[string, unknown]>([
    ['~home', ['~home', a, ['hоme@club', 'h0me@fans']]],
    ['home', ['~home', a, ['hоme@club', 'h0me@fans']]],
    ['docs', ['~docs', a, ['docs', 'docs@club', 'd0cs@fans']]],
    ['~docs', ['~docs', a, ['docs', 'docs@club', 'd0cs@fans']]],
    ['docs@club', ['docs@club', c, ['~docs', 'docs', 'd0cs@fans']]],
    ['~docs@club', ['docs@club', c, ['~docs', 'docs', 'd0cs@fans']]],
    ['start', ['start', b, ['StarT@fans']]],
    // A list has it, and it looks like a name with another address.
    ['h0me', ['h0me@fans', '~home']],
    ['h0me@fans', ['h0me@fans', c, ['~home']]],
    ['StarT', ['StarT@fans', 'start', 'start@club']],
    ['same', ['same', a, []]],
    ['blog', ['blog@club', 'blog@fans']],
    ['blog@fans', ['blog@fans', a, ['blog@club']]],
    ['constructor@fans', ['constructor@fans', c, []]],
    ['~start', 'unknown'],
    ['~blog', 'unknown'],
    ['start@fans', 'unknown'],
    ['start@nobody', 'unknown'],
    ['nothing', 'unknown'],
    ['toString', 'unknown'],
    ['~', 'unknown'],
    ['@', 'unknown'],
    ['@club', 'unknown'],
    ['', 'unknown'],
  ])('%j means %j', (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  it('is found by its address, the user’s names first', () => {
    expect(book.namesOf(a).map(written)).toEqual([
      ...['~home', '~docs', 'same', 'same@club', 'blog@fans', 'same@fans', 'StarT@fans'],
    ]);
    expect(book.namesOf('00'.repeat(32))).toEqual([]);
  });

  it('of a list hides neither a name of the user nor one of the host', () => {
    expect(book.isOfHost('docs')).toBe(true);
    expect(book.isOfHost('blog')).toBe(false);
    expect(book.isOfHost('constructor')).toBe(false);
    expect(book.isOfHost('toString')).toBe(false);
  });
});
