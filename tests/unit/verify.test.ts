// @module-tag slow
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { embedBuild } from '../../build/embed-build.ts';
import { filesOf } from '../../build/files-of.ts';
import { buildCli, buildShell, built } from '../../src/cli/setup.mjs';
import { runCli } from '../support/cli-process.ts';
import { LoopbackServer } from '../support/loopback-server.ts';

beforeAll(async () => {
  await buildShell();
  await buildCli();
}, 300_000);

let folder: string;
/** The folder that the host serves: a copy of the build. */
let web: string;
let server: LoopbackServer;
/** Whether the host compresses all answers. */
let compresses = false;
/** Whether the host sends the compressed copies of the build. */
let hasCopies = false;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'antway-verify-'));
  web = join(folder, 'web');
  cpSync(built.shell, web, { recursive: true, dereference: true }); // the build itself may be a link
  compresses = false;
  hasCopies = false;
  server = await LoopbackServer.start((request, response) => {
    const path = request.url === '/' ? 'index.html' : request.url!.slice(1);
    const isFile = statSync(join(web, path), { throwIfNoEntry: false })?.isFile();
    if (!isFile) return response.writeHead(404).end('nothing here');
    const accepted = String(request.headers['accept-encoding']);
    const suffix = { br: '.br', gzip: '.gz' }[accepted];
    if (hasCopies && suffix && existsSync(join(web, path + suffix))) {
      return response
        .writeHead(200, { 'Content-Encoding': accepted })
        .end(readFileSync(join(web, path + suffix)));
    }
    const bytes = readFileSync(join(web, path));
    if (compresses) return response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(bytes));
    return response.writeHead(200).end(bytes);
  });
});

afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Report {
  same: boolean;
  build: string;
  hostBuild: string | null;
  files: { path: string; result: string }[];
}

const verify = (...args: string[]) => runCli(['verify', ...args]);

const url = (host = '127.0.0.1') => `http://${host}:${server.port}`;

/** A script of the shell's, which the worker verifies. */
const script = () => `assets/${readdirSync(join(web, 'assets')).find((name) => name.endsWith('.js'))}`;

async function verifyJson(): Promise<{ code: number | null; report: Report; wrong: Record<string, string> }> {
  const { code, stdout, stderr } = await verify(url(), '--json');
  const report = JSON.parse(stdout) as Report;
  if (code !== 0) expect(JSON.parse(stderr)).toMatchObject({ code: 'BUILD_MISMATCH' });
  const wrong = report.files.filter(({ result }) => result !== 'same');
  return { code, report, wrong: Object.fromEntries(wrong.map(({ path, result }) => [path, result])) };
}

describe('antway verify', () => {
  it('finds a host with the same files to be the same', async () => {
    const { code, report, wrong } = await verifyJson();
    expect([code, report.same, wrong]).toEqual([0, true, {}]);
    expect(report.hostBuild).toBe(report.build);
    expect(report.files.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['sw.js', 'index.html', script(), `-/probe-${report.build}.json`]),
    );
  });

  it('resolves a name below localhost to this machine, and decompresses answers', {
    tags: 'full',
  }, async () => {
    compresses = true;
    const { code, stdout, stderr } = await verify(url('gateway.localhost'));
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^same {7}sw\.js$/m);
    expect(stdout).not.toMatch(/^(different|missing)/m);
  });

  it('names a changed, a missing and a longer file', async () => {
    const changed = script();
    const bytes = readFileSync(join(web, changed));
    bytes[0]! ^= 1;
    writeFileSync(join(web, changed), bytes);
    rmSync(join(web, 'icon.svg'));
    writeFileSync(join(web, 'sw.js'), '\n', { flag: 'a' });
    const { code, report, wrong } = await verifyJson();
    expect([code, report.same]).toEqual([5, false]);
    expect(wrong).toEqual({ [changed]: 'different', 'icon.svg': 'missing', 'sw.js': 'different' });
  });

  for (const [suffix, what, content, tags] of [
    ['.br', 'another content', () => brotliCompressSync('other'), []],
    ['.gz', 'another content', () => gzipSync('other'), ['full']],
    ['.br', 'no valid content', () => Buffer.from('other'), ['full']],
    ['.gz', 'a content that is larger by far', () => gzipSync(Buffer.alloc(50_000_000)), []],
  ] as const) {
    it(`names a file whose copy ${suffix} has ${what}`, { tags: [...tags] }, async () => {
      hasCopies = true;
      expect((await verifyJson()).wrong).toEqual({});
      writeFileSync(join(web, `index.html${suffix}`), content());
      const { code, wrong } = await verifyJson();
      expect([code, wrong]).toEqual([5, { 'index.html': 'different' }]);
    });
  }

  it('says when the host serves another build', async () => {
    writeFileSync(join(web, 'index.html'), '<title>other</title>');
    const hash = embedBuild(web);
    const { code, stdout, stderr } = await verify(url());
    expect(code).toBe(5);
    expect(stdout).toMatch(/^different {2}index\.html$/m);
    expect(stdout).toContain(hash);
    expect(stderr).toMatch(/^BUILD_MISMATCH: 5 files of \d+ .*It is another build/);
  });

  it('compares with the build that it is given', { tags: 'full' }, async () => {
    expect((await verify(url(), '--build', web)).code).toBe(0);
    const { code, stderr } = await verify(url(), '--build', folder);
    expect(code).toBe(3);
    expect(stderr).toMatch(/^NOT_FOUND: .* holds no build/);
  });

  it('says when the host cannot be reached', async () => {
    const { code, stderr } = await verify('http://127.0.0.1:9');
    expect(code).toBe(4);
    expect(stderr).toMatch(/^HOST_UNREACHABLE: http:\/\/127\.0\.0\.1:9\//);
  });
});

describe('the hash of a build', () => {
  it('is that of the lines that sha256sum prints, with the workers’ scripts as they were before', () => {
    const hex = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
    const lines = filesOf(web)
      .filter((path) => !path.startsWith('-/probe-'))
      .map((path) => {
        const bytes = readFileSync(join(web, path));
        if (path === '-/site-worker.js')
          return `${hex(bytes.toString().replace(/\/\/ Build [0-9a-f]{64}\n$/, ''))}  ${path}\n`;
        if (path !== 'sw.js') return `${hex(bytes)}  ${path}\n`;
        const embedded = /\{"hash":.*?"optional":\[.*?\]\}/.exec(bytes.toString())![0];
        return `${hex(bytes.toString().replace(embedded, 'globalThis.__ANTWAY_BUILD__'))}  ${path}\n`;
      });
    const hash = hex(lines.join(''));
    expect(readFileSync(join(web, `-/probe-${hash}.json`), 'utf8')).toBe(`{"antway":"${hash}"}\n`);
    expect(readFileSync(join(web, 'sw.js'), 'utf8')).toContain(`{"hash":"${hash}"`);
  });

  it('changes with every file, and leaves one probe', { tags: 'full' }, () => {
    const before = embedBuild(web);
    writeFileSync(join(web, 'robots.txt'), 'other');
    const after = embedBuild(web);
    expect(after).not.toBe(before);
    expect(readdirSync(join(web, '-')).filter((name) => name.startsWith('probe-'))).toEqual([
      `probe-${after}.json`,
    ]);
    const worker = readFileSync(join(web, 'sw.js'), 'utf8');
    writeFileSync(join(web, 'sw.js'), `${worker}\n`);
    expect(embedBuild(web)).not.toBe(after);
  });
});
