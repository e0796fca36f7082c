import { describe, expect, it } from 'vitest';
import { normalisePath, refusalOfPath } from '../../src/archive/member-path.ts';
import { parseIndex, readIndex } from '../../src/archive/tar-index.ts';
import { type ByteSource, memorySource } from '../../src/content/byte-source.ts';
import { limits } from '../../src/limits.ts';
import { tar, tarchive, tarMember } from './support/tar.ts';

const encode = (text: string) => new TextEncoder().encode(text);
const parse = (text: string, tarSize = 10_000) => {
  const { entries, refused } = parseIndex(encode(text), tarSize);
  return { entries: [...entries.values()], refused };
};
const signature = 'ab'.repeat(3309);
const xorname = 'CD'.repeat(32);

describe('a line of the index', () => {
  it.each([
    ['path, offset and size', 'a.txt 512 10', { path: 'a.txt', offset: 512, size: 10 }],
    ['also a name and a signature', `a.txt 512 10 ${xorname} ${signature}`, { path: 'a.txt', size: 10 }],
    ['a path with blanks', 'my file 1 2.txt 512 10', { path: 'my file 1 2.txt', size: 10 }],
    ['a path that ends like a line', 'a 1 2 512 10', { path: 'a 1 2', offset: 512, size: 10 }],
    ['a path in another script', '日本語.txt 512 10', { path: '日本語.txt' }],
    ['a path with a line separator that JavaScript knows', 'a\u2028b 512 10', { path: 'a\u2028b' }],
    ['an empty file', 'a.txt 512 0', { path: 'a.txt', size: 0 }],
    ['a file that ends with the archive', 'a.txt 9990 10', { path: 'a.txt', offset: 9990 }],
    ['a path that begins with ./', './a.txt 512 10', { path: 'a.txt' }],
    ['a name with two dots in it', 'a..b/..c 512 10', { path: 'a..b/..c' }],
  ])('may hold %s', (_, line, entry) => {
    expect(parse(line)).toMatchObject({ entries: [entry], refused: [] });
  });

  it.each([
    ['a negative offset', 'a -512 10', 'negative'],
    ['a negative size', 'a 512 -10', 'negative'],
    ['a number that no file reaches', 'a 99999999999999999999 10', 'absurd'],
    ['a number of a million digits', `a 512 ${'9'.repeat(1_000_000)}`, 'absurd'],
    ['a place outside the archive', 'a 9991 10', 'outside'],
    ['an offset outside the archive', 'a 10001 0', 'outside'],
    ['..', '../a 512 10', 'out of the archive'],
    ['.. in the middle', 'a/../b 512 10', 'out of the archive'],
    ['a leading slash', '/etc/passwd 512 10', 'absolute'],
    ['a NUL', 'a\0b 512 10', 'NUL'],
    ['a folder', 'a/ 512 10', 'names no file'],
    ['a folder as .', 'a/. 512 10', 'names no file'],
    ['a path longer than any', `${'a/'.repeat(3000)}b 512 10`, 'too long'],
    ['text', 'hello', 'not “path offset size”'],
    ['one number', 'a 512', 'not “path offset size”'],
    ['no path', ' 512 10', 'not “path offset size”'],
    ['a fraction', 'a 512 1.5', 'not “path offset size”'],
    ['a hexadecimal number', 'a 0x200 10', 'not “path offset size”'],
    ['a short name', `a 512 10 ${xorname.slice(1)} ab`, 'not “path offset size”'],
  ])('with %s is refused with a reason, and the rest serves', (_, line, reason) => {
    const { entries, refused } = parse(`first 512 1\n${line}\nlast 1024 1\n`);
    expect(entries.map(({ path }) => path)).toEqual(['first', 'last']);
    expect(refused).toEqual([{ path: expect.any(String), reason: expect.stringContaining(reason) }]);
    expect(refused[0]!.path.length).toBeLessThanOrEqual(1000);
  });
});

