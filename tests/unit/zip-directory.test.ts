import { describe, expect, it } from 'vitest';
import { isLocalHeader, isZip, readZipDirectory } from '../../src/archive/zip-directory.ts';
import { limits } from '../../src/limits.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { makeZip, type ZipFile } from '../support/zip.ts';

const list = (zip: Uint8Array) => readZipDirectory(bufferAccess(zip));
const stored = (path: string | Buffer, data = 'x'): ZipFile => ({ path, data, method: 0 });
const corrupt = expect.objectContaining({ code: 'CORRUPT' });
const endBytes = 22;
const entryBytes = 46;

/** A ZIP with one stored member “a” of one byte, changed in its directory's entry. */
function withEntry(change: (entry: Buffer) => void, file: ZipFile = stored('a')): Buffer {
  const zip = makeZip([file]);
  change(zip.subarray(zip.readUInt32LE(zip.length - 6)));
  return zip;
}

/** Why the only member is refused. */
async function refusalOf(zip: Buffer): Promise<string | undefined> {
  const { members, refused } = await list(zip);
  expect(members.length + refused.length).toBe(1);
  return refused[0]?.reason;
}

/** A ZIP whose only entry has an extra field. */
function withExtra(extra: Buffer, change: (entry: Buffer) => void = () => undefined): Buffer {
  const zip = makeZip([stored('a')]);
  const start = zip.readUInt32LE(zip.length - 6);
  const entry = Buffer.from(zip.subarray(start, start + entryBytes));
  entry.writeUInt16LE(extra.length, 30);
  change(entry);
  const directory = Buffer.concat([entry, Buffer.from('a'), extra]);
  const end = Buffer.from(zip.subarray(-endBytes));
  end.writeUInt32LE(directory.length, 12);
  return Buffer.concat([zip.subarray(0, start), directory, end]);
}

/** An extra field with an id. */
function field(id: number, data: Buffer): Buffer {
  const head = Buffer.alloc(4);
  head.writeUInt16LE(id, 0);
  head.writeUInt16LE(data.length, 2);
  return Buffer.concat([head, data]);
}

const uint64 = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};

const padded = (bytes: Buffer, length: number) => Buffer.concat([Buffer.alloc(length - bytes.length), bytes]);

