// @module-tag slow
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
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
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildCli, built, root } from '../../src/cli/setup.mjs';
import { runAlone, runCliForBytes } from '../support/cli-process.ts';
import { freePort, LoopbackServer } from '../support/loopback-server.ts';
import { randomBytes } from '../support/random.ts';

interface Outcome {
  code: number | null;
  stdout: Buffer;
  stderr: string;
}

async function outcome(child: ChildProcess): Promise<Outcome> {
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout!.on('data', (piece) => stdout.push(piece));
  child.stderr!.on('data', (piece) => stderr.push(piece));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
}

const antway = async (args: string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> =>
  withText(await runCliForBytes(args, { env }));

/** In a process of its own. */
const antwayAlone = async (args: string[]): Promise<Outcome> => withText(await runAlone(args));

const withText = ({ code, stdout, stderr }: Awaited<ReturnType<typeof runAlone>>): Outcome => ({
  code,
  stdout: Buffer.from(stdout),
  stderr: Buffer.from(stderr).toString(),
});

interface PublishReport {
  address: string;
  url?: string;
  files: number;
  chunks: number;
  presentChunks: number;
  uploadedBytes: number;
  leftOut: { path: string; why: string }[];
}

async function publishJson(args: string[]): Promise<PublishReport> {
  const { code, stdout, stderr } = await antway(['publish', '--json', ...args]);
  expect(stderr.includes('"code"') ? stderr : '').toBe('');
  expect(code).toBe(0);
  return JSON.parse(stdout.toString());
}

/** The real peer, with a store of its own. */
async function startPeer(store: string, flags: string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(
    built.peer,
    ['serve', '--http', '127.0.0.1:0', '--webtransport', 'none', '--store', store, ...flags],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
  return { child, url: JSON.parse(line).http };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** Members of a site, with all that paths and contents can be; one file is larger than a chunk. */
const members = new Map<string, Uint8Array>([
  ['index.html', Buffer.from('<h1>home</h1>')],
  ['empty.txt', Buffer.alloc(0)],
  ['.well-known/security.txt', Buffer.from('hidden files are files')],
  ['a folder/with two  spaces.txt', Buffer.from('spaces')],
  ['żółw/日本語.txt', Buffer.from('unicode')],
  [`${'long'.repeat(30)}/${'name'.repeat(30)}.txt`, Buffer.from('long')],
  ['large.bin', randomBytes(5_000_000)],
]);

function writeSite(folder: string): void {
  for (const [path, bytes] of members) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
}

beforeAll(buildCli);

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'antway-cli-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

describe('antway with a peer', () => {
  let store: string;
  let peer: { child: ChildProcess; url: string };
  beforeAll(async () => {
    store = mkdtempSync(join(tmpdir(), 'antway-peer-'));
    peer = await startPeer(store, ['--allow-open-writes']);
  });
  afterAll(async () => {
    await stop(peer.child);
    rmSync(store, { recursive: true });
  });

  it('publishes a folder, and gets every member of it back, byte for byte', async () => {
    const site = join(scratch, 'site');
    writeSite(site);
    const report = await publishJson([site, '--peer', peer.url]);
    expect(report).toMatchObject({ files: members.size, presentChunks: 0, leftOut: [] });
    expect(report.url).toBe(`${peer.url}/${report.address}/`);
    for (const [path, bytes] of members) {
      const got = await antway(['get', `${report.address}/${path}`, '--peer', peer.url]);
      expect(got.code).toBe(0);
      expect(Buffer.compare(got.stdout, bytes)).toBe(0);
    }
  });

  it('gives the same address again, and sends no chunk twice', { tags: 'full' }, async () => {
    const site = join(scratch, 'site');
    writeSite(site);
    const first = await publishJson([site, '--peer', peer.url]);
    const second = await publishJson([site, '--peer', peer.url]);
    expect(second).toMatchObject({
      address: first.address,
      presentChunks: first.chunks,
      uploadedBytes: 0,
    });
  });

  it('publishes one file as a file, whose name is only in the URL', async () => {
    const file = join(scratch, 'a film.webm');
    writeFileSync(file, members.get('large.bin')!);
    const { stdout } = await antwayAlone(['publish', file, '--peer', peer.url]);
    const [address, url] = stdout.toString().split('\n');
    expect(url).toBe(`${peer.url}/${address}/a%20film.webm`);
    const out = join(scratch, 'out.webm');
    expect((await antwayAlone(['get', address!, '--peer', peer.url, '--out', out])).code).toBe(0);
    expect(Buffer.compare(readFileSync(out), members.get('large.bin')!)).toBe(0);
  });

  it('lists folders, also where a browser would be shown their index', { tags: 'full' }, async () => {
    const site = join(scratch, 'site');
    writeSite(site);
    const { address } = await publishJson([site, '--peer', peer.url]);
    const listing = await antway(['ls', address, '--peer', peer.url]);
    expect(listing.stdout.toString()).toContain('\n     13  index.html\n');
    const folder = await antway(['ls', `${address}/a folder`, '--peer', peer.url, '--json']);
    expect(JSON.parse(folder.stdout.toString())).toMatchObject([
      { path: 'a folder/with two  spaces.txt', display: 'with two  spaces.txt', size: 6, path_type: 'FILE' },
    ]);
  });

  it('shows control characters in names as text', async () => {
    const site = join(scratch, 'hostile');
    const names = ['\x1b]0;title\x07.txt', '\u009b2J.txt', 'txt.\u202eexe'];
    mkdirSync(site);
    for (const name of names) writeFileSync(join(site, name), name);
    mkdirSync(join(site, 'empty\x1b[2J'));
    const { stdout, stderr } = await antway(['publish', site, '--peer', peer.url]);
    expect(stderr).toContain('Left out: empty\\u001b[2J/ (it is empty)\n');
    const address = stdout.toString().split('\n')[0]!;
    const listings = [
      await antway(['ls', address, '--peer', peer.url]),
      await antway(['ls', address, '--peer', peer.url, '--json']),
      await antway(['get', `${address}/no\x1b[2J\u009b`, '--peer', peer.url]),
      await antway(['get', `${address}/no\x1b[2J\u009b`, '--peer', peer.url, '--json']),
      await antway(['get', 'not\x1b[2J']),
    ];
    for (const { stdout, stderr } of listings)
      expect(stdout.toString() + stderr).not.toMatch(/[^\P{Cc}\n]|\u202e/u);
    const [lines, json, missing] = listings.map(({ stdout, stderr }) => stdout.toString() + stderr);
    expect(lines!.trimEnd().split('\n')).toHaveLength(names.length);
    expect(lines).toContain('  \\u001b]0;title\\u0007.txt\n');
    expect((JSON.parse(json!) as { path: string }[]).map(({ path }) => path).sort()).toEqual(names.sort());
    expect(missing).toMatch(/^NOT_FOUND: .*no\\u001b\[2J\\u009b/);
  });

  it('says which path is not there, and leaves the destination alone', { tags: 'full' }, async () => {
    const site = join(scratch, 'site');
    writeSite(site);
    const { address } = await publishJson([site, '--peer', peer.url]);
    const out = join(scratch, 'out.txt');
    writeFileSync(out, 'what was there before');
    const got = await antway(['get', `${address}/nowhere.txt`, '--peer', peer.url, '--out', out]);
    expect(got).toMatchObject({ code: 3, stderr: expect.stringMatching(/^NOT_FOUND: .*nowhere\.txt/) });
    expect(readFileSync(out, 'utf8')).toBe('what was there before');
  });

  it('needs the token that a peer asks for', async () => {
    const guardedStore = join(scratch, 'store');
    const guarded = await startPeer(guardedStore, ['--write-token', '0123456789']);
    try {
      const file = join(scratch, 'file.txt');
      writeFileSync(file, 'guarded');
      const refused = await antway(['publish', file, '--peer', guarded.url], { ANTWAY_TOKEN: '' });
      expect(refused).toMatchObject({ code: 6, stderr: expect.stringMatching(/^REFUSED: /) });
      expect(refused.stdout.toString()).toBe('');
      const byOption = await antway(['publish', file, '--peer', guarded.url, '--token', '0123456789']);
      expect(byOption.code).toBe(0);
      const byEnvironment = await antway(['publish', file, '--peer', guarded.url], {
        ANTWAY_TOKEN: '0123456789',
      });
      expect(byEnvironment.code).toBe(0);
    } finally {
      await stop(guarded.child);
    }
  });
});

describe('antway with a folder of chunks', () => {
  let site: string;
  let chunks: string;
  beforeEach(() => {
    site = join(scratch, 'site');
    chunks = join(scratch, 'chunks');
    writeSite(site);
  });

  it('writes one file per chunk, and gets every member back from them', async () => {
    const report = await publishJson([site, '--out', chunks]);
    expect(report.url).toBeUndefined();
    expect(readdirSync(chunks)).toHaveLength(report.chunks);
    for (const name of readdirSync(chunks)) expect(name).toMatch(/^[0-9a-f]{64}$/);
    for (const [path, bytes] of members) {
      const got = await antway(['get', `${report.address}/${path}`, '--from', chunks]);
      expect(Buffer.compare(got.stdout, bytes)).toBe(0);
    }
  });

  it('never writes a file from a damaged chunk, not even its good beginning', async () => {
    const { address } = await publishJson([site, '--out', chunks]);
    const sizes = readdirSync(chunks).map((name) => ({
      path: join(chunks, name),
      size: readFileSync(join(chunks, name)).length,
    }));
    const out = join(scratch, 'out');
    mkdirSync(out);
    // The first and the last chunk are read before the file is begun: they hold its header and the index.
    for (const { path } of sizes.sort((a, b) => b.size - a.size).slice(0, 3)) {
      const bytes = readFileSync(path);
      bytes[bytes.length - 1]! ^= 1;
      writeFileSync(path, bytes);
      const got = await antway([
        'get',
        `${address}/large.bin`,
        '--from',
        chunks,
        '--out',
        join(out, 'large.bin'),
      ]);
      expect(got).toMatchObject({ code: 5, stderr: expect.stringMatching(/^CORRUPT: /) });
      expect(readdirSync(out)).toEqual([]);
      // Publishing again repairs it.
      await publishJson([site, '--out', chunks]);
    }
    expect((await antway(['get', `${address}/large.bin`, '--from', chunks])).code).toBe(0);
  });

  it('names the record that is missing', { tags: 'full' }, async () => {
    const { address } = await publishJson([site, '--out', chunks]);
    rmSync(join(chunks, address));
    const got = await antway(['get', address, '--from', chunks, '--json']);
    expect(got.code).toBe(3);
    expect(JSON.parse(got.stderr)).toMatchObject({ code: 'NOT_FOUND', address });
  });

  it('leaves out git’s folder, empty folders and ignored files, and lists them', {
    tags: 'full',
  }, async () => {
    mkdirSync(join(site, '.git'));
    writeFileSync(join(site, '.git/HEAD'), 'ref: refs/heads/main');
    mkdirSync(join(site, 'drafts'));
    writeFileSync(join(site, 'drafts/one.md'), 'draft');
    writeFileSync(join(site, 'notes.tmp'), 'temporary');
    mkdirSync(join(site, 'empty'));
    const args = ['publish', site, '--out', chunks, '--ignore', 'drafts/', '--ignore', '*.tmp'];
    const { stderr } = await antway(args);
    for (const line of [
      'Left out: .git/ (it belongs to git)',
      'Left out: drafts/ (it matches --ignore)',
      'Left out: notes.tmp (it matches --ignore)',
      'Left out: empty/ (it is empty)',
    ]) {
      expect(stderr).toContain(`${line}\n`);
    }
    expect(stderr).toMatch(
      new RegExp(`Published ${members.size} files, an archive of [\\d.]+ [kM]?B, as \\d+ chunk`),
    );
  });

  it('follows links inside the folder, in circles at most once, and never out of it', async () => {
    symlinkSync('index.html', join(site, 'home.html'));
    symlinkSync('.', join(site, 'loop'));
    const { address, leftOut } = await publishJson([site, '--out', chunks]);
    expect(leftOut).toEqual([{ path: 'loop/', why: 'it is a link to a folder that it is in' }]);
    const got = await antway(['get', `${address}/home.html`, '--from', chunks]);
    expect(got.stdout.toString()).toBe('<h1>home</h1>');

    writeFileSync(join(scratch, 'secret'), 'not for the world');
    symlinkSync('../secret', join(site, 'leak'));
    const refused = await antway(['publish', site, '--out', chunks]);
    expect(refused).toMatchObject({ code: 6, stderr: expect.stringMatching(/REFUSED: “leak”/) });
    rmSync(join(site, 'leak'));
    symlinkSync('nothing', join(site, 'dangling'));
    const dangling = await antway(['publish', site, '--out', chunks]);
    expect(dangling).toMatchObject({ code: 3, stderr: expect.stringMatching(/NOT_FOUND: “dangling”/) });
    expect((await antway(['publish', site, '--out', chunks, '--ignore', 'dangling'])).code).toBe(0);
  });

  it('puts the given gateway into the URL', async () => {
    const { url, address } = await publishJson([site, '--out', chunks, '--gateway', 'https://gate.example']);
    expect(url).toBe(`https://gate.example/${address}/`);
  });

  it('gives the sample site one address, wherever its chunks go', { tags: 'full' }, async () => {
    const sample = join(root, 'tests/sites/sample');
    const first = await publishJson([sample, '--out', chunks]);
    const second = await publishJson([sample, '--out', join(scratch, 'other')]);
    expect(second.address).toBe(first.address);
    expect(readdirSync(join(scratch, 'other')).every((name) => existsSync(join(chunks, name)))).toBe(true);
  });
});

describe('antway without a result', () => {
  it('ends with code 2 when the command line is wrong', async () => {
    const { code, stderr, stdout } = await antwayAlone(['publish', 'a', '--unknown']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^USAGE: .*--unknown.*\nSee antway publish --help\.\n$/);
    expect(stdout.length).toBe(0);
  });

  it('prints help and version', async () => {
    for (const args of [['--help'], ['publish', '-h']]) {
      const { code, stdout } = await antwayAlone(args);
      expect(code).toBe(0);
      expect(stdout.toString()).toMatch(/^Usage: antway /);
    }
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect((await antwayAlone(['--version'])).stdout.toString()).toBe(`${version}\n`);
  });

  it('ends with a code that belongs to the error if the command fails', async () => {
    const nothing = await antwayAlone(['publish', join(scratch, 'nothing'), '--out', scratch]);
    expect(nothing).toMatchObject({ code: 3, stderr: expect.stringMatching(/^NOT_FOUND: /) });
    mkdirSync(join(scratch, 'empty'));
    const empty = await antwayAlone(['publish', join(scratch, 'empty'), '--out', join(scratch, 'out')]);
    expect(empty).toMatchObject({ code: 1, stderr: expect.stringMatching(/^UNSUPPORTED: /) });
    const port = await freePort();
    const unreachable = await antwayAlone(['get', 'ab'.repeat(32), '--peer', `http://127.0.0.1:${port}`]);
    expect(unreachable).toMatchObject({ code: 4, stderr: expect.stringMatching(/^PEERS_UNREACHABLE: /) });
    expect(unreachable.stderr).toContain(`http://127.0.0.1:${port}`);
  });

  it('stops with code 130 when it is interrupted, and leaves nothing behind', async () => {
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    await using silent = await LoopbackServer.start(() => isAsked()); // takes the request, and never answers
    const out = join(scratch, 'out');
    mkdirSync(out);
    const child = spawn(process.execPath, [
      built.cli,
      ...['get', 'ab'.repeat(32), '--out', join(out, 'file')],
      ...['--peer', silent.url],
    ]);
    const ended = outcome(child);
    await asked;
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
    expect(readdirSync(out)).toEqual([]);
  });
});
