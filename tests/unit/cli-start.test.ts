// @module-tag slow
// @module-tag unix
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkCargo, root, run } from '../../src/cli/setup.mjs';
import { LoopbackServer } from '../support/loopback-server.ts';

describe('npm start', () => {
  let data: string;
  let started: ChildProcess;
  let output: string;
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'antway-start-'));
    output = '';
  });
  afterEach(async () => {
    if (started.exitCode === null && started.signalCode === null) {
      started.kill('SIGTERM');
      await once(started, 'close');
    }
    rmSync(data, { recursive: true, force: true });
  });

  /** @param options the source of the argument of `serve`. */
  function start(env: NodeJS.ProcessEnv, options = '{}'): void {
    // Without the setup before it, which `npm test` has done: a test must not wait for a compiler.
    const script = `import('./src/cli/serve.mjs').then(({ serve }) => serve(${options})).catch((error) => { console.error(error.message); process.exit(1); })`;
    started = spawn(process.execPath, ['--eval', script], {
      cwd: root,
      env: { ...process.env, ANTWAY_DATA: data, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [started.stdout!, started.stderr!]) stream.on('data', (text) => (output += text));
  }

  async function said(words: string): Promise<void> {
    await expect.poll(() => output, { timeout: 50_000, interval: 50 }).toContain(words);
  }

  it('serves the page, its configuration and the sample site’s chunks, and ends with Ctrl-C', async () => {
    start({ ANTWAY_PORT: '0' });
    await said('Press Ctrl-C to stop.');
    const gateway = /Gateway +(http:\/\/antway\.localhost:(\d+))\//.exec(output)!;
    const address = new RegExp(`${gateway[1]}/([0-9a-f]{64})/`).exec(output)![1]!;
    // Node may not know the name.
    const origin = `http://127.0.0.1:${gateway[2]}`;
    expect(output).toContain(`${origin}/ works as before`);

    const page = await fetch(`${origin}/`);
    expect(page.headers.get('Content-Type')).toMatch(/^text\/html/);
    const config = await (await fetch(`${origin}/antway.json`)).json();
    expect(config).toMatchObject({ peers: ['/'], names: { sample: address }, sample: { address } });
    expect((await fetch(`${origin}/chunk/${address}`)).status).toBe(200);
    expect(output).toContain('start with: npm start -- --network');

    if (!output.includes('This machine has no IPv6'))
      expect((await fetch(`http://[::1]:${gateway[2]}/antway.json`)).status).toBe(200);

    started.kill('SIGINT');
    const [code] = await once(started, 'close');
    expect(code).toBe(0);
    await expect(fetch(origin)).rejects.toThrow();
  });

  // The peer's process id comes from /proc.
  it.runIf(process.platform === 'linux')('says so and fails when the peer dies', async () => {
    start({ ANTWAY_PORT: '0' });
    await said('Press Ctrl-C to stop.');
    process.kill(
      Number(readFileSync(`/proc/${started.pid}/task/${started.pid}/children`, 'utf8')),
      'SIGKILL',
    );
    const [code] = await once(started, 'close');
    expect(code).toBe(1);
    expect(output).toContain('The peer ended unexpectedly (SIGKILL)');
  });

  it.each(['node', 'rust'])('the peer (%s) ends when the command is killed', async (peer) => {
    start({ ANTWAY_PORT: '0' }, `{ peer: '${peer}' }`);
    await said('Press Ctrl-C to stop.');
    const origin = /(http:\/\/127\.0\.0\.1:\d+)\/ works as before/.exec(output)![1]!;
    expect((await fetch(`${origin}/-/info`)).status).toBe(200);
    started.kill('SIGKILL');
    await once(started, 'close');
    await expect.poll(() => fetch(origin).catch(() => 'ended'), { timeout: 20_000 }).toBe('ended');
  });

  it('serves with a peer in Node, from which the peer in Rust takes over and which serves again after it', async () => {
    // The file appears when the test allows the build to end.
    const gate = join(data, 'gate');
    const build = `async () => { const { existsSync } = await import('node:fs'); while (!existsSync('${gate}')) await new Promise((r) => setTimeout(r, 50)); }`;
    start({ ANTWAY_PORT: '0' }, `{ peer: 'node', buildSuccessor: ${build} }`);
    await said('built in the background');
    const origin = /(http:\/\/127\.0\.0\.1:\d+)\/ works as before/.exec(output)![1]!;
    const address = /\/([0-9a-f]{64})\//.exec(output)![1]!;
    const info = async () => (await fetch(`${origin}/-/info`)).json();
    expect(await info()).toMatchObject({ name: 'antway-node-peer', webTransport: null });
    expect((await fetch(`${origin}/chunk/${address}`)).status).toBe(200);

    writeFileSync(gate, '');
    await said('has taken over');
    expect(await info()).toMatchObject({
      name: 'antway-peer',
      webTransport: { port: Number(new URL(origin).port) },
    });
    expect((await fetch(`${origin}/chunk/${address}`)).status).toBe(200);
    expect(await (await fetch(`${origin}/antway.json`)).json()).toMatchObject({ names: { sample: address } });

    const successor = spawnSync('pgrep', ['-P', String(started.pid), 'antway-peer'], { encoding: 'utf8' });
    process.kill(Number(successor.stdout), 'SIGKILL');
    await said('The peer in Node serves again.');
    await expect.poll(info).toMatchObject({ name: 'antway-node-peer' });
    expect((await fetch(`${origin}/chunk/${address}`)).status).toBe(200);
  });

  it('serves on with the peer in Node if the peer in Rust cannot be built', { tags: 'full' }, async () => {
    const build = `async () => { const { SetupError } = await import('./src/cli/setup.mjs'); throw new SetupError('no compiler'); }`;
    start({ ANTWAY_PORT: '0' }, `{ peer: 'node', buildSuccessor: ${build} }`);
    await said('no compiler');
    const origin = /(http:\/\/127\.0\.0\.1:\d+)\/ works as before/.exec(output)![1]!;
    expect((await fetch(`${origin}/-/health`)).status).toBe(200);
  });

  it('serves on when parts fail in an unexpected way that are built in the background', {
    tags: 'full',
  }, async () => {
    const defect = (words: string) => `async () => { throw new TypeError('${words}'); }`;
    start(
      { ANTWAY_PORT: '0' },
      `{ peer: 'node', buildExample: ${defect('first defect')}, buildSuccessor: ${defect('second defect')} }`,
    );
    await said('The peer in Rust is missing: TypeError: second defect');
    expect(output).toContain('The example of another site is missing: TypeError: first defect');
    const origin = /(http:\/\/127\.0\.0\.1:\d+)\/ works as before/.exec(output)![1]!;
    expect((await fetch(`${origin}/-/health`)).status).toBe(200);
    expect(started.exitCode).toBeNull();
  });

  it('leaves no peer in Node when it is killed', { tags: 'full' }, async () => {
    start({ ANTWAY_PORT: '0' }, "{ peer: 'node' }");
    await said('Another site');
    const origin = /(http:\/\/127\.0\.0\.1:\d+)\/ works as before/.exec(output)![1]!;
    started.kill('SIGKILL');
    const isServing = () =>
      fetch(`${origin}/-/health`).then(
        () => true,
        () => false,
      );
    await expect.poll(isServing, { timeout: 20_000 }).toBe(false);
  });

  it('says on Windows that the peer in Rust does not run there', { tags: 'full' }, async () => {
    const windows = "Object.defineProperty(process, 'platform', { value: 'win32' })";
    start({ ANTWAY_PORT: '0' }, `(${windows}, { peer: 'node' })`);
    await said('the peer in Rust does not\nrun on Windows');
    const { platform } = process;
    try {
      Object.defineProperty(process, 'platform', { value: 'win32' });
      expect(checkCargo).toThrow('The peer in Rust does not run on Windows.');
    } finally {
      Object.defineProperty(process, 'platform', { value: platform });
    }
  });

  it('says what is missing without Rust', async () => {
    start({ ANTWAY_PORT: '0' }, "{ peer: 'node' }");
    await said('Without Rust, WebTransport and the Autonomi network are missing.');
  });

  it('does not take a port from another program', async () => {
    await using other = await LoopbackServer.start(() => undefined);
    const { port } = other;
    start({ ANTWAY_PORT: String(port) });
    const [code] = await once(started, 'close');
    expect(code).toBe(1);
    expect(output).toContain(`Port ${port} (ANTWAY_PORT) is taken`);
  });
});

