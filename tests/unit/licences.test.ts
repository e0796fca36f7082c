import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  isPermissive,
  noticesFile,
  packageFolder,
  ThirdPartyNotices,
} from '../../build/third-party-notices.ts';
import { fromRoot } from '../support/paths.ts';

/** The packages that a user of the npm package installs, with the packages that they need. */
function installed(folder: string, seen = new Map<string, unknown>()): Map<string, unknown> {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const name of Object.keys(dependencies)) {
    let parent = folder;
    const path = () => join(parent, 'node_modules', name, 'package.json');
    while (!existsSync(path())) {
      if (parent === dirname(parent)) throw new Error(`${name} is not installed`);
      parent = dirname(parent);
    }
    const real = realpathSync(dirname(path()));
    if (seen.has(real)) continue;
    seen.set(real, JSON.parse(readFileSync(join(real, 'package.json'), 'utf8')).license);
    installed(real, seen);
  }
  return seen;
}

it('every package that the npm package needs has a permissive licence', () => {
  const licences = installed(fromRoot('.'));
  expect(licences.size).toBeGreaterThan(8);
  for (const [folder, licence] of licences) expect(isPermissive(licence), `${folder}: ${licence}`).toBe(true);
});

it.each(['dist', 'dist-drop-in', 'dist-cli'])('%s has the licences of the packages in it', (folder) => {
  const text = readFileSync(fromRoot(`${folder}/${noticesFile}`), 'utf8');
  const names = [...text.matchAll(/^ {2}(\S+) [\d.]+, /gm)].map(([, name]) => name);
  expect(names).toContain('assemblyscript');
  if (folder !== 'dist-cli')
    expect(names).toEqual(expect.arrayContaining(['valibot', 'idb-keyval', 'libsodium']));
  if (folder === 'dist') expect(names).toEqual(expect.arrayContaining(['preact', 'brotli-wasm']));
  for (const name of names) expect(text).toMatch(new RegExp(`={80}\n${name} [\\d.]+ \\(`));
});

describe('a licence', () => {
  it.each([
    'MIT',
    'Apache-2.0',
    '(MIT OR GPL-3.0-or-later)',
    'MIT AND Zlib',
    'LGPL-2.1 OR ISC',
    '(MIT OR GPL-3.0-only) AND Zlib',
    'MIT AND Zlib OR GPL-3.0-only AND ISC',
  ])('%s is permissive', (expression) => expect(isPermissive(expression)).toBe(true));

  it.each([
    'GPL-3.0-or-later',
    'MIT AND GPL-2.0',
    '(MIT OR Apache-2.0) AND GPL-3.0-only',
    'GPL-3.0-only AND (MIT OR Apache-2.0)',
    '(MIT',
    'MIT)',
    'MIT OR',
    'MIT ISC',
    '()',
    'MPL-2.0',
    'UNLICENSED',
    '',
    undefined,
    { type: 'MIT' },
  ])('%j is not', (expression) => expect(isPermissive(expression)).toBe(false));
});

describe('the notices of a build', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'antway-licences-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function makePackage(name: string, license: string, text?: string): string {
    const path = join(folder, 'node_modules', name);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'package.json'), JSON.stringify({ name, version: '1.2.3', license }));
    if (text) writeFileSync(join(path, 'LICENCE.md'), text);
    return path;
  }

  it('contain the text of each licence', () => {
    const notices = new ThirdPartyNotices();
    notices.add(makePackage('@a/b', 'MIT', 'Do what you like.'));
    notices.write(folder);
    const text = readFileSync(join(folder, noticesFile), 'utf8');
    expect(text).toContain('@a/b 1.2.3 (MIT)\n\nDo what you like.');
  });

  it('end the build for a copyleft licence and for a missing text', () => {
    const copyleft = new ThirdPartyNotices();
    copyleft.add(makePackage('a', 'GPL-3.0-only', 'Share.'));
    expect(() => copyleft.write(folder)).toThrow('a 1.2.3 has the licence “GPL-3.0-only”');
    const silent = new ThirdPartyNotices();
    silent.add(makePackage('b', 'MIT'));
    expect(() => silent.write(folder)).toThrow('b 1.2.3 has no file with its licence');
  });

  it('know the package of a module', () => {
    const pnpm = '/x/node_modules/.pnpm/@a+b@1.0.0/node_modules/@a/b';
    expect(packageFolder(`${pnpm}/dist/index.js?url`)).toBe(pnpm);
    expect(packageFolder('\0/x/node_modules/c/i.js')).toBe('/x/node_modules/c');
    expect(packageFolder('/x/src/main.ts')).toBeUndefined();
    expect(packageFolder('/x/node_modules/.cache/antway/libsodium.wasm')).toBeUndefined();
  });
});
