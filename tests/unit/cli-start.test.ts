import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { root } from '../../src/cli/setup.mjs';
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
    if (started.exitCode === null) {
      started.kill('SIGTERM');
      await once(started, 'close');
    }
    rmSync(data, { recursive: true, force: true });
  });

  function start(env: NodeJS.ProcessEnv): void {
    // Without the setup before it, which `npm test` has done: a test must not wait for a compiler.
    const script =
      "import('./src/cli/serve.mjs').then(({ serve }) => serve()).catch((error) => { console.error(error.message); process.exit(1); })";
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
    await said('Ctrl-C ends it.');
    const gateway = /Gateway +(http:\/\/antway\.localhost:(\d+))\//.exec(output)!;
    const address = new RegExp(`${gateway[1]}/([0-9a-f]{64})/`).exec(output)![1]!;
    // Node may not know the name.
    const origin = `http://127.0.0.1:${gateway[2]}`;
    expect(output).toContain(`${origin}/ works as before`);

    const page = await fetch(`${origin}/`);
    expect(page.headers.get('Content-Type')).toMatch(/^text\/html/);
    const config = await (await fetch(`${origin}/antway.json`)).json();
    expect(config).toEqual({ peers: ['/'], names: { sample: address } });
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
    await said('Ctrl-C ends it.');
    process.kill(
      Number(readFileSync(`/proc/${started.pid}/task/${started.pid}/children`, 'utf8')),
      'SIGKILL',
    );
    const [code] = await once(started, 'close');
    expect(code).toBe(1);
    expect(output).toContain('The peer ended unexpectedly (SIGKILL)');
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
