// @module-tag slow
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { requireWritable, writeAtomically } from '../../src/cli/atomic-file.ts';
import { buildCli, built } from '../../src/cli/setup.mjs';
import { NodePeerProcess } from '../support/node-peer-process.ts';
import { randomBytes } from '../support/random.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'antway-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const text = (words: string) => [new TextEncoder().encode(words)];
const modeOf = (path: string) => statSync(path).mode & 0o777;

/** Reads a pipe to its end, in a process of its own: opening a pipe waits for its other end. */
async function readerOf(pipe: string): Promise<{ child: ChildProcess; bytes: Promise<Buffer> }> {
  const child = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'ignore'] });
  const pieces: Buffer[] = [];
  child.stdout.on('data', (piece) => pieces.push(piece));
  return { child, bytes: once(child, 'close').then(() => Buffer.concat(pieces)) };
}

describe('a file that is written atomically', () => {
  it('is the one behind a link, also behind several links', async () => {
    mkdirSync(join(folder, 'real'));
    mkdirSync(join(folder, 'links'));
    const real = join(folder, 'real/file');
    writeFileSync(real, 'before');
    symlinkSync('../real/file', join(folder, 'links/near'));
    symlinkSync('links/near', join(folder, 'far'));
    await writeAtomically(join(folder, 'far'), text('after'));
    expect(readFileSync(real, 'utf8')).toBe('after');
    expect(readlinkSync(join(folder, 'far'))).toBe('links/near');
    expect(readlinkSync(join(folder, 'links/near'))).toBe('../real/file');
  });

  it('is the one that a link leads to if there is none yet', async () => {
    mkdirSync(join(folder, 'real'));
    symlinkSync(join(folder, 'real'), join(folder, 'there'));
    symlinkSync('there/../new', join(folder, 'link'));
    await writeAtomically(join(folder, 'link'), text('after'));
    expect(readFileSync(join(folder, 'new'), 'utf8')).toBe('after');
    expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true);
  });

  it.runIf(process.getuid?.() === 0)(
    'is not behind a link of another user in a folder of all users',
    async () => {
      const shared = join(folder, 'shared');
      mkdirSync(shared);
      chmodSync(shared, 0o1777);
      const link = join(shared, 'link');
      symlinkSync(join(folder, 'target'), link);
      await writeAtomically(link, text('own'));
      lchownSync(link, 65_534, 65_534);
      await expect(writeAtomically(link, text('planted'))).rejects.toMatchObject({ code: 'REFUSED' });
      await expect(requireWritable(link)).rejects.toMatchObject({ code: 'REFUSED' });
      chmodSync(shared, 0o755);
      await writeAtomically(link, text('of the folder’s only user'));
      expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('of the folder’s only user');
    },
  );

  it('is refused for links that lead in a circle', async () => {
    symlinkSync('b', join(folder, 'a'));
    symlinkSync('a', join(folder, 'b'));
    await expect(writeAtomically(join(folder, 'a'), text('x'))).rejects.toMatchObject({ code: 'REFUSED' });
    expect(readdirSync(folder).sort()).toEqual(['a', 'b']);
  });

  it.each([0o600, 0o640, 0o755, 0o444])('keeps the mode %o', async (mode) => {
    const path = join(folder, 'file');
    writeFileSync(path, 'before');
    chmodSync(path, mode);
    await writeAtomically(path, text('after'));
    expect([readFileSync(path, 'utf8'), modeOf(path)]).toEqual(['after', mode]);
  });

  it('is closed to others while it is written', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, 'before', { mode: 0o600 });
    const modes: number[] = [];
    async function* pieces() {
      yield* text('after');
      for (const name of readdirSync(folder)) modes.push(modeOf(join(folder, name)));
    }
    await writeAtomically(path, pieces());
    expect(modes).toEqual([0o600, 0o600]);
  });

  // Only the administrator can give a file to another user.
  it.runIf(process.getuid?.() === 0)('keeps its owner', async () => {
    const path = join(folder, 'file');
    writeFileSync(path, 'before');
    chownSync(path, 1234, 5678);
    await writeAtomically(path, text('after'));
    expect(statSync(path)).toMatchObject({ uid: 1234, gid: 5678 });
  });

  it('has the mode that the caller names, also in place of an open one', async () => {
    const path = join(folder, 'file');
    for (const before of [undefined, 'before']) {
      if (before) chmodSync(path, 0o666);
      await writeAtomically(path, text('after'), { mode: 0o600 });
      expect(modeOf(path)).toBe(0o600);
    }
  });

  it('goes through a pipe, which stays', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    symlinkSync('pipe', join(folder, 'link'));
    const { bytes } = await readerOf(pipe);
    await requireWritable(join(folder, 'link'));
    await writeAtomically(join(folder, 'link'), text('through'));
    expect((await bytes).toString()).toBe('through');
    expect(lstatSync(pipe).isFIFO()).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(['link', 'pipe']);
  });

  // Only the administrator can make a device.
  it.runIf(process.getuid?.() === 0)('goes through a device, which stays', async () => {
    const device = join(folder, 'null');
    execFileSync('mknod', [device, 'c', '1', '3']);
    await requireWritable(device);
    await writeAtomically(device, text('nowhere'));
    expect(lstatSync(device).isCharacterDevice()).toBe(true);
  });

  it('is no folder', async () => {
    for (const write of [requireWritable(folder), writeAtomically(folder, text('x'))])
      await expect(write).rejects.toMatchObject({ code: 'BAD_CONFIG' });
  });
});

