import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanTar } from '../../src/archive/list-tar.ts';
import { parseTarHeader } from '../../src/archive/tar-header.ts';
import { memorySource } from '../../src/content/byte-source.ts';
import { limits } from '../../src/limits.ts';
import { pax, tar, tarHeader, tarMember } from './support/tar.ts';

const scan = (bytes: Uint8Array, maxMembers = 100) => scanTar(memorySource(bytes), maxMembers);

describe('a tar header', () => {
  it('tells name, size, type and time', () => {
    expect(parseTarHeader(tarHeader({ name: 'a.txt', size: 511, mtime: 1_700_000_000 }))).toEqual({
      name: 'a.txt',
      size: 511,
      type: '0',
      modified: 1_700_000_000,
    });
  });

  it('has a prefix before its name in ustar, and other things there in GNU’s form', () => {
    const fields = { name: 'b.txt', prefix: 'a/long/folder' };
    expect(parseTarHeader(tarHeader(fields))!.name).toBe('a/long/folder/b.txt');
    expect(parseTarHeader(tarHeader({ ...fields, magic: 'ustar  \0' }))!.name).toBe('b.txt');
    expect(parseTarHeader(tarHeader({ ...fields, magic: '' }))!.name).toBe('b.txt');
  });

  it('may fill the name field to its end', () => {
    const name = 'x'.repeat(100);
    expect(parseTarHeader(tarHeader({ name }))!.name).toBe(name);
  });

  it.each([
    ['\0', '0'],
    ['7', '0'],
    ['0', '0'],
    ['5', '5'],
    ['x', 'x'],
  ])('of type %j is read as %j', (type, read) => {
    expect(parseTarHeader(tarHeader({ type }))!.type).toBe(read);
  });

  it('may give a size of more than 8 GiB in base 256', () => {
    const sizeField = new Uint8Array(12);
    new DataView(sizeField.buffer).setBigUint64(4, 2n ** 40n + 5n);
    sizeField[0] = 0x80;
    expect(parseTarHeader(tarHeader({ sizeField }))!.size).toBe(2 ** 40 + 5);
  });

  it.each([
    ['negative', new Uint8Array(12).fill(0xff)],
    ['beyond what a number holds', Uint8Array.of(0x80, 0, 0, 0, 0xff, ...new Uint8Array(7))],
    ['no number', new TextEncoder().encode('12345678x00\0')],
    ['decimal', new TextEncoder().encode('00000000999\0')],
  ])('with %s as its size is invalid', (_, sizeField) => {
    expect(parseTarHeader(tarHeader({ sizeField }))).toBeUndefined();
  });

  it('is invalid if any byte was changed, or if its block is empty or short', () => {
    const block = tarHeader({ name: 'a.txt', size: 5 });
    fc.assert(
      fc.property(fc.nat(511), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = block.slice();
        changed[at]! ^= flip;
        // The checksum field itself ends with a NUL and a blank, which carry no meaning.
        if (at < 148 || at > 153) expect(at === 154 || at === 155 || !parseTarHeader(changed)).toBe(true);
        else expect(parseTarHeader(changed)?.name ?? 'a.txt').toBe('a.txt');
      }),
    );
    expect(parseTarHeader(new Uint8Array(512))).toBeUndefined();
    expect(parseTarHeader(block.subarray(0, 511))).toBeUndefined();
  });
});

