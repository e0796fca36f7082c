// @module-tag slow
// @module-tag unix
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  peerDependencies,
  peerPackageName,
  peerTargets,
  writePeerPackage,
} from '../../build/peer-packages.ts';
import { writeCommandPackage } from '../../build/release/command-package.ts';
import {
  choosePeer,
  findPrebuiltPeer,
  type PrebuiltPeer,
  prebuiltPlatforms,
} from '../../src/cli/prebuilt-peer.mjs';
import { buildCli, buildDropIn, buildPeer, buildShell, built, root } from '../../src/cli/setup.mjs';

const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  dependencies: Record<string, string>;
};

function unasked(): PrebuiltPeer | undefined {
  throw new Error('The packages were searched.');
}

const target = peerTargets.find(({ os, cpu }) => os === process.platform && cpu === process.arch);

it('each package has a platform that the command looks for', () => {
  expect(peerTargets.map(({ os, cpu }) => `${os}-${cpu}`)).toEqual(prebuiltPlatforms);
});

describe('the peer of npm start', () => {
  const prebuilt = { name: '@antway/peer-linux-x64', program: '/peer' };
  const broken = { name: '@antway/peer-linux-x64', problem: 'It does not run.' };

  const choices: [
    title: string,
    wanted: 'node' | 'rust' | undefined,
    isBuilt: boolean,
    find: () => PrebuiltPeer | undefined,
    choice: object,
  ][] = [
    ['built from the sources', undefined, true, unasked, { peer: 'rust' }],
    ['built from the sources if it is asked for', 'rust', true, unasked, { peer: 'rust' }],
    ['of the package if none is built', undefined, false, () => prebuilt, { peer: 'rust', prebuilt }],
    ['in Node if it is asked for', 'node', true, unasked, { peer: 'node' }],
    ['in Node without a package', undefined, false, () => undefined, { peer: 'node' }],
    [
      'in Node if the package’s does not run',
      undefined,
      false,
      () => broken,
      { peer: 'node', prebuiltProblem: broken.problem },
    ],
  ];
  it.each(choices)('is the one %s', (_, wanted, isBuilt, find, choice) => {
    expect(choosePeer({ wanted, isBuilt, find })).toEqual(choice);
  });
});

