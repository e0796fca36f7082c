import { describe, expect, it } from 'vitest';
import { type Line, linesOf, mostLineCharacters } from '../../src/shell/readers/code/code-lines.ts';
import { highlight } from '../../src/shell/readers/code/highlight.ts';
import { groupOf, languageOf } from '../../src/shell/readers/code/languages.ts';
import {
  countOf,
  entriesOf,
  firstContainers,
  isSameNumber,
  parseJson,
} from '../../src/shell/readers/json/parse-json.ts';
import { kindOfName, kindOfType, opensInReader } from '../../src/shell/readers/kinds.ts';
import {
  contentHref,
  locationOfPath,
  nameOf,
  parentOf,
  parseReaderFragment,
  readerHref,
} from '../../src/shell/readers/location.ts';
import { resolveUrl } from '../../src/shell/readers/markdown/resolve-url.ts';
import { decodeText, looksLikeText, parseListing } from '../../src/shell/readers/read-content.ts';
import { sanitizeName } from '../../src/shell/readers/sanitize-name.ts';
import { mostColumns, parseTable } from '../../src/shell/readers/table/parse-table.ts';
import { sortRows } from '../../src/shell/readers/table/sort-rows.ts';

const hex = 'ab'.repeat(32);

describe('the location of a reader', () => {
  it.each([
    [`read=${hex}`, { root: hex, path: undefined }],
    [`read=${hex}/`, { root: hex, path: '' }],
    [`read=${hex.toUpperCase()}/a/b%20c%3f.md`, { root: hex, path: 'a/b c?.md' }],
    ['read=low-tide/docs/', { root: 'low-tide', path: 'docs/' }],
  ])('is parsed from %s', (fragment, location) => {
    expect(parseReaderFragment(fragment)).toEqual(location);
  });

  it.each([
    'read=',
    'read=-/config',
    'read=/a',
    'read=a/../b',
    'read=a/%2e%2E/b',
    'read=a/b%2fc',
    'read=a/%00',
    'read=a/%E0%A4%A',
    'read=a:b/c',
    'library',
  ])('%s is refused', (fragment) => expect(parseReaderFragment(fragment)).toBeUndefined());

  it('has the same URL after parsing, with every character of a name encoded', () => {
    const location = { root: hex, path: 'a b/#?%&"<.md' };
    expect(parseReaderFragment(readerHref(location).slice(2))).toEqual(location);
    expect(new URL(contentHref(location), 'https://g.example').pathname).toBe(
      `/${hex}/a%20b/%23%3F%25%26%22%3C.md`,
    );
  });

  it('has a name and a parent', () => {
    expect(nameOf({ root: hex, path: 'a/b/' })).toBe('b');
    expect(nameOf({ root: hex, path: 'a/b.md' })).toBe('b.md');
    expect(parentOf({ root: hex, path: 'a/b/' })).toEqual({ root: hex, path: 'a/' });
    expect(parentOf({ root: hex, path: 'a' })).toEqual({ root: hex, path: '' });
    expect(parentOf({ root: hex, path: '' })).toBeUndefined();
    expect(locationOfPath(`/${hex}/?x#y`)).toEqual({ root: hex, path: '' });
  });
});

describe('the kind of a file', () => {
  it.each([
    ['README.md', 'markdown'],
    ['a.TSV', 'table'],
    ['a.geojson', 'json'],
    ['Makefile', 'code'],
    ['a.rs', 'code'],
    ['a.ts', 'code'],
    ['a.html', 'code'],
    ['a.svg', 'picture'],
    ['a.webm', 'media'],
    ['a.zip', undefined],
    ['a.constructor', undefined],
    ['a', undefined],
  ])('%s is %s', (name, kind) => expect(kindOfName(name)).toBe(kind));

  it('follows the type if the name does not tell', () => {
    expect(kindOfType('text/plain; charset=utf-8')).toBe('code');
    expect(kindOfType('application/ld+json')).toBe('json');
    expect(kindOfType('application/octet-stream')).toBeUndefined();
  });

  it('pages and drawings open as they are, other files in a reader', () => {
    expect(['a.html', 'a.svg', 'a.zip'].filter(opensInReader)).toEqual([]);
    expect(['a.md', 'a.png', 'a.js'].every(opensInReader)).toBe(true);
  });
});

