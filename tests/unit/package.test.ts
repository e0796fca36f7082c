// @module-tag slow
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { compressedSuffixes, filesOf } from '../../build/files-of.ts';
import { buildDropIn, built, root } from '../../src/cli/setup.mjs';
import { languages } from '../../src/languages.ts';

beforeAll(buildDropIn, 300_000);

/**
 * Of a file as a host sends it: in Brotli, which every browser accepts wherever a worker can run. Small files have no
 * compressed copy.
 */
function compressedBytes(path: string): number {
  const copy = `${path}${compressedSuffixes.brotli}`;
  return statSync(existsSync(copy) ? copy : path).size;
}

/**
 * The compressed bytes that the browser loads before the shell shows anything: its document, the scripts and styles that
 * the document names, and the texts of another language than English.
 */
function shellBytes(): number {
  const document = join(built.shell, 'index.html');
  const paths = Array.from(
    readFileSync(document, 'utf8').matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g),
    ([, path]) => join(built.shell, path!),
  );
  expect(paths.length).toBeGreaterThan(1);
  const texts = filesOf(join(built.shell, 'assets'))
    .filter((name) => languages.some((language) => name.startsWith(`${language}-`)))
    .map((name) => compressedBytes(join(built.shell, 'assets', name)));
  expect(texts).toHaveLength(languages.length - 1);
  return [document, ...paths].reduce((sum, path) => sum + compressedBytes(path), Math.max(...texts));
}

describe('a first visit', () => {
  it.each([
    ['the drop-in’s script', () => compressedBytes(join(built.dropIn, 'antway.js')), 6_144],
    [
      'the drop-in’s worker, without WebAssembly',
      () => compressedBytes(join(built.dropIn, 'antway-sw.js')),
      109_000,
    ],
    ['the gateway’s worker, without WebAssembly', () => compressedBytes(join(built.shell, 'sw.js')), 112_000],
    ['the shell’s first screen', shellBytes, 75_000],
  ])('%s is within its budget', (name, measure, budget) => {
    const bytes = measure();
    console.log(`${name}: ${bytes.toLocaleString('en')} of ${budget.toLocaleString('en')} bytes, compressed`);
    expect(bytes).toBeLessThanOrEqual(budget);
  });

  it('loads no WebAssembly as text', () => {
    // The kernel's, which every request needs, is 13 kB in hexadecimal; libsodium's and Brotli's are files of their own.
    const worker = readFileSync(join(built.dropIn, 'antway-sw.js'), 'utf8');
    const embedded = Array.from(
      worker.matchAll(/AGFzbQ[A-Za-z0-9+/]+|0061736d[0-9a-f]+/g),
      ([text]) => text.length,
    );
    expect(Math.max(0, ...embedded)).toBeLessThan(15_000);
  });
});