describe('the directory of a ZIP', () => {
  it('tells all about its members, and where their data ends', async () => {
    const zip = makeZip([stored('a', 'hello'), { path: 'b/c', data: 'x'.repeat(100), flags: 0x801 }]);
    const { members, refused, start } = await list(zip);
    const modified = Date.UTC(2024, 2, 15, 12, 34, 56) / 1000;
    expect(members).toEqual([
      {
        path: 'a',
        modified,
        size: 5,
        compressedSize: 5,
        method: 0,
        isEncrypted: false,
        headerOffset: 0,
        name: new Uint8Array(Buffer.from('a')),
      },
      {
        path: 'b/c',
        modified,
        size: 100,
        compressedSize: expect.any(Number),
        method: 8,
        isEncrypted: true,
        headerOffset: 36,
        name: new Uint8Array(Buffer.from('b/c')),
      },
    ]);
    expect(members[1]!.compressedSize).toBeLessThan(100);
    expect(refused).toEqual([]);
    expect(start).toBe(zip.readUInt32LE(zip.length - 6));
  });

  it('leaves folders out', async () => {
    const { members, refused } = await list(makeZip([stored('folder/', ''), stored('folder/a')]));
    expect(members.map(({ path }) => path)).toEqual(['folder/a']);
    expect(refused).toEqual([]);
  });

  it('may be empty', async () => {
    expect(await list(makeZip([]))).toEqual({ members: [], refused: [], start: 0 });
  });

  it('gives no time for the date 0', async () => {
    const zip = withEntry((entry) => entry.writeUInt16LE(0, 14));
    expect((await list(zip)).members[0]!.modified).toBe(0);
  });

  it.each([
    ['the first time of DOS', 0, (1 << 5) | 1, Date.UTC(1980, 0, 1)],
    [
      'the last one',
      (23 << 11) | (59 << 5) | 29,
      (127 << 9) | (12 << 5) | 31,
      Date.UTC(2107, 11, 31, 23, 59, 58),
    ],
  ])('reads %s', async (_, time, date, expected) => {
    const zip = withEntry((entry) => {
      entry.writeUInt16LE(time, 12);
      entry.writeUInt16LE(date, 14);
    });
    expect((await list(zip)).members[0]!.modified).toBe(expected / 1000);
  });

  it('reads names in UTF-8, in code page 437 if they are not, and with backslashes', async () => {
    const paths = [
      stored('größe'),
      { ...stored(Buffer.from([0x94, 0xff, 0x80, 0x41])), flags: 0 },
      { ...stored('ümlaut'), flags: 0 },
      stored('.\\a\\b'),
      // A name that says it is UTF-8 is taken as such.
      stored(Buffer.from([0x94, 0x62])),
    ];
    const { members } = await list(makeZip(paths));
    expect(members.map(({ path }) => path)).toEqual(['größe', 'ö\u00a0ÇA', 'ümlaut', 'a/b', '\ufffdb']);
  });

  it('is found behind a comment of any length, with an end inside', async () => {
    for (const comment of ['x', 'PK\x05\x06'.padEnd(40, '\0'), 'y'.repeat(0xffff)]) {
      const { members } = await list(makeZip([stored('a')], { comment }));
      expect(members.map(({ path }) => path)).toEqual(['a']);
    }
  });

  it.each<[string, Buffer]>([
    ['there is none', Buffer.from('PK\x03\x04'.padEnd(100, '\0'))],
    ['there is nothing', Buffer.alloc(0)],
    ['its end is cut', makeZip([stored('a')]).subarray(0, -1)],
    ['bytes follow its end', Buffer.concat([makeZip([stored('a')]), Buffer.from('x')])],
    ['it reaches into its end', makeZip([stored('a')], { start: 33 })],
    ['an entry has another signature', withEntry((entry) => entry.writeUInt8(0, 0))],
    ['an entry has a name longer than the directory', withEntry((entry) => entry.writeUInt16LE(2, 28))],
    ['an entry has more extra fields than the directory', withEntry((entry) => entry.writeUInt16LE(1, 30))],
    ['an entry has a comment longer than the directory', withEntry((entry) => entry.writeUInt16LE(1, 32))],
    ['it has fewer entries than it says', makeZip([stored('a')], { count: 2 })],
  ])('is CORRUPT if %s', async (_, zip) => {
    await expect(list(zip)).rejects.toEqual(corrupt);
  });

  it('is UNSUPPORTED in several parts', async () => {
    for (const at of [4, 6]) {
      const zip = makeZip([stored('a')]);
      zip.writeUInt16LE(1, zip.length - endBytes + at);
      await expect(list(zip)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
    }
  });

  it('is TOO_LARGE with more members than archives have, or more bytes than an index', async () => {
    const options = { zip64: true, count: limits.archiveEntries + 1 };
    await expect(list(makeZip([stored('a')], options))).rejects.toMatchObject({ code: 'TOO_LARGE' });
    const allowed = makeZip([stored('a')], { zip64: true, count: limits.archiveEntries });
    await expect(list(allowed)).rejects.toEqual(corrupt);
    const end = makeZip([]);
    end.writeUInt32LE(limits.indexBytes + 1, 12);
    const size = limits.indexBytes + 1 + endBytes;
    const sparse = {
      size,
      read: async (start: number, to: number) => (to === size ? padded(end, to - start) : new Uint8Array()),
    };
    await expect(readZipDirectory(sparse)).rejects.toMatchObject({ code: 'TOO_LARGE' });
  });
});

describe('a member of a ZIP', () => {
  it.each<[string, Buffer, string]>([
    ['a link of Unix', withEntry(() => undefined, { ...stored('a'), unixMode: 0xa1ff }), 'a link'],
    ['no name', withEntry(() => undefined, stored('', 'x')), 'names no file'],
    ['a stored size that is not its own', withEntry((entry) => entry.writeUInt32LE(2, 24)), 'impossible'],
    [
      'more bytes than deflate can make',
      withEntry((entry) => entry.writeUInt32LE(3 * 1032 + 1, 24), { path: 'a', data: 'x' }),
      'impossible',
    ],
    ['an end behind the members', withEntry((entry) => entry.writeUInt32LE(1, 42)), 'past the end'],
  ])('with %s is refused', async (_, zip, reason) => {
    expect(await refusalOf(zip)).toContain(reason);
  });

  it.each<[string, Buffer]>([
    ['a file of Unix', withEntry(() => undefined, { ...stored('a'), unixMode: 0x81ff })],
    ['the bits of a link from another system', withEntry((entry) => entry.writeUInt16LE(0xa1ff, 40))],
    [
      'as many bytes as deflate can make',
      withEntry((entry) => entry.writeUInt32LE(3 * 1032, 24), { path: 'a', data: 'x' }),
    ],
  ])('with %s is served', async (_, zip) => {
    expect(await refusalOf(zip)).toBeUndefined();
  });

  it('is refused if it has the path of another one, or begins in its data', async () => {
    const { members, refused } = await list(
      makeZip([stored('a', 'first'), stored('a', 'other'), { ...stored('c'), offset: 35 }, stored('d')]),
    );
    expect(members.map(({ path }) => path)).toEqual(['a', 'd']);
    expect(refused).toEqual([
      { path: 'a', reason: expect.stringContaining('twice') },
      { path: 'c', reason: expect.stringContaining('overlaps') },
    ]);
  });

  it('may begin where another one ends, in any order of the directory', async () => {
    const { members, refused } = await list(
      makeZip([
        { ...stored('b'), offset: 32 },
        { ...stored('a'), offset: 0 },
      ]),
    );
    expect(members.map(({ path }) => path)).toEqual(['b', 'a']);
    expect(refused).toEqual([]);
  });
});

describe('ZIP64', () => {
  const all = [24, 20, 42];
  /** Says for some of size, compressed size and offset that they are in the extra field. */
  const elsewhere = (fields: number[]) => (entry: Buffer) => {
    for (const at of fields) entry.writeUInt32LE(0xffffffff, at);
  };

  it.each<[string, Buffer, number[]]>([
    ['all of them', field(1, Buffer.concat([uint64(1), uint64(1), uint64(0)])), all],
    ['the offset', field(1, uint64(0)), [42]],
    ['the sizes', field(1, Buffer.concat([uint64(1), uint64(1)])), [24, 20]],
    [
      'the offset, behind another field',
      Buffer.concat([field(7, Buffer.alloc(3)), field(1, uint64(0))]),
      [42],
    ],
  ])('has the values that do not fit: %s', async (_, extra, fields) => {
    const { members, refused } = await list(withExtra(extra, elsewhere(fields)));
    expect(refused).toEqual([]);
    expect(members).toMatchObject([{ path: 'a', size: 1, compressedSize: 1, headerOffset: 0 }]);
  });

  it.each<[string, Buffer]>([
    ['another field', field(7, uint64(0))],
    ['a field that is too short', field(1, uint64(0).subarray(0, 7))],
    ['a field longer than its entry', field(1, uint64(0)).subarray(0, 11)],
    ['a value that is no safe integer', field(1, uint64(2 ** 60))],
  ])('with %s gives no offset', async (_, extra) => {
    const { refused } = await list(withExtra(extra, elsewhere([42])));
    expect(refused).toEqual([{ path: 'a', reason: expect.stringContaining('past the end') }]);
  });

  it('is not asked for values that fit', async () => {
    const { members } = await list(withExtra(field(1, uint64(9))));
    expect(members).toMatchObject([{ path: 'a', size: 1, headerOffset: 0 }]);
  });

  it.each([
    ['count', 10, 2],
    ['size', 12, 4],
    ['start', 16, 4],
  ])('is read if the %s of the directory does not fit', async (_, at, length) => {
    const members = [stored('a'), stored('b')];
    const zip = makeZip(members, { zip64: true });
    const right = makeZip(members);
    // The other values of the last record stay as they are without ZIP64.
    right.copy(zip, zip.length - endBytes, right.length - endBytes);
    zip.fill(0xff, zip.length - endBytes + at, zip.length - endBytes + at + length);
    expect((await list(zip)).members.map(({ path }) => path)).toEqual(['a', 'b']);
  });

  /** From the end: the record of the directory, the locator, the last record. */
  const recordAt = (zip: Buffer) => zip.length - endBytes - 76;
  const locatorAt = (zip: Buffer) => zip.length - endBytes - 20;

  it.each<[string, (zip: Buffer) => unknown, string]>([
    ['another disk', (zip) => zip.writeUInt32LE(1, recordAt(zip) + 16), 'UNSUPPORTED'],
    ['a directory on another disk', (zip) => zip.writeUInt32LE(1, recordAt(zip) + 20), 'UNSUPPORTED'],
    ['another record', (zip) => zip.writeUInt32LE(0, recordAt(zip)), 'CORRUPT'],
    ['no locator', (zip) => zip.writeUInt32LE(0, locatorAt(zip)), 'CORRUPT'],
    [
      'a record that reaches past its end',
      (zip) => zip.writeBigUInt64LE(BigInt(zip.length - endBytes - 55), locatorAt(zip) + 8),
      'CORRUPT',
    ],
    ['a start behind its end', (zip) => zip.writeBigUInt64LE(2n ** 40n, recordAt(zip) + 48), 'CORRUPT'],
  ])('with %s fails', async (_, change, code) => {
    const zip = makeZip([stored('a')], { zip64: true });
    expect((await list(zip)).members).toHaveLength(1);
    change(zip);
    await expect(list(zip)).rejects.toMatchObject({ code });
  });
});

describe('the start of a file', () => {
  it('is that of a ZIP if it begins with a member', () => {
    const zip = makeZip([stored('a')]);
    const framed = Buffer.concat([Buffer.from('x'), zip]).subarray(1);
    expect([isZip(zip), isZip(framed), isZip(zip.subarray(0, 4))]).toEqual([true, true, true]);
    expect([isZip(zip.subarray(0, 3)), isZip(Buffer.from('PK\x05\x06'))]).toEqual([false, false]);
    expect(isLocalHeader(new DataView(new Uint8Array(zip).buffer))).toBe(true);
    expect(isLocalHeader(new DataView(new ArrayBuffer(4)))).toBe(false);
  });
});
