import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The layers from the top down, as docs and folders name them. A row imports from the rows below it. */
const layers = [
  ['sw', 'src/publisher', 'src/page', 'src/vite-plugin'],
  ['src/shell', 'src/drop-in', 'src/cli', 'src/fetch'],
  ['src/site-pages', 'src/node-peer'],
  ['src/gateway'],
  ['src/library'],
  ['src/payment'],
  ['src/publish', 'src/owner'],
  ['src/content'],
  ['src/chunks'],
  ['src/peers'],
  ['src/nodes'],
  ['src/self-encryption'],
  ['src/archive'],
  ['src/names'],
  ['src/util'],
  [
    'src/stats',
    'src/errors',
    'src/schema',
    'src/server-config',
    'src/config',
    'src/catalogue',
    'src/peer-url',
    'src/limits',
    'src/languages',
    'src/themes',
    'src/address',
    'src/address-text',
    'src/version',
    'src/build',
  ],
];

/** Layer and part of a source file: `src/errors.ts` is a part by itself, `src/peers/selection/pool.ts` belongs to one. */
function placeOf(path: string): { layer: number; part: string } | undefined {
  const layer = layers.findIndex((parts) => parts.some((part) => isIn(path, part)));
  return layer < 0 ? undefined : { layer, part: layers[layer]!.find((part) => isIn(path, part))! };
}

function isIn(path: string, part: string): boolean {
  return path.startsWith(`${part}/`) || path.replace(/\.\w+$/, '') === part;
}

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|tsx|mjs)$/.test(name))
    .map((name) => `${folder}/${name}`);
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function foldersOf(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${folder}/${name}`);
}

/** The folders that a text names as `src/util/`. */
function foldersIn(text: string): string[] {
  return Array.from(text.matchAll(/`([\w/-]+)\/`/g), ([, path]) => path!);
}

/** The sources that a source imports, types and dynamic imports included. */
function importsOf(path: string): string[] {
  const text = read(path);
  const imports = text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g);
  return Array.from(imports, ([, to]) =>
    relative(root, join(root, dirname(path), to!.replace(/\?.*$/, ''))),
  ).filter((to) => /^(src|sw)\//.test(to));
}

/** Why an import is against the order, or undefined. */
function fault(from: string, to: string): string | undefined {
  const [importer, imported] = [placeOf(from), placeOf(to)];
  if (!importer || !imported) return `${from} imports ${to}, and one of them is in no layer`;
  if (importer.part === imported.part || importer.layer < imported.layer) return undefined;
  const isFoundation = importer.layer === layers.length - 1 && imported.layer === importer.layer;
  return isFoundation
    ? undefined
    : `${from} imports ${to}, which is ${importer.layer === imported.layer ? 'beside' : 'above'} it`;
}

describe('the layers', () => {
  const all = [...sources('src'), ...sources('sw')];

  it('import only from those below them', () => {
    const imports = all.flatMap((from) => importsOf(from).map((to) => [from, to] as const));
    // Else the pattern above has stopped finding them.
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.map(([from, to]) => fault(from, to)).filter((why) => why !== undefined)).toEqual([]);
  });

  it('would not let an import up or sideways pass', () => {
    expect(fault('src/peers/selection/pool.ts', 'src/chunks/chunks.ts')).toContain('above');
    expect(fault('src/errors.ts', 'src/peers/selection/pool.ts')).toContain('above');
    expect(fault('src/shell/app.tsx', 'src/cli/main.ts')).toContain('beside');
    expect(fault('src/peers/selection/pool.ts', 'src/peers/peer.ts')).toBeUndefined();
    expect(fault('sw/sw.ts', 'src/errors.ts')).toBeUndefined();
  });

  it('are in the table of the architecture in this order', () => {
    const [, section = ''] = read('docs/explanation/architecture.md').split('\n## Layers\n');
    const [, ...rows] = section.split('\n## ')[0]!.split('\n| ');
    const named = rows
      .flatMap((row) => foldersIn(row.split(' | ')[0]!))
      .filter((path) => /^(src\/|sw$)/.test(path));
    expect(named.toSorted()).toEqual(['sw', ...foldersOf('src')].toSorted());
    const places = named.map((path) => placeOf(`${path}/`)!.layer);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it('and the folders of the tests are in the table for contributors', () => {
    const named = new Set(foldersIn(read('CONTRIBUTING.md')));
    const folders = [...foldersOf('src'), ...foldersOf('tests')];
    expect(folders.filter((path) => !named.has(path))).toEqual([]);
  });

  it('have all folders of the gateway in both tables', () => {
    const gateway = foldersOf('src/gateway').map((path) => `\`${path.slice('src/gateway/'.length)}/\``);
    expect(gateway.length).toBeGreaterThan(3);
    for (const path of ['docs/explanation/architecture.md', 'CONTRIBUTING.md']) {
      expect(gateway.filter((name) => !read(path).includes(name))).toEqual([]);
    }
  });

  it('are in folders that all have a place in the order', () => {
    expect(all.filter((path) => !placeOf(path))).toEqual([]);
  });
});