describe('a URL in a document', () => {
  const document = { root: hex, path: 'docs/guide/a.md' };
  const origin = 'https://gateway.example';
  const resolve = (url: string) => resolveUrl(url, document, origin);

  it.each([
    ['b.md', `/#read=${hex}/docs/guide/b.md`],
    ['../b.csv', `/#read=${hex}/docs/b.csv`],
    ['/top.json', `/#read=${hex}/top.json`],
    ['../page.html?x=1#y', `/${hex}/docs/page.html?x=1#y`],
    ['a:b.md', undefined],
    ['./a:b.md', `/#read=${hex}/docs/guide/a%3Ab.md`],
    ['../../../../../-/config', undefined],
    ['..\\..\\..\\..\\-\\config', undefined],
    [`ant://${'cd'.repeat(32)}/x.md`, `/#read=${'cd'.repeat(32)}/x.md`],
    [`https://other.example/${'cd'.repeat(32)}/x.html`, `/${'cd'.repeat(32)}/x.html`],
  ])('%s leads to %s', (url, href) => {
    const resolved = resolve(url);
    expect(resolved.kind === 'content' ? resolved.href : undefined).toBe(href);
  });

  it.each([
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    'JAVASCRIPT:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://gateway.example/x',
    'https://gateway.example/-/reset',
    'https://gateway.example/',
    'ant://manifest/wUFOVAGB',
    'ant://1234',
    'http://[',
  ])('%s is refused', (url) => expect(resolve(url)).toEqual({ kind: 'refused' }));

  it('of another host is foreign, also without a scheme', () => {
    for (const url of ['https://a.example/x', '//a.example/x', '\\\\a.example/x']) {
      expect(resolve(url)).toEqual({ kind: 'foreign', href: 'https://a.example/x', host: 'a.example' });
    }
  });

  it('within the document is a fragment', () => {
    expect(resolve('#a%20b')).toEqual({ kind: 'fragment', id: 'a b' });
  });
});

describe('a listing', () => {
  const entry = (path: string, path_type = 'FILE') => ({
    path,
    display: path,
    modified: 7,
    size: 5,
    path_type,
  });

  it('names the files and folders of a folder', () => {
    const json = JSON.stringify([entry('docs/b/', 'DIRECTORY'), entry('docs/a.md')]);
    expect(parseListing(json, { root: hex, path: 'docs/' })).toMatchObject([
      { kind: 'folder', name: 'b', location: { root: hex, path: 'docs/b/' } },
      { kind: 'file', name: 'a.md', location: { root: hex, path: 'docs/a.md' }, size: 5, modified: 7000 },
    ]);
  });

  it.each(['[', '{}', '[1]', '[null]', '[{"path":"a"}]'])('%s is none', (json) => {
    expect(parseListing(json, { root: hex, path: '' })).toBeUndefined();
  });

  it.each(['..', '../x', 'a/b', '/x', '', 'a\0'])('with the path %j is none', (path) => {
    expect(parseListing(JSON.stringify([entry(path)]), { root: hex, path: '' })).toBeUndefined();
  });
});

describe('text', () => {
  const bytes = (text: string, encoding: BufferEncoding) => new Uint8Array(Buffer.from(text, encoding));

  it('is decoded by its mark, its type, or as UTF-8', () => {
    expect(decodeText(bytes('\ufeffä', 'utf16le'), 'text/plain; charset=utf-8')).toBe('ä');
    expect(decodeText(bytes('ä', 'latin1'), 'text/plain; charset=iso-8859-1')).toBe('ä');
    expect(decodeText(bytes('ä', 'utf8'), 'text/plain; charset=unknown')).toBe('ä');
  });

  it('that is cut within a character ends before it', () => {
    expect(decodeText(bytes('aä', 'utf8').subarray(0, 2), '', true)).toBe('a');
  });

  it('has no NUL, except in UTF-16', () => {
    expect(looksLikeText(bytes('a\0b', 'utf8'))).toBe(false);
    expect(looksLikeText(bytes('\ufeffa', 'utf16le'))).toBe(true);
  });

  it('of a name has no characters that disguise it', () => {
    expect(sanitizeName('a\u202eb\u0000c\nd')).toBe('a\ufffdb\ufffdc\ufffdd');
  });
});

