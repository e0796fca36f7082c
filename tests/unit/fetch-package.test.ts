import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { buildFetch, built, root } from '../../src/cli/setup.mjs';
import { MemoryChunkStore } from '../../src/node-peer/chunk-store.ts';
import { NodePeer } from '../../src/node-peer/node-peer.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';

const consumer = `import { type AntArchive, AntError, type AntFile, type AntFetch, createAntFetch } from '@antway/fetch';
declare global {
  var asked: string;
}
const [peer = '', site = '']: string[] = JSON.parse(asked);
const antFetch: AntFetch = createAntFetch({ peers: [peer], names: { home: site } });
const response: Response = await antFetch('ant://home/a.txt', { headers: { Range: 'bytes=0-2' } });
const start: string = await response.text();
const opened: AntFile | AntArchive = await antFetch.open(site);
if (opened.kind !== 'archive') throw new TypeError('It is no archive.');
const paths: string[] = opened.entries().map(({ path }) => path);
const file: AntFile = await opened.get('a.txt');
const bytes: Uint8Array<ArrayBuffer> = await file.read(1, 4);
const code = await antFetch('ant://home/none').catch((error: unknown) => error instanceof AntError && error.code);
// @ts-expect-error: there is no such option
const mistyped = () => createAntFetch({ peers: [], nmaes: {} });
await antFetch.close();
console.log(JSON.stringify([start, paths, new TextDecoder().decode(bytes), code, typeof mistyped]));
`;

let folder: string;
let installed: string;

/** Packs the folder as npm does, and unpacks the tarball where npm would install it. */
beforeAll(async () => {
  await buildFetch();
  folder = mkdtempSync(join(tmpdir(), 'antway-fetch-'));
  installed = join(folder, 'node_modules/@antway/fetch');
  mkdirSync(installed, { recursive: true });
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  execFileSync(npm, ['pack', built.fetch, '--offline'], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  execFileSync('tar', ['-xzf', join(folder, tarball!), '--strip-components=1', '-C', installed]);
}, 300_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the package @antway/fetch', () => {
  it('has complete metadata, licences and source maps, and no dependencies', () => {
    const metadata = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(metadata).toMatchObject({ name: '@antway/fetch', version, license, sideEffects: false });
    expect(metadata.dependencies).toBeUndefined();
    const names = readdirSync(installed);
    expect(names).toEqual(
      expect.arrayContaining([
        ...['LICENSE-APACHE', 'LICENSE-MIT', 'README.md', 'THIRD-PARTY-NOTICES.txt'],
        ...['index.js', 'index.js.map', 'types'],
      ]),
    );
    expect(readFileSync(join(installed, 'THIRD-PARTY-NOTICES.txt'), 'utf8')).toContain('valibot');
    for (const name of names.filter((name) => name.endsWith('.js'))) {
      const code = readFileSync(join(installed, name), 'utf8');
      const imported = Array.from(
        code.matchAll(/(?:^|[;}])\s*import\b[^'"()]*['"]([^'"]+)['"]/gm),
        ([, from]) => from!,
      );
      expect(imported.filter((from) => !from.startsWith('./'))).toEqual([]);
    }
  });

  it('type-checks in a strict project and reads content in Node', async () => {
    const compilerOptions = {
      strict: true,
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
      types: [],
      outDir: 'out',
      rootDir: '.',
    };
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'main.ts'), consumer);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    let complaints = '';
    try {
      execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    } catch (error) {
      complaints = (error as { stdout: string }).stdout;
    }
    expect(complaints).toBe('');

    const store = new MemoryChunkStore(10_000_000);
    const blake3 = await loadBlake3();
    const peer = await NodePeer.start({
      listen: ['127.0.0.1:0'],
      store,
      blake3,
      write: 'none',
      version: '0',
    });
    try {
      const put = async (hex: string, bytes: Uint8Array) =>
        void (await store.write(Address.fromHex(hex), bytes));
      const site = await publish(await makeTarchive({ 'a.txt': 'abcdef'.repeat(1000), 'b.txt': 'b' }), {
        put,
      });
      const asked = JSON.stringify(JSON.stringify([peer.url, site]));
      writeFileSync(
        join(folder, 'run.mjs'),
        `globalThis.asked = ${asked};\nawait import('./out/main.js');\n`,
      );
      const child = spawn(process.execPath, ['run.mjs'], { cwd: folder });
      const output: Buffer[] = [];
      child.stdout.on('data', (piece) => output.push(piece));
      child.stderr.on('data', (piece) => output.push(piece));
      await once(child, 'close');
      expect(Buffer.concat(output).toString()).toBe(
        `${JSON.stringify(['abc', ['a.txt', 'b.txt'], 'bcd', 'NOT_FOUND', 'function'])}\n`,
      );
    } finally {
      await peer.close();
    }
  });
});
