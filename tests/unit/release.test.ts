import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeArchive } from '../../build/release/archive.ts';
import { writeChecksums } from '../../build/release/checksums.ts';
import { mergeReleases } from '../../build/release/merge.ts';
import { notesOf } from '../../build/release/notes.ts';
import { fromRoot } from '../support/paths.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'antway-release-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the notes of a release', () => {
  const changelog =
    '# Changelog\n\n## Unreleased\n\n- New.\n\n## [1.2.3] - 2026-01-31\n\n- Old.\n\n## 1.2\n\n';

  it('are the section of its version', () => {
    expect(notesOf(changelog, '1.2.3')).toBe('- Old.\n');
    expect(notesOf(changelog, undefined)).toBe('- New.\n');
  });

  it.each(['1.2', '1.2.4', '3'])('are missing for %s', (version) => {
    expect(() => notesOf(changelog, version)).toThrow(`no section “${version}”`);
  });

  it('exist for what is unreleased', () => {
    expect(notesOf(readFileSync(fromRoot('CHANGELOG.md'), 'utf8'), undefined)).toContain('- ');
  });
});

describe('an archive of a release', () => {
  it('depends on names and contents only, and contains every file', async () => {
    const paths = ['one', 'two'].map((name) => join(folder, name));
    // Written in another order and at another time.
    for (const [index, path] of paths.entries()) {
      mkdirSync(join(path, 'sub'), { recursive: true });
      const files = [
        ['b.txt', 'b'],
        ['a.txt', ''],
        ['sub/ü.txt', 'c'],
      ];
      for (const [name, text] of index ? files.reverse() : files) writeFileSync(join(path, name!), text!);
    }
    const archives = await Promise.all(
      paths.map(async (path) => {
        const file = `${path}.tar.gz`;
        await writeArchive(file, { 'it/web': path, 'it/LICENCE': fromRoot('LICENSE-MIT') }, new Date(1e12));
        return readFileSync(file);
      }),
    );
    expect(archives[0]!.equals(archives[1]!)).toBe(true);
    const members = await unpackTar(gunzipSync(archives[0]!));
    expect(members.map(({ header }) => header.name)).toEqual([
      'it/LICENCE',
      'it/web/a.txt',
      'it/web/b.txt',
      'it/web/sub/ü.txt',
    ]);
    expect(Buffer.from(members[3]!.data!).toString()).toBe('c');
  });
});

describe('releases of several platforms', () => {
  it('are merged, with the checksums of all files', () => {
    const [x64, arm64] = ['x64', 'arm64'].map((name) => join(folder, name)) as [string, string];
    for (const [path, peer] of [
      [x64, 'peer-x64.tar.gz'],
      [arm64, 'peer-arm64.tar.gz'],
    ] as const) {
      mkdirSync(path);
      writeFileSync(join(path, 'app.tar.gz'), 'the app');
      writeFileSync(join(path, peer), peer);
      writeChecksums(path);
    }
    mergeReleases([x64, arm64]);
    const check = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
      cwd: x64,
      encoding: 'utf8',
    });
    expect(check.stdout.split('\n').filter(Boolean).sort()).toEqual([
      'app.tar.gz: OK',
      'peer-arm64.tar.gz: OK',
      'peer-x64.tar.gz: OK',
    ]);
    expect(existsSync(join(arm64, 'peer-x64.tar.gz'))).toBe(false);

    writeFileSync(join(arm64, 'app.tar.gz'), 'another app');
    expect(() => mergeReleases([x64, arm64])).toThrow('app.tar.gz differs between the platforms');
  });
});
