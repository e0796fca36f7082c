import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Archive } from '../../src/content/archive.ts';
import { ContentFile } from '../../src/content/content-file.ts';
import { loadTarchive } from '../../src/content/tarchive.ts';
import { limits } from '../../src/limits.ts';
import { readInnerMap, unshrink } from '../../src/self-encryption/file.ts';
import { encryptedFile, noise } from './support/encrypted-file.ts';
import { chunksOver } from './support/fake-network.ts';
import { pax, tar, tarchive, tarMember } from './support/tar.ts';

async function open(bytes: Uint8Array) {
  const { map, records } = await encryptedFile(bytes);
  const { decrypted, peers } = chunksOver(records);
  const root = await unshrink(map, (nested) => readInnerMap(nested, (of, i) => decrypted.read(of, i)));
  const archive = await loadTarchive(new ContentFile(root, decrypted));
  return { archive, peers, root };
}

async function textOf(archive: Archive, path: string): Promise<string> {
  const source = await archive.member(path)!.load();
  return new TextDecoder().decode(await source.read(0, source.size));
}

const fixture = (name: string) =>
  new Uint8Array(readFileSync(new URL(`../fixtures/anttp/${name}/plain.bin`, import.meta.url)));

describe('a tarchive', () => {
  it('written by AntTP’s tools opens by its index', async () => {
    const { archive } = await open(fixture('tarchive_site'));
    expect([...archive.members.keys()].toSorted()).toEqual([
      'app-conf.json',
      'app.js',
      'assets/img/a.svg',
      'assets/style.css',
      'docs/readme.txt',
      'index.html',
      'sub/index.html',
    ]);
    expect(archive.refused).toEqual([]);
    expect(await textOf(archive, 'docs/readme.txt')).toHaveLength(10);
  });

  it('written by AntTP with signatures in its index opens by it', async () => {
    const { archive } = await open(fixture('tarchive_as_coded_2'));
    expect(Array.from(archive.members.values(), ({ path, size }) => [path, size])).toEqual([
      ['image01.png', 212_345],
      ['image02.jpeg', 268_901],
    ]);
    expect(archive.refused).toEqual([]);
  });

  it('with more members than the end of the tar shows at first opens by its index', async () => {
    const { archive } = await open(fixture('tarchive_many300'));
    expect(archive.members.size).toBe(300);
    expect(await textOf(archive, 'dir/file_0299_xxxxxxxxxxxxxxxxxxxx.txt')).toHaveLength(11);
  });

  it('costs only the chunks of its end, of one header, and of the member that is read', async () => {
    const files = {
      'a.txt': 'first',
      'big.bin': 'x'.repeat(3 * limits.plaintextChunkBytes + 100_000),
      'z.txt': 'last',
    };
    const { archive, peers, root } = await open(tarchive(files));
    expect(root.count).toBe(4);
    expect(await textOf(archive, 'z.txt')).toBe('last');
    const fetched = Array.from({ length: 4 }, (_, i) => peers.asked.includes(root.address(i).hex));
    expect(fetched).toEqual([true, false, false, true]);
  });

  it('with an index that lies is listed by its headers instead', async () => {
    const bytes = tar(
      tarMember({ name: 'a' }, 'one'),
      tarMember({ name: 'b' }, 'two'),
      tarMember({ name: 'archive.tar.idx' }, 'a 1024 3\n'),
    );
    const { archive } = await open(bytes);
    expect(await textOf(archive, 'a')).toBe('one');
    expect([...archive.members.keys()]).toEqual(['a', 'b']);
  });

  it('inside a tar, as its last member, is not taken for the tar’s own index', async () => {
    // Both first members are of one size, so that only their names tell the two apart.
    const inner = tarchive({ 'inner.txt': 'aaaa' });
    const outer = Buffer.concat([
      tarMember({ name: 'outer.txt' }, 'bbbb'),
      tarMember({ name: 'inner.tar' }, inner.subarray(0, -1024)),
      new Uint8Array(1024),
    ]);
    const { archive } = await open(outer);
    expect([...archive.members.keys()]).toEqual(['outer.txt', 'inner.tar']);
  });

  it('may have a first member whose long name stands in a pax header', async () => {
    const path = `${'folder/'.repeat(20)}ä.txt`;
    const header = pax('x', { path });
    const file = tarMember({ name: 'PaxName' }, 'hello');
    const index = `${path} ${header.length + 512} 5\n`;
    const { archive } = await open(tar(header, file, tarMember({ name: 'archive.tar.idx' }, index)));
    expect(await textOf(archive, path)).toBe('hello');
    expect(archive.member(path)!.modified).toBe(0);
  });

  it('refuses invalid paths of its index, and serves the other members', async () => {
    const { archive } = await open(tarchive({ 'a.txt': 'hello' }, '../evil 512 5\nb.txt 999999999 5\n'));
    expect(await textOf(archive, 'a.txt')).toBe('hello');
    expect(archive.refused.map(({ path }) => path)).toEqual(['../evil', 'b.txt']);
  });

  it('brings its routes along, and says when they cannot be read', async () => {
    const routes = '{"routeMap": {"*": "a.txt"}}';
    expect(
      (await open(tarchive({ 'a.txt': 'x', 'app-conf.json': routes }))).archive.find('any'),
    ).toMatchObject({
      member: { path: 'a.txt' },
    });
    expect(
      (await open(tarchive({ 'a.txt': 'x', 'app-config.json': routes }))).archive.find('any'),
    ).toMatchObject({
      member: { path: 'a.txt' },
    });
    const { archive } = await open(tarchive({ 'a.txt': 'x', 'app-conf.json': '{' }));
    expect(archive.find('any')).toMatchObject({ kind: 'missing' });
    expect(archive.refused).toMatchObject([{ path: 'app-conf.json' }]);
  });
});

