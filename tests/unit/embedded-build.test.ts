import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { embedBuild } from '../../build/embed-build.ts';
import type { Build } from '../../src/build.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'antway-embed-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The build object in the worker's script, after `embedBuild` for these files. */
function embedded(files: Record<string, string>): Build {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  embedBuild(folder);
  const script = readFileSync(join(folder, 'sw.js'), 'utf8');
  return JSON.parse(script.replace('self.build = ', ''));
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('base64');

const document = `<!doctype html><link rel="icon" href="/icon.svg"><link rel="apple-touch-icon" href="/apple-touch-icon.png"><a href="https://example.org/other.js"></a>
<script type="module" src="/assets/index-1.js"></script><link rel="stylesheet" href="/assets/index-2.css">`;
const files = {
  'sw.js': 'self.build = globalThis.__ANTWAY_BUILD__',
  'index.html': document,
  'icon.svg': '<svg/>',
  'apple-touch-icon.png': 'icon',
  'assets/index-1.js': 'import("./later-3.js")',
  'assets/index-2.css': 'p {}',
  'assets/later-3.js': 'later',
  'other.js': 'other',
  'robots.txt': '',
  '-/self-test.html': 'self-test',
  '-/site.js': 'site',
  '-/page.css': 'p {}',
  '-/site-worker.js': 'importScripts("//gateway.example/sw.js");\n',
  '-/bridge.html': 'bridge',
  '-/root.html': 'root',
};

it('lists the document, its scripts and styles, and the files of a site’s origin as the first, and none for crawlers', () => {
  const { first, installed, optional } = embedded(files);
  expect(Object.keys(first).sort()).toEqual([
    '/-/bridge.html',
    '/-/files.json',
    '/-/page.css',
    '/-/site.js',
    '/assets/index-1.js',
    '/assets/index-2.css',
    '/index.html',
  ]);
  expect(installed.toSorted()).toEqual([
    '/-/root.html',
    '/apple-touch-icon.png',
    '/assets/later-3.js',
    '/icon.svg',
    '/other.js',
  ]);
  expect(optional).toEqual(['/-/self-test.html']);
});

it('can be repeated after the document changed, and replaces the lists', () => {
  const before = embedded(files);
  const { 'sw.js': _, ...changed } = { ...files, 'index.html': document.replace('index-1.js', 'later-3.js') };
  const after = embedded(changed);
  expect(after.hash).not.toBe(before.hash);
  expect(after.first).toHaveProperty(['/assets/later-3.js']);
  expect(after.first).not.toHaveProperty(['/assets/index-1.js']);
  expect(after.installed).toContain('/assets/index-1.js');
});

it('changes the script of a site’s worker with each build, so that browsers see an update', () => {
  const script = () => readFileSync(join(folder, '-/site-worker.js'), 'utf8');
  const { hash } = embedded(files);
  expect(script()).toBe(`${files['-/site-worker.js']}// Build ${hash}\n`);
  const again = embedBuild(folder);
  expect(again).toBe(hash);
  const changed = embedded({ 'icon.svg': '<svg><g/></svg>' });
  expect(changed.hash).not.toBe(hash);
  expect(script()).toBe(`${files['-/site-worker.js']}// Build ${changed.hash}\n`);
});

it('writes the hashes of the files that are not first into a list, whose hash the worker has', () => {
  const { first, installed, optional } = embedded(files);
  const list = readFileSync(join(folder, '-/files.json'));
  expect(first['/-/files.json']).toBe(sha256(list));
  const listed = JSON.parse(list.toString()) as Record<string, string>;
  expect(Object.keys(listed).sort()).toEqual([...installed, ...optional].sort());
  expect(listed['/assets/later-3.js']).toBe(sha256('later'));
});