describe('the commands', () => {
  let content: string;
  let chunks: string;
  let address: string;
  const bytes = randomBytes(2_000_000);

  beforeAll(async () => {
    await buildCli();
    content = mkdtempSync(join(tmpdir(), 'antway-files-content-'));
    chunks = join(content, 'chunks');
    writeFileSync(join(content, 'file.bin'), bytes);
    const { stdout } = await antway(['publish', join(content, 'file.bin'), '--out', chunks, '--json']);
    ({ address } = JSON.parse(stdout.toString()));
  }, 300_000);
  afterAll(() => rmSync(content, { recursive: true, force: true }));

  interface Outcome {
    code: number | null;
    stdout: Buffer;
  }

  async function antway(
    args: string[],
    stdio: ('ignore' | 'pipe' | 'inherit' | number)[] = [],
  ): Promise<Outcome> {
    const child = spawn(process.execPath, [built.cli, ...args], {
      stdio: ['ignore', stdio[1] ?? 'pipe', 'inherit', ...stdio.slice(3)],
    });
    const pieces: Buffer[] = [];
    child.stdout?.on('data', (piece) => pieces.push(piece));
    const [code] = await once(child, 'close');
    return { code, stdout: Buffer.concat(pieces) };
  }

  const get = (...args: string[]) => ['get', address, '--from', chunks, '-q', ...args];

  it('get writes to /dev/stdout as to “-”, to a pipe and to the end of a file', async () => {
    const { code, stdout } = await antway(get('-o', '/dev/stdout'));
    expect([code, Buffer.compare(stdout, bytes)]).toEqual([0, 0]);
    const file = join(folder, 'file');
    writeFileSync(file, 'before');
    const appended = openSync(file, 'a');
    expect((await antway(get('-o', '/dev/stdout'), ['ignore', appended])).code).toBe(0);
    expect(Buffer.compare(readFileSync(file), Buffer.concat([Buffer.from('before'), bytes]))).toBe(0);
  });

  it('get writes to a descriptor that the shell has opened', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, 'before');
    const appended = openSync(file, 'a');
    const { code } = await antway(get('-o', '/dev/fd/3'), ['ignore', 'pipe', 'inherit', appended]);
    expect(code).toBe(0);
    expect(Buffer.compare(readFileSync(file), Buffer.concat([Buffer.from('before'), bytes]))).toBe(0);
  });

  it('get and export write through a pipe', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const got = await readerOf(pipe);
    expect((await antway(get('-o', pipe))).code).toBe(0);
    expect(Buffer.compare(await got.bytes, bytes)).toBe(0);
    const exported = await readerOf(pipe);
    expect((await antway(['export', address, '--from', chunks, '-o', pipe])).code).toBe(0);
    expect((await exported.bytes).length).toBeGreaterThan(bytes.length);
    expect(lstatSync(pipe).isFIFO()).toBe(true);
  });

  it('get -r never puts a folder in the place of a pipe or a file, also by force', async () => {
    const site = join(folder, 'site');
    mkdirSync(site);
    writeFileSync(join(site, 'a.txt'), 'a');
    const siteChunks = join(folder, 'chunks');
    const published = await antway(['publish', site, '--out', siteChunks, '--json']);
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    symlinkSync('pipe', join(folder, 'link'));
    writeFileSync(join(folder, 'file'), 'mine');
    const args = [
      'get',
      JSON.parse(published.stdout.toString()).address,
      '--from',
      siteChunks,
      '-r',
      '--force',
    ];
    for (const name of ['pipe', 'link', 'file'])
      expect((await antway([...args, '-o', join(folder, name)])).code).toBe(6);
    expect(lstatSync(pipe).isFIFO()).toBe(true);
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('mine');
    // A folder keeps its mode.
    const out = join(folder, 'out');
    mkdirSync(out, { mode: 0o700 });
    for (let i = 0; i < 2; i++) {
      expect((await antway([...args, '-o', out])).code).toBe(0);
      expect([modeOf(out), existsSync(join(out, 'a.txt'))]).toEqual([0o700, true]);
    }
  });

  it('deploy changes the file that antway.json links to', async () => {
    const peer = await NodePeerProcess.start(join(folder, 'store'), '--allow-open-writes');
    try {
      const real = join(folder, 'shared.json');
      writeFileSync(real, JSON.stringify({ peers: [peer.url] }), { mode: 0o600 });
      const config = join(folder, 'antway.json');
      symlinkSync('shared.json', config);
      const site = join(folder, 'site');
      mkdirSync(site);
      writeFileSync(join(site, 'index.html'), '<h1>site</h1>');
      const { code, stdout } = await antway(['deploy', site, '--config', config, '--json']);
      expect(code).toBe(0);
      expect(readlinkSync(config)).toBe('shared.json');
      expect(JSON.parse(readFileSync(real, 'utf8')).names.site).toBe(JSON.parse(stdout.toString()).address);
      expect(modeOf(real)).toBe(0o600);
    } finally {
      await peer.stop();
    }
  });
});