describe('the package', () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

  it('holds every file that it exports, and those that a site copies', { tags: 'full' }, () => {
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const output = execFileSync(npm, ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [{ files }] = JSON.parse(output) as [{ files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    const exported = Object.entries<string | Record<string, string>>(exports)
      .filter(([name]) => !name.includes('*'))
      .flatMap(([, target]) => (typeof target === 'string' ? target : Object.values(target)))
      .map((path) => path.replace('./', ''));
    expect(paths).toEqual(expect.arrayContaining(exported));
    for (const pattern of [
      /antway\.js$/,
      /antway-sw\.js$/,
      /antway-handler\.js$/,
      /antway-remove\.js$/,
      /brotli.*\.wasm$/,
    ]) {
      expect(paths.filter((path) => path.startsWith('dist-drop-in/') && pattern.test(path))).toHaveLength(1);
    }
    expect(paths.filter((path) => /^(src|tests|peer|sw)\//.test(path))).toEqual([]);
  });

  it('has no effect in a program without a page, and tells so with a code', () => {
    const address = 'ab'.repeat(32);
    const program = `import { createAntway, DropInError } from 'antway';
const antway = createAntway({ worker: '/sub/antway-sw.js', config: { names: { home: '${address}' } } });
antway.watch();
const { ready, fetch, pin, unpin, pins, stats } = antway;
const promises = [ready, fetch('home'), pin('home'), unpin('home'), pins(), stats()];
const codes = await Promise.all(promises.map((each) => each.catch((error) => error instanceof DropInError && error.code)));
let code;
try { antway.url('1234'); } catch (error) { code = error.code; }
console.log(JSON.stringify({ codes, code, urls: [antway.url('home'), antway.url('ant://${address}', 'a b.txt')] }));`;
    // In the folder of the package, its name leads to itself.
    const args = ['--input-type=module', '--eval', program];
    const output = execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    expect(JSON.parse(output)).toEqual({
      codes: Array(6).fill('NO_PAGE'),
      code: 'BAD_ADDRESS',
      urls: ['/sub/ant/home', `/sub/ant/${address}/a%20b.txt`],
    });
  });

  it('has types that a site’s TypeScript can use', { tags: 'full' }, () => {
    const site = mkdtempSync(join(tmpdir(), 'antway-types-'));
    try {
      symlinkSync(join(root, 'node_modules'), join(site, 'node_modules'), 'dir');
      const compilerOptions = { strict: true, noEmit: true, module: 'esnext', moduleResolution: 'bundler' };
      const paths = Object.fromEntries(
        ['.', './handler', './workbox'].map((name) => [
          name.replace('.', 'antway'),
          [join(root, exports[name].types)],
        ]),
      );
      const project = (file: string, lib: string[]) => ({
        compilerOptions: {
          ...compilerOptions,
          types: [],
          lib: ['es2024', ...lib],
          paths,
          skipLibCheck: true,
        },
        files: [file],
      });
      const files = {
        'page.ts': `import { createAntway, DropInError, type Pin } from 'antway';
const antway = createAntway({ gateway: 'https://g.example/', config: { peers: ['https://p.example'] } });
export const pins: Promise<Pin[]> = antway.pins();
export const served: Promise<number> = antway.stats().then(({ requests }) => requests.total);
export const isBad = (error: unknown): boolean => error instanceof DropInError && error.code === 'BAD_CONFIG';
// @ts-expect-error: there is no such option
createAntway({ gatway: '' });
// @ts-expect-error: nor such a key
createAntway({ config: { peer: [] } });
`,
        'worker.ts': `import { createHandler } from 'antway/handler';
import { antwayRoute } from 'antway/workbox';
const antway = createHandler({ prefix: 'ant/' });
addEventListener('fetch', ((event: FetchEvent) => {
  if (antway.matches(event.request.url)) event.respondWith(antway.handle(event));
}) as EventListener);
export const methods: readonly string[] = antwayRoute().methods;
`,
        'page.json': JSON.stringify(project('page.ts', ['dom'])),
        'worker.json': JSON.stringify(project('worker.ts', ['webworker'])),
      };
      for (const [name, text] of Object.entries(files)) writeFileSync(join(site, name), text);
      for (const name of ['page.json', 'worker.json']) {
        const tsc = join(root, 'node_modules/typescript/bin/tsc');
        expect(() =>
          execFileSync(process.execPath, [tsc, '-p', join(site, name)], { encoding: 'utf8' }),
        ).not.toThrow();
      }
    } finally {
      rmSync(site, { recursive: true, force: true });
    }
  });

  it('prints and keeps the hashes that an integrity attribute needs', () => {
    const hashes = JSON.parse(readFileSync(join(built.dropIn, 'integrity.json'), 'utf8'));
    expect(Object.keys(hashes)).toEqual([
      'antway.js',
      'antway-sw.js',
      'antway-handler.js',
      'antway-remove.js',
    ]);
    for (const hash of Object.values(hashes)) expect(hash).toMatch(/^sha384-[A-Za-z0-9+/]{64}$/);
  });
});
