import { describe, expect, it } from 'vitest';
import { listTar } from '../../src/archive/list-tar.ts';
import { isTar } from '../../src/archive/tar-header.ts';
import { limits } from '../../src/limits.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { pax, tar, tarchive, tarHeader, tarMember } from './support/tar.ts';

const list = (bytes: Uint8Array, withSignatures?: boolean) =>
  listTar(bufferAccess(bytes), limits.indexTailBytes, undefined, withSignatures);

/** A tar with one member, and an index with one line. */
const indexed = (member: Uint8Array, line: string) =>
  tar(member, tarMember({ name: 'archive.tar.idx' }, `${line}\n`));

const a = tarMember({ name: 'a', mtime: 9 }, 'hello');
/** Only headers have times. */
const byIndex = { members: [{ path: 'a', offset: 512, size: 5, modified: 0 }], refused: [] };
const byHeaders = { members: [{ path: 'a', offset: 512, size: 5, modified: 9 }], refused: [] };

describe('the members of a tar', () => {
  it('come from its index', async () => {
    expect(await list(indexed(a, 'a 512 5'))).toEqual(byIndex);
    expect(await list(indexed(tarMember({ name: './a' }, 'hello'), './a 512 5'))).toEqual(byIndex);
  });

  it('have signatures if they are asked for', async () => {
    const signature = { xorname: 'ab'.repeat(32), signature: 'cd' };
    const bytes = indexed(a, `a 512 5 ${signature.xorname} ${signature.signature}`);
    expect((await list(bytes, true)).members).toEqual([{ ...byIndex.members[0], signature }]);
    expect(await list(bytes)).toEqual(byIndex);
  });

  it('come with the lines that are refused', async () => {
    const { members, refused } = await list(indexed(a, 'a 512 5\n../b 512 5'));
    expect(members).toEqual(byIndex.members);
    expect(refused.map(({ path }) => path)).toEqual(['../b']);
  });

  it.each([
    ['has no line', ''],
    ['gives another position', 'a 1024 5'],
    ['gives a position before any data', 'a 511 5'],
    ['gives the position 0', 'a 0 5'],
    ['gives another size', 'a 512 4'],
    ['gives another name', 'b 512 5'],
    ['gives another name of 100 characters', `${'b'.repeat(100)} 512 5`],
  ])('come from the headers if the index %s', async (_, line) => {
    expect(await list(indexed(a, line))).toEqual(byHeaders);
  });

  it('come from the headers if the index lists what is no file', async () => {
    const link = tarMember({ name: 'a', type: '2' });
    expect(await list(indexed(link, 'a 512 0'))).toEqual({ members: [], refused: [] });
  });

  it.each([
    ['is longer than 100 characters', 'b'.repeat(101)],
    ['is not ASCII', 'ä'],
    ['ends with what is not ASCII', 'a\u007f'],
    ['begins with what is not ASCII', '\u0001a'],
  ])('come from the index if the name %s, whatever the header says', async (_, name) => {
    const { members } = await list(indexed(a, `${name} 512 5`));
    expect(members).toEqual([{ path: name, offset: 512, size: 5, modified: 0 }]);
  });

  it('come from the headers of the outer tar if its last member is a tarchive', async () => {
    const inner = tarchive({ x: 'inner' });
    const { members } = await list(
      tar(tarMember({ name: 'first' }, 'outer'), tarMember({ name: 'in' }, inner)),
    );
    expect(members.map(({ path }) => path)).toEqual(['first', 'in']);
  });

  it('are those before the damage, which is named', async () => {
    const { members, refused } = await list(tar(a, new Uint8Array(512).fill(1)));
    expect(members).toEqual(byHeaders.members);
    expect(refused).toEqual([{ path: '', reason: expect.stringContaining('at byte 1024') }]);
  });

  it('are refused if no URL can name them, and the others stay', async () => {
    const long = 'x'.repeat(limits.pathCharacters);
    const bytes = tar(
      tarMember({ name: '/etc/passwd' }, 'x'),
      pax('x', { path: `${long}y` }),
      tarMember({ name: 'cut' }, 'x'),
      pax('x', { path: long }),
      tarMember({ name: 'cut' }, 'x'),
      tarMember({ name: './b' }, 'x'),
    );
    const { members, refused } = await list(bytes);
    expect(members.map(({ path }) => path)).toEqual([long, 'b']);
    expect(refused).toEqual([
      { path: '/etc/passwd', reason: expect.stringContaining('absolute') },
      { path: long, reason: expect.stringContaining('too long') },
    ]);
  });

  it('are the last ones of those with one path, and not the index itself', async () => {
    const bytes = tar(
      tarMember({ name: 'b' }, 'old'),
      tarMember({ name: './archive.tar.idx' }, 'no index'),
      tarMember({ name: './b' }, 'newer'),
    );
    const { members, refused } = await list(bytes);
    expect(members).toMatchObject([{ path: 'b', size: 5 }]);
    expect(refused).toEqual([]);
  });
});

describe('a file', () => {
  it('is a tar if it begins with a header', () => {
    expect(isTar(tarHeader({ name: 'a' }))).toBe(true);
    expect(isTar(tarHeader({ name: 'a' }).fill(1, 0, 9))).toBe(false);
    expect(isTar(new Uint8Array(512))).toBe(false);
  });
});
