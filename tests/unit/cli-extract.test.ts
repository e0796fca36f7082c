import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { extractFolder, safePath } from '../../src/cli/extract-folder.ts';
import type { OpenedFolder } from '../../src/cli/open-content.ts';
import { Archive } from '../../src/content/archive.ts';
import { memorySource } from '../../src/content/byte-source.ts';
import { AntwayError } from '../../src/errors.ts';

const { signal } = new AbortController();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'antway-extract-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** An archive that no reader has checked. The file `broken` cannot be read. */
function archiveOf(...paths: string[]): OpenedFolder {
  const members = paths.map((path) => ({
    path,
    size: path.length,
    modified: 0,
    load: async () => {
      if (path === 'broken') throw new AntwayError('CORRUPT', 'It is broken.');
      return memorySource(new TextEncoder().encode(path));
    },
  }));
  return {
    kind: 'folder',
    address: Address.fromBytes(new Uint8Array(32)),
    archive: new Archive(members),
    folder: '',
  };
}

const extract = (opened: OpenedFolder, force = false) =>
  extractFolder(opened, join(folder, 'out'), { force, signal });

describe('a folder that is written to disk', () => {
  it('has all files, and counts them', async () => {
    const paths = ['a', 'b/c', 'b/d/e', '.hidden', 'ü', '-rf', 'con.txt'];
    expect(await extract(archiveOf(...paths))).toEqual({
      files: paths.length,
      renamed: 0,
      size: paths.reduce((sum, path) => sum + Buffer.byteLength(path), 0),
    });
    for (const path of paths) expect(readFileSync(join(folder, 'out', path), 'utf8')).toBe(path);
    expect(readdirSync(folder)).toEqual(['out']);
  });

  it('has no control characters and no marks of direction in the names', async () => {
    const paths = ['\u001b[2J', 'invoice\u202efdp.exe', 'a\nb/c\rd', '\u2066x\u2069', '\ufeff', 'plain'];
    expect(await extract(archiveOf(...paths))).toMatchObject({ files: paths.length, renamed: 5 });
    const names = ['_[2J', '_', '_x_', 'a_b', 'invoice_fdp.exe', 'plain'];
    expect(readdirSync(join(folder, 'out')).sort()).toEqual(names.sort());
    expect(readFileSync(join(folder, 'out/a_b/c_d'), 'utf8')).toBe('a\nb/c\rd');
  });

  it('does not appear if two names would be the same on disk', async () => {
    const extracting = extract(archiveOf('a\u202e', 'a\u202d'));
    await expect(extracting).rejects.toMatchObject({ code: 'CORRUPT' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    ['a path that leads out', ['a', '../evil']],
    ['a path that leads out later', ['a', 'b/../../evil']],
    ['an absolute path', ['/evil']],
    ['a path with a NUL', ['a\0b']],
    ['a path of dots', ['./a']],
    ['a path of a folder', ['a/']],
  ])('does not appear if the archive has %s', async (_, paths) => {
    await expect(extract(archiveOf(...paths))).rejects.toMatchObject({ code: 'REFUSED' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    ['a file in the place of a folder', ['a', 'a/b']],
    ['a name that the disk cannot have', ['x'.repeat(300)]],
    ['a file that cannot be read', ['a', 'broken']],
  ])('does not appear if the archive has %s', async (_, paths) => {
    await expect(extract(archiveOf(...paths))).rejects.toMatchObject({ code: 'CORRUPT' });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('replaces an empty folder, and a folder with files only by force', async () => {
    const out = join(folder, 'out');
    mkdirSync(out);
    await extract(archiveOf('a'));
    writeFileSync(join(out, 'mine'), 'mine');
    await expect(extract(archiveOf('b'))).rejects.toMatchObject({ code: 'REFUSED' });
    expect(readdirSync(out).sort()).toEqual(['a', 'mine']);
    await expect(extract(archiveOf('broken'), true)).rejects.toMatchObject({ code: 'CORRUPT' });
    expect(readdirSync(out).sort()).toEqual(['a', 'mine']);
    await extract(archiveOf('b'), true);
    expect([readdirSync(out), readdirSync(folder)]).toEqual([['b'], ['out']]);
  });

  it('replaces a link, and not the folder behind it', async () => {
    const behind = join(folder, 'behind');
    mkdirSync(behind);
    writeFileSync(join(behind, 'mine'), 'mine');
    symlinkSync(behind, join(folder, 'out'));
    await extract(archiveOf('a'), true);
    expect(readdirSync(behind)).toEqual(['mine']);
  });

  it('does not replace a file without force', async () => {
    writeFileSync(join(folder, 'out'), 'mine');
    await expect(extract(archiveOf('a'))).rejects.toMatchObject({ code: 'REFUSED' });
    expect(readFileSync(join(folder, 'out'), 'utf8')).toBe('mine');
  });
});

it('a safe path on Windows has no name that stands for a device, a drive or another file', () => {
  const reserved = [
    'NUL',
    'con.txt',
    'a/Aux',
    'com1 .log',
    'LPT³',
    'conout$',
    'a:b',
    'a\\b',
    'a.',
    'a ',
    'a?',
  ];
  for (const path of reserved) {
    expect(() => safePath(path, 'win32'), path).toThrow(AntwayError);
    expect(safePath(path, 'linux').join('/')).toBe(path);
  }
  for (const path of ['console', 'com0x', 'nulls/a', '.con', 'a.nul'])
    expect(safePath(path, 'win32').join('/')).toBe(path);
});

it('a safe path has only names', () => {
  expect(safePath('a/b c/..d/.e')).toEqual(['a', 'b c', '..d', '.e']);
  for (const path of ['', '/', 'a//b', '..', 'a/..', 'a/.', 'a\0']) {
    expect(() => safePath(path)).toThrow(AntwayError);
  }
});
