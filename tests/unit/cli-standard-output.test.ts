// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildCli, built } from '../../src/cli/setup.mjs';
import { randomBytes } from '../support/random.ts';

const env = { ...process.env, ANTWAY_KEY_PASSPHRASE: 'A passphrase of a test.' };

interface Outcome {
  code: number | null;
  stdout: Buffer;
  stderr: string;
}

/** @param command whose standard output may be redirected. `$@` are the words of the command `antway`. */
async function inShell(command: string, args: readonly string[]): Promise<Outcome> {
  const child = spawn('bash', ['-c', command, 'bash', process.execPath, built.cli, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => {
    const pieces: Buffer[] = [];
    stream.on('data', (piece) => pieces.push(piece));
    return pieces;
  });
  const [code] = await once(child, 'close');
  return { code, stdout: Buffer.concat(stdout!), stderr: Buffer.concat(stderr!).toString() };
}

describe('a standard output that takes no more', () => {
  let folder: string;
  let chunks: string;
  let address: string;
  let key: string;
  const large = randomBytes(3_000_000);

  beforeAll(async () => {
    await buildCli();
    folder = mkdtempSync(join(tmpdir(), 'antway-output-'));
    const site = join(folder, 'site');
    mkdirSync(site);
    writeFileSync(join(site, 'large.bin'), large);
    writeFileSync(join(site, 'small.txt'), 'small');
    mkdirSync(join(folder, 'web'));
    writeFileSync(join(folder, 'web', 'index.html'), 'A start page');
    chunks = join(folder, 'chunks');
    const { stdout } = await inShell('"$@"', ['publish', site, '--out', chunks, '--json']);
    ({ address } = JSON.parse(stdout.toString()));
    key = join(folder, 'pointer.key');
    const phrase = `${'abandon '.repeat(23)}art`;
    const { code, stderr } = await inShell(`echo '${phrase}' | "$@"`, ['pointer', 'recover', '--key', key]);
    expect([code, stderr]).toEqual([0, '']);
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const commands: [name: string, args: () => string[]][] = [
    ['get', () => ['get', `${address}/large.bin`, '--from', chunks]],
    ['get of a small file', () => ['get', `${address}/small.txt`, '--from', chunks]],
    ['get -r -o -', () => ['get', address, '-r', '-o', '-', '--from', chunks]],
    ['get -o /dev/stdout', () => ['get', `${address}/large.bin`, '-o', '/dev/stdout', '--from', chunks]],
    ['cat', () => ['cat', `${address}/large.bin`, `${address}/small.txt`, '--from', chunks]],
    ['ls', () => ['ls', address, '--from', chunks]],
    ['ls --json', () => ['ls', address, '--from', chunks, '--json']],
    ['export -o -', () => ['export', address, '-o', '-', '--from', chunks]],
    ['verify', () => ['verify', address, '--from', chunks]],
    ['cost', () => ['cost', join(folder, 'site')]],
    ['publish', () => ['publish', join(folder, 'site'), '--out', chunks]],
    ['pointer phrase', () => ['pointer', 'phrase', '--key', key]],
    ['completion', () => ['completion', 'bash']],
    ['--help', () => ['--help']],
    ['--version', () => ['--version']],
    ['peer', () => ['peer', '--http', '127.0.0.1:0', '--store', join(folder, 'store')]],
    [
      'serve',
      () => ['serve', join(folder, 'site'), '--port', '0', '--peer', 'node', '--web', join(folder, 'web')],
    ],
  ];

  const isQuick = ([name]: (typeof commands)[number]) =>
    ['get', 'ls --json', 'publish', 'peer'].includes(name);
  it.each(commands.filter(isQuick))('fails %s on a full disk', onFullDisk);
  it.each(commands.filter((command) => !isQuick(command)))(
    'fails %s on a full disk',
    { tags: 'full' },
    onFullDisk,
  );

  async function onFullDisk(_: string, args: () => string[]): Promise<void> {
    const { code, stderr } = await inShell('"$@" > /dev/full', args());
    expect(code).toBe(1);
    expect(stderr).toMatch(/TOO_LARGE.*standard output/);
  }

  const [get, ...others] = commands.slice(0, 6);
  it.each([get!])('fails %s on a disk that takes only the first bytes', onSmallDisk);
  it.each(others)('fails %s on a disk that takes only the first bytes', { tags: 'full' }, onSmallDisk);

  async function onSmallDisk(_: string, args: () => string[]): Promise<void> {
    const file = join(folder, 'short');
    // A block has 1,024 bytes. The system takes the two bytes of the next write that fit, without an error.
    const { code, stderr } = await inShell(
      `head -c 1022 /dev/zero > '${file}'; ulimit -f 1; exec "$@" >> '${file}'`,
      args(),
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining('TOO_LARGE')]);
    expect(readFileSync(file).length).toBe(1_024);
  }

  it('is no failure if the reader has closed the pipe', async () => {
    const args = ['get', `${address}/large.bin`, '--from', chunks];
    const { code, stdout, stderr } = await inShell('set -o pipefail; "$@" | head -c 10', args);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toEqual(large.subarray(0, 10));
  });

  it('gets everything in a file, and keeps what the file had', async () => {
    const file = join(folder, 'appended');
    writeFileSync(file, 'before');
    const child = spawn(process.execPath, [built.cli, 'get', `${address}/large.bin`, '--from', chunks], {
      stdio: ['ignore', openSync(file, 'a'), 'inherit'],
    });
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(Buffer.compare(readFileSync(file), Buffer.concat([Buffer.from('before'), large]))).toBe(0);
  });

  it('does not matter to a command whose notes get lost', async () => {
    const out = join(folder, 'out.bin');
    const args = ['get', `${address}/large.bin`, '-o', out, '--from', chunks];
    expect((await inShell('"$@" 2> /dev/full', args)).code).toBe(0);
    expect(Buffer.compare(readFileSync(out), large)).toBe(0);
  });
});
