import fc from 'fast-check';
import { expect, it } from 'vitest';
import { indexLimits, TextIndex } from '../../src/shell/search/text-index.ts';
import { documentTypeOf, mostTextLength, textOf } from '../../src/shell/search/text-of.ts';

const encode = (text: string) => new TextEncoder().encode(text);
const html = (text: string) => textOf(encode(text), 'html');
const paths = (index: TextIndex, query: string) => index.search(query).map(({ path }) => path);

it('the text of a page is what its reader sees', () => {
  const page = `<!doctype html><html><head><title>Low&nbsp;Tide &amp; sand</title><style>b{color:red}</style>
    <script>var secret = "<p>hidden</p>"</script></head><body><h1>Shells</h1><p>white<b>caps</b><br>crabs</p>
    <template><p>unused</p></template><svg><title>drawing</title><text>drawn</text></svg>
    <noscript>scriptless</noscript><p title="attribute">end`;
  expect(html(page)).toEqual({ title: 'Low Tide & sand', text: 'Shells white caps crabs end' });
});

it('a declared encoding is used', () => {
  const bytes = Uint8Array.from([...encode('<meta charset=windows-1252><p>caf'), 0xe9]);
  expect(textOf(bytes, 'html').text).toBe('café');
});

it('hostile pages cost a bounded amount and never fail', () => {
  expect(html('<div>'.repeat(100_000)).text).toBe('');
  expect(html(`<p>${'word '.repeat(200_000)}`).text.length).toBeLessThanOrEqual(mostTextLength);
  expect(html(`<title>${'x'.repeat(1_000_000)}`).title.length).toBeLessThanOrEqual(200);
  expect(html('</script></script><p>after').text).toBe('after');
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 400 }),
      fc.constantFrom('html' as const, 'text' as const),
      (bytes, type) => {
        expect(textOf(bytes, type).text.length).toBeLessThanOrEqual(mostTextLength);
      },
    ),
  );
});

it('only pages and texts are searched', () => {
  expect(['a.html', 'b/C.HTM', 'd.md', 'e.txt'].map(documentTypeOf)).toEqual([
    'html',
    'html',
    'text',
    'text',
  ]);
  for (const path of ['a.js', 'html', '', 'x.constructor', 'x.__proto__', 'x.png']) {
    expect(documentTypeOf(path), path).toBeUndefined();
  }
});

it('finds pages by the beginnings of all words, whatever their case and accents', () => {
  const index = new TextIndex();
  index.add('s1', 'a.html', { title: 'Low Tide', text: 'Crabs and Café shells' });
  index.add('s1', 'b.html', { title: 'Garden', text: 'Roses and shells' });
  expect(paths(index, 'shells').sort()).toEqual(['a.html', 'b.html']);
  expect(paths(index, 'SHEL cafe')).toEqual(['a.html']);
  expect(paths(index, 'tide')).toEqual(['a.html']);
  expect(paths(index, 'tulips')).toEqual([]);
  expect(paths(index, 'shells tulips')).toEqual([]);
  expect(index.search('cafe')[0]!.snippet).toEqual(['Crabs and ', 'Café', ' shells']);
});

it('finds words of languages without spaces', () => {
  const index = new TextIndex();
  index.add('s1', 'a.html', { title: '', text: '東京の海は静かです' });
  expect(paths(index, '東京')).toEqual(['a.html']);
});

it('a removed site is not found, and its room is free again', () => {
  const index = new TextIndex();
  for (const site of ['s1', 's2']) index.add(site, 'a.html', { title: site, text: 'shells' });
  index.remove('s1');
  expect(index.search('shells').map(({ site }) => site)).toEqual(['s2']);
  expect(index.sites).toEqual(['s2']);
  index.remove('unknown');
});

it('the index is bounded', () => {
  const index = new TextIndex();
  const text = `${'x'.repeat(1024 * 1024 - 8)} needle`;
  let added = 0;
  while (index.add('s1', `${added}.txt`, { title: '', text })) added++;
  expect(added).toBeLessThanOrEqual(indexLimits.text / (1024 * 1024) + 1);
  expect(index.isFull).toBe(true);
  index.remove('s1');
  expect(index.isFull).toBe(false);
});

it('words that are keys of every object are words', () => {
  const index = new TextIndex();
  expect(index.search('constructor')).toEqual([]);
  index.add('__proto__', 'toString', { title: 'hasOwnProperty', text: '__proto__ constructor valueOf' });
  expect(paths(index, 'constructor')).toEqual(['toString']);
  expect(paths(index, 'proto')).toEqual(['toString']);
  index.remove('__proto__');
  expect(index.search('constructor')).toEqual([]);
});

it('any query of any text gives a snippet of that text', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.string({ unit: 'binary', maxLength: 300 }),
      (text, query) => {
        const index = new TextIndex();
        index.add('s1', 'a', { title: '', text });
        for (const { snippet } of [...index.search(query), ...index.search(text)]) {
          const [before, match, after] = snippet;
          expect(text.toWellFormed()).toContain(match.toWellFormed());
          expect(before.length + match.length + after.length).toBeLessThanOrEqual(300);
        }
      },
    ),
  );
});
