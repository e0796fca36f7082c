// @module-tag slow
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildCli, built } from '../../src/cli/setup.mjs';
import { LoopbackServer } from '../support/loopback-server.ts';
import { closedPort } from './support/http-peer.ts';

beforeAll(buildCli);

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'antway-cli-'));
  file = join(folder, 'letter.txt');
  writeFileSync(file, 'a letter');
});
afterEach(() => rm(folder, { recursive: true }));

const commands = [
  ['get', () => ['get', 'ab'.repeat(32)]],
  ['publish', () => ['publish', file]],
] as const;

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [built.cli, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

async function run(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = start(args);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.setEncoding('utf8').on('data', (text) => (output[name] += text));
  }
  const [code] = await once(child, 'close');
  return { code, ...output };
}

describe.each(commands)('antway %s', (_, args) => {
  it('ends if no peer can be reached, and suggests npm start', async () => {
    const [first, second] = [await closedPort(), await closedPort()];
    const { code, stdout, stderr } = await run([...args(), '--peer', first, '--peer', second]);
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toMatch(/^PEERS_UNREACHABLE: /);
    expect(stderr).toContain(first);
    expect(stderr).toContain(second);
    expect(stderr).toContain('run: npm start (or: antway serve <folder>).');
    // A command that tries again would say so.
    expect(stderr).not.toContain('tries');
  });

  it('says that a peer is silent while it waits for it', async () => {
    await using silent = await LoopbackServer.start(() => undefined);
    const child = start([...args(), '--peer', silent.url]);
    let stderr = '';
    const said = new Promise<void>((resolve) => {
      child.stderr!.setEncoding('utf8').on('data', (text) => {
        stderr += text;
        if (stderr.includes('\n')) resolve();
      });
    });
    await said;
    expect(child.exitCode).toBeNull();
    expect(stderr).toBe(
      `No answer yet from ${silent.url}. To start a gateway with a peer on this computer, run: npm start (or: antway serve <folder>). To use another peer, add: --peer <url>\n`,
    );
    child.kill('SIGKILL');
    await once(child, 'close');
  });

  it('with --json reports only the error', async () => {
    const { code, stderr } = await run([...args(), '--json', '--peer', await closedPort()]);
    expect(code).toBe(4);
    expect(JSON.parse(stderr)).toMatchObject({ code: 'PEERS_UNREACHABLE' });
  });
});

it('a peer that answers with an error is no silent peer', async () => {
  await using failing = await LoopbackServer.start((_, response) => response.writeHead(500).end());
  const { code, stderr } = await run(['get', 'ab'.repeat(32), '--peer', failing.url]);
  expect(code).toBe(4);
  expect(stderr).toContain('HTTP status 500');
  expect(stderr).not.toContain('npm start');
});

it('one peer of two is enough for get, without a message', async () => {
  await using peer = await LoopbackServer.start((_, response) => response.writeHead(404).end());
  const { stderr } = await run(['get', 'ab'.repeat(32), '--peer', peer.url, '--peer', await closedPort()]);
  expect(stderr).toMatch(/^PEERS_UNREACHABLE: No peer that answered has this record/);
  expect(stderr).not.toContain('npm start');
});