// The state of a process comes from /proc.
describe.runIf(process.platform === 'linux')('a build in the background', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'antway-background-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Like cargo, starts another program. Writes the id of that program into the file. */
  const commandOf = (file: string) =>
    `sleep 300 & echo $! > ${file}.partial; mv ${file}.partial ${file}; wait`;

  /** A process that has ended may stay as a zombie if the machine has no init process. */
  function isRunning(pid: string): boolean {
    try {
      return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
    } catch {
      return false;
    }
  }

  async function startedBy(file: string): Promise<string> {
    await expect.poll(() => existsSync(file), { timeout: 20_000 }).toBe(true);
    const pid = readFileSync(file, 'utf8').trim();
    expect(isRunning(pid)).toBe(true);
    return pid;
  }

  it('ends with all of its programs when it is cancelled', async () => {
    const file = join(folder, 'pid');
    const cancel = new AbortController();
    const { signal } = cancel;
    const ended = run('sh', ['-c', commandOf(file)], { signal, isBackground: true, stdio: 'ignore' });
    const rejected = expect(ended).rejects.toThrow('SIGKILL');
    const pid = await startedBy(file);
    cancel.abort();
    await rejected;
    await expect.poll(() => isRunning(pid)).toBe(false);
    await expect(run('sh', ['-c', 'true'], { signal })).rejects.toThrow('cancelled');
  });

  it('ends with all of its programs when the process that started it exits', async () => {
    const file = join(folder, 'pid');
    const end = join(folder, 'end');
    const script = `import('./src/cli/setup.mjs').then(({ run }) => {
      run('sh', ['-c', ${JSON.stringify(commandOf(file))}], { isBackground: true, stdio: 'ignore' });
      import('node:fs').then(({ existsSync }) => setInterval(() => existsSync('${end}') && process.exit(3), 20));
    })`;
    const child = spawn(process.execPath, ['--eval', script], { cwd: root, stdio: 'ignore' });
    const exited = once(child, 'exit');
    const pid = await startedBy(file);
    writeFileSync(end, '');
    expect(await exited).toEqual([3, null]);
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});
