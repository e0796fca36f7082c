import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentDisposition } from '../../src/gateway/http/disposition.ts';

describe('a Content-Disposition header', () => {
  it.each([
    ['a.txt', 'attachment; filename="a.txt"'],
    ['my file (1).txt', 'attachment; filename="my file (1).txt"'],
    ['', 'attachment'],
    ['folder/', 'attachment'],
    ['../../etc/passwd', 'attachment; filename="passwd"'],
    ['C:\\temp\\x.txt', 'attachment; filename="x.txt"'],
    ['a\r\nSet-Cookie: x', 'attachment; filename="aSet-Cookie: x"'],
    ['日本.txt', 'attachment; filename="__.txt"; filename*=UTF-8\'\'%E6%97%A5%E6%9C%AC.txt'],
    ['100%.txt', 'attachment; filename="100_.txt"; filename*=UTF-8\'\'100%25.txt'],
    ['a"b.txt', 'attachment; filename="a_b.txt"; filename*=UTF-8\'\'a%22b.txt'],
    ["ü'(*).txt", /filename\*=UTF-8''%C3%BC%27%28%2A%29\.txt$/],
    // Its compatibility decomposition is “a/c”.
    ['℀.txt', /^attachment; filename="a_c\.txt";/],
  ])('for %j is %s', (name, header) => {
    const written = contentDisposition('attachment', name);
    expect(written).toEqual(typeof header === 'string' ? header : expect.stringMatching(header));
  });

  it('can always be sent, never holds a path, and tells the name exactly', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        const header = contentDisposition('inline', name);
        expect(new Headers({ 'Content-Disposition': header }).get('Content-Disposition')).toBe(header);
        const match = /^inline(?:; filename="([^"\\/]*)"(?:; filename\*=UTF-8''([\w.%!~-]*))?)?$/.exec(
          header,
        );
        expect(match).not.toBeNull();
        const told = match![2] === undefined ? (match![1] ?? '') : decodeURIComponent(match![2]);
        const expected = name
          .split(/[/\\]/)
          .at(-1)!
          // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be gone
          .replace(/[\0-\x1f\x7f]/g, '');
        expect(told).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });
});
