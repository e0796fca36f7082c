import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { packTar, unpackTar } from 'modern-tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/address.ts';
import {
  createTar,
  createTarchive,
  encodeMember,
  type TarEntry,
  tarEnd,
} from '../../src/archive/create-tar.ts';
import { bufferAccess, type RandomAccess } from '../../src/util/random-access.ts';

const utf8 = new TextEncoder();

function entry(path: string, content: string | Uint8Array): TarEntry {
  return { path, source: bufferAccess(typeof content === 'string' ? utf8.encode(content) : content) };
}

function readAll(tar: RandomAccess): Promise<Uint8Array> {
  return tar.read(0, tar.size);
}

interface IndexLine {
  path: string;
  offset: number;
  size: number;
}

/** The index as a reader finds it: the last member of the tar. */
async function readIndex(tar: Uint8Array): Promise<IndexLine[]> {
  const last = (await unpackTar(tar, { strict: true })).at(-1)!;
  expect(last.header.name).toBe('archive.tar.idx');
  return new TextDecoder()
    .decode(last.data)
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [, path, offset, size] = /^(.*) (\d+) (\d+)$/.exec(line)!;
      return { path: path!, offset: Number(offset), size: Number(size) };
    });
}

const longFolder =
  'a folder whose name alone is longer than the field that ustar has for a file name, which is one hundred';
const awkward: TarEntry[] = [
  entry('index.html', '<h1>home</h1>'),
  entry('empty.txt', ''),
  entry('with two  spaces.txt', 'spaces'),
  entry('ends in a number 12 34', 'numbers'),
  entry('żółw/日本語.txt', 'unicode'),
  entry(`split/${'p'.repeat(120)}/${'n'.repeat(90)}.txt`, 'fits the ustar prefix'),
  entry(`${longFolder}/${'f'.repeat(200)}.txt`, 'needs pax'),
  entry(`${'ü'.repeat(120)}.txt`, 'needs pax by its bytes, not its characters'),
  // A pax block of a full 512 bytes that is made of the digit which marks a plain file's header.
  entry(`zero/${'0'.repeat(248)}/${'0'.repeat(248)}`, 'needs a full pax block'),
  entry('.hidden', 'hidden files are files'),
  entry('whole-block.bin', new Uint8Array(512).fill(7)),
  entry('many-blocks.bin', new Uint8Array(70_001).fill(9)),
];