describe('a table', () => {
  it('has a header and rows, with the separator of the file', () => {
    expect(parseTable('a;b\n1;"x;y"\n\n2;z\n', false)).toEqual({
      header: ['a', 'b'],
      rows: [
        ['1', 'x;y'],
        ['2', 'z'],
      ],
      columns: 2,
      isBounded: false,
    });
  });

  it('that is cut leaves out its last row', () => {
    expect(parseTable('a,b\n1,2\n3,', true).rows).toEqual([['1', '2']]);
  });

  it('with too many columns or long cells is bounded', () => {
    const table = parseTable(`${'c,'.repeat(1_000)}c\n${'x'.repeat(5_000)}`, false);
    expect(table).toMatchObject({ columns: mostColumns, isBounded: true });
    expect(table.rows[0]![0]).toHaveLength(1_001);
  });

  it('is sorted by value, with empty cells last in both directions', () => {
    const rows = [['10'], [''], ['9'], ['b'], ['A'], ['-1.5']];
    const sorted = (isDescending: boolean) => sortRows(rows, 0, isDescending, 'en').flat();
    expect(sorted(false)).toEqual(['-1.5', '9', '10', 'A', 'b', '']);
    expect(sorted(true)).toEqual(['b', 'A', '10', '9', '-1.5', '']);
  });

  it('with a cell of many digits is sorted at once', { timeout: 4_000 }, () => {
    const long = `${'1'.repeat(100_000)}x`;
    expect(sortRows([['2.'], [long], ['1.5e1'], ['.5']], 0, false, 'en').flat()).toEqual([
      '.5',
      '2.',
      '1.5e1',
      long,
    ]);
  });
});

describe('JSON', () => {
  it('has own keys only, whatever they are called', () => {
    const value = parseJson('{"__proto__":{"a":1},"constructor":2}') as Record<string, never>;
    expect(entriesOf(value, 0, 9)).toEqual([
      ['__proto__', { a: 1 }],
      ['constructor', 2],
    ]);
    expect(countOf(value)).toBe(2);
    expect(({} as { a?: number }).a).toBeUndefined();
  });

  it('of 100,000 levels is parsed', () => {
    const value = parseJson(`${'['.repeat(100_000)}1e9${']'.repeat(100_000)}`);
    expect(firstContainers(value, 50, 10).size).toBe(50);
  });

  it('has numbers that lose no digits as numbers', () => {
    expect(parseJson('[1.50e2, 0.1, -0.0, 1234567890123456]')).toEqual([150, 0.1, -0, 1234567890123456]);
  });

  it('with many zeros within a number is read at once', { timeout: 4_000 }, () => {
    const zeros = '0'.repeat(80_000);
    expect(isSameNumber(0.1, `0.1${zeros}1`)).toBe(false);
    expect(isSameNumber(0.1, `0.1${zeros}`)).toBe(true);
    expect(isSameNumber(0, `0.${zeros}`)).toBe(true);
  });

  it('that is invalid is an error', () => expect(() => parseJson('{"a":')).toThrow(SyntaxError));
});

describe('code', () => {
  const texts = (lines: Line[]) => lines.map(({ tokens }) => tokens.map(({ text }) => text).join(''));

  it('is split into lines, also within a part', () => {
    const lines = linesOf([
      'a\n',
      { classes: ['hljs-comment', '"><img'], children: ['/* b\r\nc */'] },
      'd\n',
    ]);
    expect(texts(lines)).toEqual(['a', '/* b', 'c */d']);
    expect(lines[1]!.tokens[0]!.classes).toBe('hljs-comment');
  });

  it('with a long line continues in the next line, with every character', () => {
    const text = `${'x'.repeat(mostLineCharacters - 1)}😀${'y'.repeat(mostLineCharacters)}`;
    const lines = linesOf([text]);
    expect(texts(lines).join('')).toBe(text);
    expect(lines.map(({ isContinued }) => isContinued)).toEqual([false, true, true]);
    expect(texts(lines).every((line) => line.isWellFormed?.() ?? true)).toBe(true);
  });

  it('has a grammar for every language of a file name', async () => {
    for (const name of [
      'a.js',
      'a.tsx',
      'a.html',
      'a.rs',
      'a.proto',
      'a.toml',
      'Makefile',
      'a.sql',
      'a.kts',
    ]) {
      const language = languageOf(name)!;
      expect(groupOf(language)).toBeDefined();
      expect((await highlight('x = 1', language)).length).toBeGreaterThan(0);
    }
    expect(languageOf('a.txt')).toBeUndefined();
  });

  it('keeps its text when it is highlighted', async () => {
    const text = 'const a = "<b>x</b>" + `y`; // <script>\n';
    expect(texts(linesOf(await highlight(text, 'javascript')))).toEqual([text.trimEnd()]);
  });
});
