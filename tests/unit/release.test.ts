import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { peerTargets } from '../../build/peer-packages.ts';
import { writeArchive } from '../../build/release/archive.ts';
import { writeChecksums } from '../../build/release/checksums.ts';
import { notesOf } from '../../build/release/notes.ts';
import { readOptions } from '../../build/release/options.ts';
import { checkTargets } from '../../build/release/peer-binary.ts';
import { SetupError } from '../../src/cli/setup.mjs';
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

it('the checksums of a release cover all other files', () => {
  for (const name of ['app.tar.gz', 'NOTES.md']) writeFileSync(join(folder, name), name);
  writeChecksums(folder);
  writeChecksums(folder);
  const check = spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(check.stdout.split('\n').filter(Boolean)).toEqual(['NOTES.md: OK', 'app.tar.gz: OK']);
});

describe('the targets of a release', () => {
  const [x64, arm64] = ['x86_64-unknown-linux-gnu', 'aarch64-unknown-linux-gnu'] as const;

  /** A folder of libraries for each of the targets. */
  function libraries(...triples: string[]): (triple: string) => string {
    for (const triple of triples) {
      mkdirSync(join(folder, triple));
      writeFileSync(join(folder, triple, 'libstd-0123456789abcdef.rlib'), '');
    }
    return (triple) => join(folder, triple);
  }

  it('need Rust’s standard library, and the error says how to get it', () => {
    const library = libraries(x64);
    const check = () => checkTargets(peerTargets, library);
    expect(check).toThrow(SetupError);
    expect(check).toThrow(`rustup target add ${arm64}. Or build without: --target ${x64}`);
    mkdirSync(join(folder, arm64)); // as an interrupted installation leaves it
    expect(check).toThrow('is not installed');
  });

  it('are all there if each has its library', () => {
    expect(() => checkTargets(peerTargets, libraries(x64, arm64))).not.toThrow();
  });

  it.each([
    [['--target', 'sparc-sun-solaris'], 'There is no target sparc-sun-solaris; there are x86_64'],
    [['--bundles-only', '--target', x64], '--bundles-only builds for no target.'],
    [['--merge'], '--merge'],
    [['folder'], 'folder'],
  ])('are not read from %s', (args, message) => {
    expect(() => readOptions(args)).toThrow(SetupError);
    expect(() => readOptions(args)).toThrow(message);
  });

  it.each([
    [[], [x64, arm64]],
    [['--target', arm64], [arm64]],
    [['--bundles-only'], []],
  ])('of %s are %s', (args, triples) => {
    expect(readOptions(args).targets.map(({ triple }) => triple)).toEqual(triples);
  });
});