// Other platforms have no package.
describe.runIf(target)('a package with the peer', () => {
  const name = `@antway/${peerPackageName(target!)}`;
  let folder: string;
  /** A fresh project that has the packages from their tarballs. */
  let project: string;
  const running: ChildProcess[] = [];

  const npm = (cwd: string, ...args: string[]) =>
    execFileSync('npm', [...args, '--offline', '--loglevel=error'], { cwd, encoding: 'utf8' });

  beforeAll(async () => {
    await buildPeer();
    await buildShell();
    await buildCli();
    await buildDropIn();
    folder = mkdtempSync(join(tmpdir(), 'antway-prebuilt-'));
    project = join(folder, 'project');
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{"private":true}');
    const packed = (staged: string) => join(folder, npm(folder, 'pack', staged, '--ignore-scripts').trim());
    const peer = join(folder, 'staged-peer');
    writePeerPackage(target!, built.peer, peer);
    npm(project, 'install', '--no-audit', '--no-fund', packed(peer));
    // The packages that the command needs are this project's, so that the test does without a registry.
    const command = join(folder, 'staged-antway');
    writeCommandPackage(command, peerDependencies(peerTargets, version));
    const installed = join(project, 'node_modules/antway');
    mkdirSync(installed);
    execFileSync('tar', ['-xzf', packed(command), '--strip-components=1', '-C', installed]);
    for (const dependency of Object.keys(dependencies)) {
      const link = join(project, 'node_modules', dependency);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(root, 'node_modules', dependency), link, 'dir');
    }
  }, 600_000);
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL');
  });
  afterAll(() => folder && rmSync(folder, { recursive: true, force: true }));

  it('is installed from its tarball, and its program runs', () => {
    const program = join(project, 'node_modules', name, 'antway-peer');
    expect(findPrebuiltPeer({ version, folders: [project] })).toEqual({ name, program });
    expect(execFileSync(program, ['--version'], { encoding: 'utf8' })).toBe(`antway-peer ${version}\n`);
    const files = readdirSync(dirname(program));
    expect(files).toEqual(expect.arrayContaining(['LICENSE-MIT', 'THIRD-PARTY-NOTICES.txt', 'README.md']));
  });

  it('is refused by npm on another platform', { tags: 'full' }, () => {
    const other = peerTargets.find(({ cpu }) => cpu !== target!.cpu)!;
    const staged = join(folder, 'staged-other');
    writePeerPackage(other, built.peer, staged);
    const args = ['install', '--offline', '--no-audit', '--no-fund', staged];
    const elsewhere = join(folder, 'other-platform');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'package.json'), '{"private":true}');
    const { status, stderr } = spawnSync('npm', args, { cwd: elsewhere, encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, expect.stringContaining('EBADPLATFORM')]);
  });

  it('is an optional dependency of the command, at the command’s version', () => {
    const metadata = JSON.parse(readFileSync(join(project, 'node_modules/antway/package.json'), 'utf8'));
    expect(metadata.optionalDependencies).toEqual({
      '@antway/peer-linux-x64': version,
      '@antway/peer-linux-arm64': version,
    });
    for (const key of ['private', 'scripts', 'devDependencies']) expect(metadata).not.toHaveProperty(key);
  });

  describe('that is damaged', () => {
    /** A package in a folder of its own with another program. */
    function withProgram(program: string, { packaged = version, mode = 0o755 } = {}): string {
      const elsewhere = mkdtempSync(join(folder, 'damaged-'));
      const inside = join(elsewhere, 'node_modules', name);
      mkdirSync(inside, { recursive: true });
      writeFileSync(join(inside, 'package.json'), JSON.stringify({ name, version: packaged }));
      writeFileSync(join(inside, 'antway-peer'), program);
      chmodSync(join(inside, 'antway-peer'), mode);
      return elsewhere;
    }

    const loader = 'antway-peer: /lib/libc.so.6: version `GLIBC_2.99’ not found';
    it.each([
      ['has another version', '#!/bin/sh\n', { packaged: '9.9.9' }, 'it has version 9.9.9, and this is'],
      ['ends with an error', `#!/bin/sh\necho '${loader}' >&2; exit 1\n`, {}, `exit code 1: ${loader}`],
      ['ends with a signal', '#!/bin/sh\nkill -SEGV $$\n', {}, 'its program ends with SIGSEGV'],
      ['is another program', '#!/bin/sh\necho antway-peer 0.0.1\n', {}, 'calls itself “antway-peer 0.0.1”'],
      ['is not executable', '#!/bin/sh\n', { mode: 0o644 }, 'its program is not executable'],
      ['needs a loader that is not here', '#!/lib/ld-missing.so\n', {}, 'this system has no glibc'],
    ])('is not used if it %s, and the reason is told', (_, program, options, reason) => {
      const found = findPrebuiltPeer({ version, folders: [withProgram(program, options)] });
      expect(found).toEqual({ name, problem: expect.stringContaining(reason) });
    });

    it('is not used if its metadata cannot be read', () => {
      const elsewhere = withProgram('#!/bin/sh\n');
      writeFileSync(join(elsewhere, 'node_modules', name, 'package.json'), '{');
      const found = findPrebuiltPeer({ version, folders: [elsewhere] });
      expect(found).toEqual({ name, problem: expect.stringContaining('cannot be read') });
    });
  });

  it('is not there on other systems, and where none is installed', () => {
    expect(findPrebuiltPeer({ version, folders: [project], platform: 'darwin-arm64' })).toBeUndefined();
    expect(findPrebuiltPeer({ version, folders: [join(folder, 'nowhere')] })).toBeUndefined();
  });

  describe('of antway serve', () => {
    let site: string;
    let temporary: string;
    beforeAll(() => {
      site = join(folder, 'site');
      temporary = join(folder, 'temporary');
      for (const path of [site, temporary]) mkdirSync(path);
    });

    interface Served {
      child: ChildProcess;
      origin: string;
      log(): string;
      next(): Promise<{ address: string; gateway: string }>;
      info(): Promise<{ name: string; webTransport: { port: number } | null }>;
    }

    async function serve(...args: string[]): Promise<Served> {
      writeFileSync(join(site, 'index.html'), '<h1>first</h1>');
      const script = join(project, 'node_modules/antway/dist-cli/antway.js');
      const child = spawn(process.execPath, [script, 'serve', site, '--port', '0', '--json', ...args], {
        env: { ...process.env, TMPDIR: temporary },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      running.push(child);
      let log = '';
      child.stderr.setEncoding('utf8').on('data', (text) => (log += text));
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const next = async () => {
        const { value, done } = await lines.next();
        if (done) throw new Error(`antway serve has ended:\n${log}`);
        return JSON.parse(value);
      };
      const { gateway } = await next();
      const origin = gateway.replace('antway.localhost', '127.0.0.1');
      return {
        child,
        origin,
        log: () => log,
        next,
        info: async () => (await fetch(`${origin}/-/info`)).json(),
      };
    }

    async function interrupt(child: ChildProcess): Promise<number | null> {
      child.kill('SIGINT');
      const [code] = await once(child, 'exit');
      return code;
    }

    it('serves the gateway and each version, with WebTransport, and leaves nothing behind', async () => {
      const { child, origin, next, info } = await serve();
      const port = Number(new URL(origin).port);
      expect(await info()).toMatchObject({ name: 'antway-peer', webTransport: { port } });
      expect(await (await fetch(`${origin}/`)).text()).toContain('<title>');
      const first = (await (await fetch(`${origin}/antway.json`)).json()).names.site;
      writeFileSync(join(site, 'index.html'), '<h1>second</h1>');
      const second = (await next()).address;
      expect(second).not.toBe(first);
      expect((await (await fetch(`${origin}/antway.json`)).json()).names.site).toBe(second);
      for (const address of [first, second]) {
        expect((await fetch(`${origin}/chunk/${address}`)).status).toBe(200);
      }
      const write = await fetch(`${origin}/chunk/${first}`, { method: 'PUT', body: 'x' });
      expect(write.status).toBe(403);
      expect(await interrupt(child)).toBe(0);
      expect(readdirSync(temporary)).toEqual([]);
    });

    it('is the one in Node if it is asked for', { tags: 'full' }, async () => {
      const { child, info } = await serve('--peer', 'node');
      expect(await info()).toMatchObject({ name: 'antway-node-peer', webTransport: null });
      expect(await interrupt(child)).toBe(0);
    });

    it('is the one in Node after the peer in Rust has ended', { tags: 'full' }, async () => {
      const { child, origin, info } = await serve();
      expect(await info()).toMatchObject({ name: 'antway-peer' });
      const successor = spawnSync('pgrep', ['-P', String(child.pid), 'antway-peer'], { encoding: 'utf8' });
      process.kill(Number(successor.stdout), 'SIGKILL');
      const nameNow = () =>
        info().then(
          ({ name }) => name,
          () => 'none',
        );
      await expect.poll(nameNow, { timeout: 20_000 }).toBe('antway-node-peer');
      const { names } = await (await fetch(`${origin}/antway.json`)).json();
      expect((await fetch(`${origin}/chunk/${names.site}`)).status).toBe(200);
      expect(await interrupt(child)).toBe(0);
    });

    it('is the one in Node, with a reason, if the program does not run; --peer rust fails then', async () => {
      const program = join(project, 'node_modules', name, 'antway-peer');
      chmodSync(program, 0o644);
      try {
        const { child, info } = await serve();
        expect(await info()).toMatchObject({ name: 'antway-node-peer' });
        expect(await interrupt(child)).toBe(0);
        await expect(serve('--peer', 'rust')).rejects.toThrow('its program is not executable');
      } finally {
        chmodSync(program, 0o755);
      }
    });
  });

  it('serves at npm start, with WebTransport at once', { tags: 'full' }, async () => {
    const program = join(project, 'node_modules', name, 'antway-peer');
    const prebuilt = JSON.stringify({ name, program });
    const script = `import('./src/cli/serve.mjs').then(({ serve }) => serve({ peer: 'rust', prebuilt: ${prebuilt} }))`;
    const child = spawn(process.execPath, ['--eval', script], {
      cwd: root,
      env: { ...process.env, ANTWAY_DATA: join(folder, 'data'), ANTWAY_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running.push(child);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    await expect
      .poll(() => output, { timeout: 50_000 })
      .toContain(`${name} serves: WebTransport is available.`);
    const origin = /(http:\/\/127\.0\.0\.1:\d+)\/ works as before/.exec(output)![1]!;
    const info = await (await fetch(`${origin}/-/info`)).json();
    expect(info).toMatchObject({ name: 'antway-peer', webTransport: { port: expect.any(Number) } });
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
});