describe('a scan of a tar', () => {
  it('lists its files with the places of their data, and leaves folders, links and devices out', async () => {
    const bytes = tar(
      tarMember({ name: 'folder/', type: '5' }),
      tarMember({ name: 'folder/a.txt', mtime: 7 }, 'hello'),
      tarMember({ name: 'link', type: '2' }),
      tarMember({ name: 'device', type: '3' }),
      tarMember({ name: 'b.txt' }, 'x'.repeat(513)),
      tarMember({ name: 'empty' }),
    );
    const { members, damage } = await scan(bytes);
    expect(damage).toBeUndefined();
    expect(members).toEqual([
      { path: 'folder/a.txt', offset: 1024, size: 5, modified: 7 },
      { path: 'b.txt', offset: 3072, size: 513, modified: 0 },
      { path: 'empty', offset: 4608, size: 0, modified: 0 },
    ]);
    expect(new TextDecoder().decode(bytes.subarray(1024, 1029))).toBe('hello');
  });

  it('takes path, size and time of a file from the pax header before it, and only of that file', async () => {
    const long = `${'folder/'.repeat(30)}ä.txt`;
    const { members } = await scan(
      tar(
        pax('x', { path: long, mtime: '1700000000.123', comment: 'x=y' }),
        tarMember({ name: 'cut' }, 'one'),
        tarMember({ name: 'next', mtime: 5 }, 'two'),
        pax('x', { size: '5' }),
        tarMember({ name: 'sized', size: 0 }, 'three'),
      ),
    );
    expect(members).toMatchObject([
      { path: long, size: 3, modified: 1_700_000_000 },
      { path: 'next', size: 3, modified: 5 },
      { path: 'sized', size: 5 },
    ]);
  });

  it('takes from a global pax header the fields that no other header has', async () => {
    const { members } = await scan(
      tar(
        pax('g', { path: 'everywhere' }),
        tarMember({ name: 'a' }),
        pax('x', { path: 'own' }),
        tarMember({}),
      ),
    );
    expect(members.map(({ path }) => path)).toEqual(['everywhere', 'own']);
  });

  it('takes a long name from GNU’s header before a file, and only for that file', async () => {
    const long = 'x'.repeat(300);
    const { members } = await scan(
      tar(
        tarMember({ name: '././@LongLink', type: 'L' }, `${long}\0`),
        tarMember({ name: long.slice(0, 100) }),
        tarMember({ name: 'next' }),
      ),
    );
    expect(members.map(({ path }) => path)).toEqual([long, 'next']);
  });

  it.each([
    ['whose length is no number', 'x path=a\n'],
    ['whose length is too large', '99 path=a\n'],
    ['whose length is too small', '1 path=a\n'],
    ['without a length', 'path'],
    ['of zeros', '\0'.repeat(20)],
  ])('goes on with the header’s own name after a pax record %s', async (_, data) => {
    const { members } = await scan(tar(tarMember({ type: 'x' }, data), tarMember({ name: 'own' })));
    expect(members.map(({ path }) => path)).toEqual(['own']);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['a block that is no header', tar(tarMember({ name: 'a' }), new Uint8Array(512).fill(1)), /at byte 512/],
    ['a file that reaches past the end', tarMember({ name: 'b', size: 5000 }, 'x'), /“b” reaches past/],
    [
      'a name longer than any',
      tar(tarMember({ type: 'L' }, 'x'.repeat(limits.tarMetadataBytes + 1))),
      /too long/,
    ],
  ])('ends at %s, and says so', async (_, bytes, damage) => {
    expect((await scan(bytes)).damage).toMatch(damage);
  });

  it('gives the files before the damage', async () => {
    const { members } = await scan(tar(tarMember({ name: 'a' }), tarMember({ name: 'b', size: 9000 })));
    expect(members.map(({ path }) => path)).toEqual(['a']);
  });

  it('ends at the most files that are wanted, and says so', async () => {
    const files = Array.from({ length: 4 }, (_, i) => tarMember({ name: `${i}` }));
    expect((await scan(tar(...files), 4)).damage).toBeUndefined();
    const { members, damage } = await scan(tar(...files), 3);
    expect(members).toHaveLength(3);
    expect(damage).toContain('more than 3');
  });

  it('ends after a bounded number of headers when a tar consists of folders', async () => {
    const folder = tarMember({ name: 'f/', type: '5' });
    let reads = 0;
    const endless = {
      ...memorySource(folder),
      size: Number.MAX_SAFE_INTEGER - 511,
      read: async () => {
        reads++;
        return folder;
      },
    };
    expect((await scanTar(endless, 100)).damage).toContain('headers');
    expect(reads).toBe(limits.tarHeaders);
  });

  it('stops when the signal aborts', async () => {
    const source = {
      ...memorySource(tar(tarMember({}))),
      read: async () => Promise.reject(new Error('gone')),
    };
    await expect(scanTar(source, 100, AbortSignal.abort())).rejects.toThrow('gone');
  });
});