describe('a tarchive', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'antway-tarchive-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('lists every member at the position of its data, for any path and size', async () => {
    const tar = await readAll(createTarchive(awkward));
    const index = await readIndex(tar);
    expect(index.map(({ path }) => path)).toEqual(awkward.map(({ path }) => path).sort());
    for (const { path, offset, size } of index) {
      const source = awkward.find((member) => member.path === path)!.source;
      expect(size).toBe(source.size);
      expect(tar.subarray(offset, offset + size)).toEqual(await source.read(0, size));
    }
  });

  it('is an ordinary tar for the system’s tar', async () => {
    const file = join(folder, 'awkward.tar');
    writeFileSync(file, await readAll(createTarchive(awkward)));
    const out = mkdtempSync(join(folder, 'out-'));
    execFileSync('tar', ['-xf', file, '-C', out]);
    for (const { path, source } of awkward) {
      const extracted = readFileSync(join(out, path));
      expect(Buffer.compare(extracted, await source.read(0, source.size))).toBe(0);
    }
    const listing = execFileSync('tar', ['-tvf', file, '--utc', '--numeric-owner'], { encoding: 'utf8' });
    for (const line of listing.trimEnd().split('\n')) {
      expect(line).toMatch(/^-rw-r--r-- 0\/0 +\d+ 1970-01-01 00:00 /);
    }
  });

  it('has the same bytes for any order of its entries', async () => {
    const tar = await readAll(createTarchive(awkward));
    const again = await readAll(createTarchive([...awkward].reverse()));
    expect(Buffer.compare(tar, again)).toBe(0);
  });

  it('reads the same in pieces of any size as in one', async () => {
    const archive = createTarchive(awkward);
    const tar = await readAll(archive);
    for (const step of [1000, 511, 512, 513, 65_536]) {
      const pieces = [];
      for (let at = 0; at < archive.size; at += step) {
        pieces.push(await archive.read(at, Math.min(at + step, archive.size)));
      }
      expect(Buffer.compare(Buffer.concat(pieces), tar)).toBe(0);
    }
  });

  it('touches only the sources that a read overlaps', async () => {
    const reads: string[] = [];
    const watched = ['a', 'b', 'c'].map((path) => ({
      path,
      source: {
        size: 5000,
        async read(start: number, end: number) {
          reads.push(`${path} ${start}-${end}`);
          return new Uint8Array(end - start);
        },
      },
    }));
    const archive = createTarchive(watched);
    expect(reads).toEqual([]);
    const b = (await readIndex(await readAll(archive)))[1]!;
    reads.length = 0;
    await archive.read(b.offset + 10, b.offset + 20);
    expect(reads).toEqual(['b 10-20']);
  });

  it('holds twenty thousand members', async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => entry(`folder ${i % 7}/${i}.txt`, `member ${i}`));
    const tar = await readAll(createTarchive(many));
    const index = await readIndex(tar);
    expect(index).toHaveLength(many.length);
    for (const { path, offset, size } of index) {
      const number = /(\d+)\.txt$/.exec(path)![1];
      expect(new TextDecoder().decode(tar.subarray(offset, offset + size))).toBe(`member ${number}`);
    }
  });

  it('lets AntTP find the index, also behind a member that fills its last block', async () => {
    // AntTP searches the last 20480 bytes for this, and takes what follows the 512-byte header (AntTP 0.26).
    const mark = utf8.encode('\0archive.tar.idx\0');
    const tar = Buffer.from(await readAll(createTarchive([entry('z', new Uint8Array(1024).fill(1))])));
    const at = tar.indexOf(mark);
    expect(at).toBeGreaterThan(0);
    expect(tar.subarray(at + 1 + 512).toString()).toMatch(/^z 512 1024\n\0/);
  });

  it('has members like those of the archives that AntTP makes', async () => {
    const theirs = readFileSync(new URL('../fixtures/anttp/tarchive_site/plain.bin', import.meta.url));
    const members = (await unpackTar(theirs)).filter(({ header }) => header.name !== 'archive.tar.idx');
    const ours = await readAll(createTarchive(members.map(({ header, data }) => entry(header.name, data!))));
    const sortLines = (lines: IndexLine[]) => lines.map(({ path, size }) => `${path} ${size}`).sort();
    expect(sortLines(await readIndex(ours))).toEqual(sortLines(await readIndex(theirs)));
  });

  it.each([
    ['../up.txt'],
    ['a/../b'],
    ['./a'],
    ['/etc/passwd'],
    ['a//b'],
    ['a/'],
    [''],
    ['nul\0'],
    ['two\nlines'],
    ['carriage\rreturn'],
    ['archive.tar.idx'],
    ['half a surrogate \ud800'],
  ])('refuses the path %j', async (path) => {
    expect(() => createTarchive([entry(path, 'x')])).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED' }),
    );
  });

  it('brings paths to Unicode NFC, and refuses two that become the same', async () => {
    const decomposed = 'cafe\u0301.txt';
    const tar = await readAll(createTarchive([entry(decomposed, 'x')]));
    expect(await readIndex(tar)).toMatchObject([{ path: 'caf\u00e9.txt' }]);
    expect(() => createTarchive([entry(decomposed, 'x'), entry('caf\u00e9.txt', 'y')])).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED' }),
    );
  });

  it('refuses to be empty, and to hold more members than readers accept', async () => {
    expect(() => createTarchive([])).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
    const tooMany = Array.from({ length: 100_001 }, (_, i) => entry(String(i), ''));
    expect(() => createTarchive(tooMany)).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }));
  });

  it('keeps its bytes from one version of Antway to the next', async () => {
    // Addresses that people have published hang on these bytes: a change here is a change of format.
    const tar = await readAll(createTarchive(awkward));
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(tar)));
    expect(toHex(digest)).toMatchInlineSnapshot(
      `"0b9ee02be44126ec1bf74b3129e6f62ffc51d8db2dd447f502dc4b320e8393af"`,
    );
  });
});

describe('a tar', () => {
  const segment = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'ü', '日', '😀', ' '), minLength: 1, maxLength: 60 }),
    fc.integer({ min: 40, max: 160 }).map((length) => 'n'.repeat(length)),
  );
  const path = fc.array(segment, { minLength: 1, maxLength: 5 }).map((segments) => segments.join('/'));
  const members = fc.array(fc.tuple(path, fc.uint8Array({ maxLength: 1100 })), { maxLength: 4 });

  it('has the bytes that an independent writer gives it, in one piece or member by member', async () => {
    await fc.assert(
      fc.asyncProperty(members, async (files) => {
        const expected = Buffer.from(
          await packTar(
            files.map(([name, body]) => ({
              header: { name, size: body.length, mtime: new Date(0), mode: 0o644, uid: 0, gid: 0 },
              body,
            })),
          ),
        );
        const laidOut = await readAll(createTar(files.map(([name, body]) => entry(name, body))));
        expect(Buffer.compare(laidOut, expected)).toBe(0);
        const pieces = [...files.map(([name, body]) => encodeMember(name, body)), tarEnd];
        expect(Buffer.compare(Buffer.concat(pieces), expected)).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it('gives the size of a file of more than 8 GiB in a pax header', async () => {
    const size = 8 * 2 ** 30;
    const tar = createTar([{ path: 'a', source: { size, read: async () => new Uint8Array() } }]);
    const headers = await tar.read(0, 1536);
    expect(new TextDecoder().decode(headers.subarray(512, 532))).toBe('19 size=8589934592\n\0');
  });
});