describe('a plain tar', () => {
  it.each(['ustar', 'gnu', 'pax', 'v7'])('made by the system’s tar in format %s opens', async (format) => {
    const folder = mkdtempSync(join(tmpdir(), 'antway-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const files = {
      'index.html': '<p>hello',
      'a folder/ä ö.txt': 'text',
      empty: '',
      'noise.bin': Buffer.from(noise(5000)).toString('base64'),
      [`${'long/'.repeat(format === 'v7' ? 5 : 25)}file.txt`]: 'deep',
    };
    for (const [path, data] of Object.entries(files)) {
      mkdirSync(join(folder, 'site', path, '..'), { recursive: true });
      writeFileSync(join(folder, 'site', path), data);
    }
    execFileSync('tar', ['cf', 'out.tar', `--format=${format}`, '-C', 'site', '.'], { cwd: folder });
    const { archive } = await open(new Uint8Array(readFileSync(join(folder, 'out.tar'))));
    expect([...archive.members.keys()].toSorted()).toEqual(Object.keys(files).toSorted());
    for (const [path, data] of Object.entries(files)) expect(await textOf(archive, path)).toBe(data);
    expect(archive.refused).toEqual([]);
    expect(archive.member('index.html')!.modified).toBeGreaterThan(1_600_000_000);
  });

  it('to which files were appended serves the last of one name', async () => {
    const { archive } = await open(tar(tarMember({ name: 'a' }, 'old'), tarMember({ name: './a' }, 'new!')));
    expect(await textOf(archive, 'a')).toBe('new!');
  });

  it('that is damaged serves the members before the damage, and reports that others are missing', async () => {
    const { archive } = await open(tar(tarMember({ name: 'a' }, 'ok'), new Uint8Array(512).fill(7)));
    expect(await textOf(archive, 'a')).toBe('ok');
    expect(archive.refused).toMatchObject([
      { reason: expect.stringContaining('could not be read to its end') },
    ]);
  });

  it('with one path of a megabyte for all its members is refused without copies of the path', async () => {
    const members = Array.from({ length: 5_000 }, () => tarMember({ name: 'a' }));
    const { archive } = await open(tar(pax('g', { path: './a/'.repeat(250_000) }), ...members));
    expect(archive.members.size).toBe(0);
    expect(archive.refused).toHaveLength(5_000);
    for (const { path, reason } of archive.refused) {
      expect(reason).toBe('its path is too long');
      expect(path.length).toBeLessThanOrEqual(limits.pathCharacters);
    }
  });

  it('cuts long names, and still refuses them', async () => {
    const long = 'ü'.repeat(400_000);
    const { archive } = await open(
      tar(
        pax('x', { path: long }),
        tarMember({ name: 'a' }),
        tarMember({ name: 'L', type: 'L' }, long),
        tarMember({ name: 'b' }),
      ),
    );
    expect(archive.refused.map(({ reason }) => reason)).toEqual([
      'its path is too long',
      'its path is too long',
    ]);
  });

  it('refuses paths that lead out of it', async () => {
    const { archive } = await open(
      tar(tarMember({ name: '../a' }), tarMember({ name: '/b' }), tarMember({ name: 'c' })),
    );
    expect([...archive.members.keys()]).toEqual(['c']);
    expect(archive.refused.map(({ path }) => path)).toEqual(['../a', '/b']);
  });
});
