import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Archive } from '../../src/content/archive.ts';
import { memorySource } from '../../src/content/byte-source.ts';
import { Redirects } from '../../src/content/redirects.ts';
import { AntwayError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';

const resolve = (text: string, path: string) => Redirects.parse(text).resolve(path);

it('long runs of spaces and of comments are read at once', { timeout: 4_000 }, () => {
  const spaces = `x${' '.repeat(65_000)}x`;
  const comments = `/a /b${' #'.repeat(32_000)}\u2028x`;
  for (let i = 0; i < 100; i++) {
    expect(Redirects.parse(spaces).isPartial).toBe(true);
    expect(resolve(comments, 'a')).toMatchObject({ path: 'b' });
  }
});

describe('a rule', () => {
  it.each([
    ['/old /new', 'old', 301, 'new', ''],
    ['/old /new 302', 'old', 302, 'new', ''],
    ['/old/ /new/ 301!', 'old', 301, 'new/', ''],
    ['/a /b 307', 'a', 302, 'b', ''],
    ['/a /b 308', 'a', 301, 'b', ''],
    ['/* /index.html 200', 'any/path', 200, 'index.html', ''],
    ['/* /404.html 404', '', 404, '404.html', ''],
    ['/gone /404.html 410', 'gone', 404, '404.html', ''],
    ['/posts/* /articles/:splat', 'posts/a/b/', 301, 'articles/a/b', ''],
    ['/posts/:y/:m/:slug /a/:m/:slug/:y?id=:slug#:y', 'posts/1/2/ä b', 301, 'a/2/ä b/1', '?id=%C3%A4%20b#1'],
    ['/caf%C3%A9 /tea%20room', 'café', 301, 'tea room', ''],
    ['# comment\n\n  /a   /b  302  # because\r\n', 'a', 302, 'b', ''],
    ['/a/:x /1\n/a/b /2', 'a/b', 301, '1', ''],
    ['/a /b?q=ä%20b', 'a', 301, 'b', '?q=%C3%A4%20b'],
    ['/:constructor /x/:constructor/:toString', 'v', 301, 'x/v/:toString', ''],
  ])('%j leads %s to %s %s%s', (text, path, status, to, suffix) => {
    expect(resolve(text, path)).toEqual({ status, path: to, suffix });
  });

  it.each([
    ['/a /b', 'a/c'],
    ['/a/:b /c', 'a'],
    ['/a/:b /c', 'a/b/c'],
    ['/a /a', 'a'],
    ['/a/* /a/:splat', 'a/b'],
  ])('%j does not match %s', (text, path) => {
    expect(resolve(text, path)).toBeUndefined();
    expect(Redirects.parse(text).isPartial).toBe(false);
  });

  it.each([
    '/a https://evil.example/',
    '/a //evil.example/',
    '/a /\\evil.example/',
    '/a \\\\evil.example',
    '/a javascript:alert(1)',
    '/a /../../other',
    '/a /%2e%2e/other',
    '/a /b/%5c..%5cc',
    '/a /b%0d%0aSet-Cookie:x=1',
    '/a /%',
    '/a /b 999',
    '/a /b 302 Language=de',
    '/a',
    'a /b',
    '/a/*/b /c',
    '/a* /c',
    '/:x/:x /c',
  ])('%j is not used', (line) => {
    const redirects = Redirects.parse(`${line}\n/good /used`);
    expect(redirects.resolve('a')).toBeUndefined();
    expect(redirects.resolve('good')).toMatchObject({ path: 'used' });
    expect(redirects.isPartial).toBe(true);
  });
});

describe('hostile rules', () => {
  it('do not build a dot segment of values', () => {
    expect(resolve('/x/:a/y /.:a./z', 'x//y')).toBeUndefined();
    expect(resolve('/x/* /:splat', 'x//evil.example')).toMatchObject({ path: '/evil.example' });
  });

  it('never lead out of the address, whatever the rule and the path', () => {
    const part = fc.constantFrom(
      '/',
      '\\',
      '.',
      '..',
      ':a',
      ':splat',
      '*',
      '%2e',
      '%2f',
      '?',
      '#',
      'x',
      '\t',
      '\0',
      '@',
      '%',
    );
    const textOf = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
    const segment = fc.constantFrom('', 'x', 'y..', '...', ':a', '%2e');
    fc.assert(
      fc.property(textOf, textOf, fc.array(segment, { maxLength: 5 }), (from, to, path) => {
        const match = resolve(`/${from} /${to}`, path.join('/'));
        if (!match) return;
        const location = `/site/${match.path.split('/').map(encodeURIComponent).join('/')}${match.suffix}`;
        const url = new URL(location, 'https://gateway.example');
        expect(url.origin).toBe('https://gateway.example');
        expect(url.pathname.startsWith('/site/')).toBe(true);
        expect(() => new Headers({ Location: location })).not.toThrow();
      }),
      { numRuns: 20_000 },
    );
  });

  it('take little time', () => {
    const text = Array.from(
      { length: 3_000 },
      (_, i) => `${'/:a'.repeat(15).replace(/a/g, () => `a${i}`)}/* /x`,
    );
    const redirects = Redirects.parse(
      `${'/:a/:b/:c/:d/:e/:f/nope /x\n'.repeat(limits.redirectRules)}${text[0]}`,
    );
    expect(redirects.isPartial).toBe(true);
    const start = performance.now();
    for (let i = 0; i < 20; i++) redirects.resolve('a/'.repeat(1_000));
    expect(performance.now() - start).toBeLessThan(1_000);
    expect(redirects.resolve('a'.repeat(limits.routedPathCharacters + 1))).toBeUndefined();
  });
});

describe('an archive with “_redirects”', () => {
  const archiveOf = async (rules: string, paths: string[]) => {
    const files = { _redirects: rules, ...Object.fromEntries(paths.map((path) => [path, path])) };
    const members = Object.entries(files).map(([path, text]) => ({
      path,
      size: text.length,
      modified: 0,
      load: async () => memorySource(new TextEncoder().encode(text)),
    }));
    return Archive.load(members, { refused: [] });
  };

  it('applies them only to missing paths', async () => {
    const archive = await archiveOf('/* /app.html 200', ['app.html', 'real.txt', 'folder/a.txt']);
    expect(archive.find('real.txt')).toMatchObject({ kind: 'member', member: { path: 'real.txt' } });
    expect(archive.find('folder/')).toMatchObject({ kind: 'folder' });
    expect(archive.find('some/route')).toMatchObject({ kind: 'member', member: { path: 'app.html' } });
  });

  it('shows a member with 404, and reports a target that is missing', async () => {
    const archive = await archiveOf('/a/* /lost.html 404\n/b /none 200', ['lost.html']);
    expect(archive.find('a/b')).toMatchObject({ kind: 'member', status: 404 });
    expect(archive.find('b')).toMatchObject({ kind: 'missing', reason: expect.stringContaining('“none”') });
    expect(archive.find('c')).toMatchObject({ kind: 'missing' });
  });

  it('reports rules that are not used, and a file that is too large', async () => {
    expect((await archiveOf('/a https://b.example', [])).refused).toEqual([
      { path: '_redirects', reason: 'some of its rules cannot be used' },
    ]);
    const large = await archiveOf(`/a /b\n${'#'.repeat(limits.redirectsBytes)}`, []);
    expect(large.refused).toMatchObject([{ reason: 'it is too large, so it is not used' }]);
    expect(large.find('a')).toMatchObject({ kind: 'missing' });
  });

  it('fails if its rules could not be fetched, which may succeed later', async () => {
    const error = new AntwayError('CORRUPT', 'A chunk is damaged.', { address: 'aa' });
    const member = { path: '_redirects', size: 1, modified: 0, load: () => Promise.reject(error) };
    await expect(Archive.load([member], { refused: [] })).rejects.toBe(error);
  });
});