describe('an index', () => {
  it('may end its lines as Windows does, leave lines empty, and begin with a byte order mark', () => {
    expect(parse('\ufeffa 512 1\r\n\r\nb 1024 2\r\n')).toMatchObject({
      entries: [
        { path: 'a', size: 1 },
        { path: 'b', size: 2 },
      ],
      refused: [],
    });
  });

  it('gives the last of several lines with one path', () => {
    expect(parse('a 512 1\nb 512 1\n./a 1024 7\n').entries).toEqual([
      { path: 'a', offset: 1024, size: 7 },
      { path: 'b', offset: 512, size: 1 },
    ]);
  });

  it('keeps an earlier line when the later one is refused', () => {
    expect(parse('a 512 1\na 99999 1\n').entries).toEqual([{ path: 'a', offset: 512, size: 1 }]);
  });

  it('never lists itself', () => {
    expect(parse('archive.tar.idx 512 1\n./archive.tar.idx 512 1\n').entries).toEqual([]);
  });

  it('may have 100,000 entries, and is TOO_LARGE with one more', () => {
    const lines = Array.from({ length: limits.archiveEntries }, (_, i) => `file${i} 512 1\n`).join('');
    expect(parse(lines).entries).toHaveLength(100_000);
    expect(() => parse(`${lines}one 512 1\n`)).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }));
    expect(() => parse(`${lines}garbage\n`)).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }));
  });

  it('of hostile text is read in time proportional to its length', () => {
    const startedAt = performance.now();
    parse(`${'1 '.repeat(2_000_000)}x`);
    parse(`a ${'1'.repeat(4_000_000)} `);
    parse(`a 1 1 ${'ab'.repeat(2_000_000)} `);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

describe('a path', () => {
  it('loses every “./”, which no URL can hold', () => {
    expect(normalisePath('././a/./b/././c')).toBe('a/b/c');
    expect(normalisePath('a./b')).toBe('a./b');
    expect(normalisePath('.../a')).toBe('.../a');
    expect(normalisePath('.hidden/./.a')).toBe('.hidden/.a');
  });

  it('that could leave an archive is refused, others are not', () => {
    expect(refusalOfPath('a/b.c')).toBeUndefined();
    expect(refusalOfPath('..')).toBeDefined();
    expect(refusalOfPath('a/..')).toBeDefined();
    expect(refusalOfPath('...')).toBeUndefined();
  });
});

describe('the index of a tar', () => {
  /** The reads of a tar: positions and lengths. */
  function watched(bytes: Uint8Array): { source: ByteSource; reads: number[] } {
    const reads: number[] = [];
    const source = memorySource(bytes);
    return {
      reads,
      source: {
        ...source,
        read(start, end) {
          reads.push(end - start);
          return source.read(start, end);
        },
      },
    };
  }
  const text = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);

  it('is its last member', async () => {
    const bytes = tarchive({ 'a.txt': 'hello' });
    expect(text(await readIndex(memorySource(bytes), 1024))).toBe('a.txt 512 5\n');
  });

  it('is found behind any number of zero blocks, and with a name that begins with ./', async () => {
    const bytes = Buffer.concat([
      tarMember({ name: 'a' }, 'x'),
      tarMember({ name: './archive.tar.idx' }, 'a 512 1\n'),
      new Uint8Array(20 * 512),
    ]);
    expect(text(await readIndex(memorySource(bytes), 15 * 512))).toBe('a 512 1\n');
  });

  it('may be larger than the first read, which then grows', async () => {
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`folder/file-${i}`, 'x']));
    const bytes = tarchive(files);
    const { source, reads } = watched(bytes);
    const index = text(await readIndex(source, 2048));
    expect(index!.split('\n')).toHaveLength(301);
    expect(reads[0]).toBeLessThan(4096);
    expect(reads.length).toBeGreaterThan(1);
    expect(reads.at(-1)).toBeLessThan(bytes.length);
  });

  it('may have signatures longer than the first read', async () => {
    const line = `a 512 5 ${xorname} ${signature}\n`.repeat(5);
    const bytes = tarchive({ a: 'hello' }, line);
    expect(text(await readIndex(memorySource(bytes), 1024))).toBe(`a 512 5\n${line}`);
  });

  it.each([
    ['one that does not end as an index does', `a 512 5\n${'?'.repeat(20_000)}\n`],
    ['a large one that does not end as an index does', `a 512 5\n${'?'.repeat(100_000)}\n`],
    ['one with more zeros behind it than the first read', `a 512 5\n${'\0'.repeat(2000)}`],
  ])('is the same for each size of the first read: %s', async (_, text) => {
    const bytes = tarchive({ a: 'hello' }, text);
    const found = await Promise.all(
      [1, 1024, limits.indexTailBytes, 4 * 1024 ** 2].map((first) => readIndex(memorySource(bytes), first)),
    );
    const [one] = found;
    for (const index of found) expect(index).toEqual(one);
  });

  it('may be empty', async () => {
    expect(text(await readIndex(memorySource(tarchive({})), 1024))).toBe('');
  });

  it('is missing if the tar has no such member', async () => {
    expect(await readIndex(memorySource(tar(tarMember({ name: 'a' }, 'x'))), 1024)).toBeUndefined();
    expect(await readIndex(memorySource(new Uint8Array(10_240)), 1024)).toBeUndefined();
    expect(await readIndex(memorySource(new Uint8Array()), 1024)).toBeUndefined();
  });

  it('is ignored if another member follows it', async () => {
    const bytes = tar(tarMember({ name: 'archive.tar.idx' }, 'a 512 1\n'), tarMember({ name: 'b' }, 'x'));
    expect(await readIndex(memorySource(bytes), 10_240)).toBeUndefined();
  });

  it('is ignored if its header claims too many bytes', async () => {
    const bytes = tar(
      tarMember({ name: 'a' }, 'x'),
      tarMember({ name: 'archive.tar.idx', size: 5000 }, 'a 512 1\n'),
    );
    expect(await readIndex(memorySource(bytes), 10_240)).toBeUndefined();
  });

  it('is not looked for in all of a plain tar whose text ends with two numbers, as a log does', async () => {
    const log = '127.0.0.1 - - "GET / HTTP/1.1" 200 612\n'.repeat(10_000);
    const { source, reads } = watched(tar(tarMember({ name: 'access.log' }, log)));
    expect(await readIndex(source, limits.indexTailBytes)).toBeUndefined();
    expect(reads).toHaveLength(1);
  });

  it('is missing if the text of a plain tar only ends as an index does, after reading all of the tar', async () => {
    const text = 'some/file 512 100\n'.repeat(5000);
    expect(await readIndex(memorySource(tar(tarMember({ name: 'list' }, text))), 4096)).toBeUndefined();
  });

  it('is given up past 64 MiB instead of reading gigabytes', async () => {
    const tail = encode('a 512 1\n'.repeat(64));
    let most = 0;
    const endless: ByteSource = {
      ...memorySource(tail),
      size: 2 ** 40,
      async read(start, end) {
        most = Math.max(most, end - start);
        return tail;
      },
    };
    expect(await readIndex(endless, limits.indexTailBytes)).toBeUndefined();
    expect(most).toBeGreaterThanOrEqual(limits.indexBytes);
    expect(most).toBeLessThanOrEqual(limits.indexBytes + 2 * limits.indexTailBytes);
  });
});
