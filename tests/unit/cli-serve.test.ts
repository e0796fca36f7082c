// @module-tag slow
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { completionScript } from '../../src/cli/completion-script.ts';
import { createProgram } from '../../src/cli/program.ts';
import { buildCli, built } from '../../src/cli/setup.mjs';
import { NodePeerProcess } from '../support/node-peer-process.ts';

beforeAll(buildCli, 120_000);

let scratch: string;
let site: string;
const running: ChildProcess[] = [];
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'antway-serve-test-'));
  site = join(scratch, 'site');
  mkdirSync(site);
  writeFileSync(join(site, 'index.html'), '<h1>first</h1>');
});
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  rmSync(scratch, { recursive: true, force: true });
});

interface Line {
  event: string;
  address: string;
  url: string;
}

/** Starts a command that prints a line of JSON for each version. */
function start(...args: string[]): { child: ChildProcess; next(): Promise<Line> } {
  const child = spawn(process.execPath, [built.cli, ...args, '--json'], {
    env: { ...process.env, TMPDIR: scratch },
    cwd: scratch,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  const lines: Interface = createInterface({ input: child.stdout! });
  const iterator = lines[Symbol.asyncIterator]();
  return { child, next: async () => JSON.parse((await iterator.next()).value) };
}

async function interrupt(child: ChildProcess): Promise<number | null> {
  child.kill('SIGINT');
  const [code] = await once(child, 'exit');
  return code;
}

const textOf = async (url: string) => (await fetch(url)).text();

describe('antway serve', () => {
  it('serves the gateway and each version, and ends with nothing left behind', async () => {
    const { child, next } = start('serve', site, '--port', '0');
    const first = await next();
    const { origin } = new URL(first.url.replace('antway.localhost', '127.0.0.1'));
    expect(await textOf(`${origin}/`)).toContain('<title>');
    expect(JSON.parse(await textOf(`${origin}/antway.json`))).toEqual({
      peers: ['/'],
      names: { site: first.address },
    });
    const chunk = async (address: string) => (await fetch(`${origin}/chunk/${address}`)).status;
    writeFileSync(join(site, 'index.html'), '<h1>second</h1>');
    const second = await next();
    expect(second.address).not.toBe(first.address);
    expect(JSON.parse(await textOf(`${origin}/antway.json`)).names).toEqual({ site: second.address });
    expect([await chunk(first.address), await chunk(second.address)]).toEqual([200, 200]);
    const refused = await fetch(`${origin}/chunk/${first.address}`, { method: 'PUT', body: 'x' });
    expect(refused.status).toBe(403);
    expect(await interrupt(child)).toBe(0);
  });
});

describe('antway dev', () => {
  it('serves the newest version at one URL, and tells open pages about it', async () => {
    const { child, next } = start('dev', site, '--port', '0');
    const { url } = await next();
    const page = await fetch(url);
    expect(page.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(await page.text()).toBe('<h1>first</h1><script src="/-/reload.js"></script>\n');
    expect(await textOf(`${url}-/reload.js`)).toContain('location.reload()');
    const events = (await fetch(`${url}-/reload`)).body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await events.read()).value).toBe('retry: 500\n\n');
    writeFileSync(join(site, 'new.txt'), 'new');
    const changed = await next();
    expect(changed).toMatchObject({ event: 'changed', url });
    expect((await events.read()).value).toBe(`data: ${changed.address}\n\n`);
    expect(await textOf(`${url}new.txt`)).toBe('new');
    expect((await fetch(`${url}missing`)).status).toBe(404);
    expect((await fetch(`${url}%ff`)).status).toBe(400);
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
    await events.cancel();
    expect(await interrupt(child)).toBe(0);
  });

  it('answers links of other websites, and none of their requests', async () => {
    const { next } = start('dev', site, '--port', '0');
    const { url } = await next();
    const statusOf = (from: string, mode: string) =>
      new Promise((resolve, reject) => {
        const headers = { 'Sec-Fetch-Site': from, 'Sec-Fetch-Mode': mode };
        get(`${url}?format=zip`, { headers }, (response) => resolve(response.resume().statusCode)).on(
          'error',
          reject,
        );
      });
    expect(await statusOf('cross-site', 'no-cors')).toBe(403);
    expect(await statusOf('cross-site', 'navigate')).toBe(200);
    expect(await statusOf('same-site', 'no-cors')).toBe(200);
  });

  it('answers odd targets of requests', async () => {
    const { next } = start('dev', site, '--port', '0');
    const port = Number(new URL((await next()).url).port);
    const statusOf = async (target: string) => {
      const socket = connect(port, '127.0.0.1');
      socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      return Number((await text(socket)).split(' ')[1]);
    };
    for (const [target, status] of [
      ['//', 404],
      ['//a', 404],
      ['/\\', 404],
      ['/%', 400],
      ['/a//', 404],
      ['*', 400],
      ['http://[', 400],
      ['http://localhost/', 400],
      ['/?//[', 200],
    ] as const) {
      expect([target, await statusOf(target)]).toEqual([target, status]);
    }
  });

  it('does not answer under the name of another site', async () => {
    const { next } = start('dev', site, '--port', '0');
    const { url } = await next();
    const status = await new Promise((resolve) => {
      request(url, { headers: { Host: 'evil.example' } }, (response) => resolve(response.statusCode)).end();
    });
    expect(status).toBe(403);
  });
});

it('antway deploy --watch deploys each version, and keeps the last one if the folder is empty', async () => {
  const peer = await NodePeerProcess.start(join(scratch, 'store'), '--allow-open-writes');
  try {
    const { child, next } = start('deploy', site, '--watch', '--peer', peer.url);
    const first = await next();
    const named = () => JSON.parse(readFileSync(join(scratch, 'antway.json'), 'utf8')).names.site;
    expect(named()).toBe(first.address);
    rmSync(join(site, 'index.html'));
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(named()).toBe(first.address);
    writeFileSync(join(site, 'other.html'), '<h1>other</h1>');
    const second = await next();
    expect([second.address === first.address, named()]).toEqual([false, second.address]);
    expect(await interrupt(child)).toBe(0);
  } finally {
    await peer.stop();
  }
});

describe('antway completion', () => {
  const scriptFor = async (shell: 'bash' | 'zsh' | 'fish') =>
    completionScript(await createProgram('all', { env: {}, signal: new AbortController().signal }), shell);

  it.each(['bash', 'zsh', 'fish'] as const)('knows all commands in %s', async (shell) => {
    const script = await scriptFor(shell);
    for (const name of Object.keys(commands)) expect(script).toContain(name);
    expect(script).toContain(shell === 'fish' ? '-l recursive' : '--recursive');
  });

  it('completes commands and options in bash', async () => {
    const script = await scriptFor('bash');
    const complete = (...words: string[]) =>
      execFileSync(
        'bash',
        [
          '-c',
          `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _antway; echo "\${COMPREPLY[*]}"`,
          'bash',
          ...words,
        ],
        {
          encoding: 'utf8',
        },
      ).trim();
    expect(complete('antway', 'ex')).toBe('export');
    expect(complete('antway', 'get', '--rec')).toBe('--recursive');
    expect(complete('antway', 'completion', 'f')).toBe('fish');
  });
});
