import { describe, expect, it } from 'vitest';
import { checkedPath, normalisePath, refusalOfPath } from '../../src/archive/member-path.ts';
import { limits } from '../../src/limits.ts';

describe('the path of a member', () => {
  it.each([
    ['./a', 'a'],
    ['././a/./././b', 'a/b'],
    ['a./b', 'a./b'],
    ['a/.b', 'a/.b'],
    ['../a', '../a'],
    ['a/../b', 'a/../b'],
    ['a/.', 'a/.'],
    ['.', '.'],
    ['', ''],
  ])('%j is %j for readers', (path, normal) => {
    expect(normalisePath(path)).toBe(normal);
  });

  it.each([
    ['', 'names no file'],
    ['.', 'names no file'],
    ['a/', 'names no file'],
    ['a/.', 'names no file'],
    ['/', 'names no file'],
    ['/a', 'absolute'],
    ['a\0', 'NUL'],
    ['..', 'out of the archive'],
    ['../a', 'out of the archive'],
    ['a/../b', 'out of the archive'],
    ['a/..', 'out of the archive'],
    ['x'.repeat(limits.pathCharacters + 1), 'too long'],
  ])('%j is refused by readers', (path, why) => {
    expect(refusalOfPath(path)).toContain(why);
  });

  it.each(['a', 'a.', '.a', 'a/.b', 'a/b.', '...', 'a..b', 'x'.repeat(limits.pathCharacters), 'a//b'])(
    '%j is served',
    (path) => {
      expect(refusalOfPath(path)).toBeUndefined();
    },
  );

  it.each([
    ['', 'empty'],
    ['/a', 'starts with'],
    ['a\0', 'NUL or a line break'],
    ['a\nb', 'NUL or a line break'],
    ['a\rb', 'NUL or a line break'],
    ['a/../b', 'segment'],
    ['./a', 'segment'],
    ['a//b', 'empty segment'],
    ['a/', 'empty segment'],
    ['archive.tar.idx', 'index'],
    ['\ud800', 'Unicode'],
  ])('%j cannot be published, with the reason', (path, why) => {
    expect(() => checkedPath(path)).toThrow(
      expect.objectContaining({
        code: 'UNSUPPORTED',
        message: expect.stringContaining(why),
        details: expect.objectContaining({ path }),
      }),
    );
  });

  it('is published in Unicode NFC', () => {
    expect(checkedPath('cafe\u0301/.a b')).toBe('caf\u00e9/.a b');
    expect(checkedPath('x/archive.tar.idx')).toBe('x/archive.tar.idx');
  });
});
