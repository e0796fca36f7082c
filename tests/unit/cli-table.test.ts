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
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { commands } from '../../src/cli/commands.ts';
import { buildCli, built } from '../../src/cli/setup.mjs';
import { runCli } from '../support/cli-process.ts';
import { LoopbackServer } from '../support/loopback-server.ts';
import { NodePeerProcess } from '../support/node-peer-process.ts';
import { randomBytes } from '../support/random.ts';
import { closedPort } from './support/http-peer.ts';

/** The sub-commands in processes of their own, against a peer in Node and a gateway of `antway serve`. */
const scratch = mkdtempSync(join(tmpdir(), 'antway-table-'));
const site = join(scratch, 'site');
const at = (...path: string[]) => join(scratch, ...path);
/** Paths of the site that URLs and shells spell in different ways. */
const files = {
  'index.html': '<!doctype html><title>Table</title><h1>Table</h1>',
  'sub/a b.txt': 'with a space',
  'sub/100%.txt': 'with a sign',
  'über/why?#1.txt': 'with marks',
};
const large = randomBytes(2_000_000);

let peer: NodePeerProcess;
let gateway: { child: ChildProcess; origin: string };
let hex: string;
let base32: string;
let printed: string;

async function startServe(): Promise<typeof gateway> {
  const args = [built.cli, 'serve', site, '--json', '--port', '0', '--name', 'tables'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
  return { child, origin: JSON.parse(line).gateway };
}

beforeAll(async () => {
  await buildCli();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(site, path, '..'), { recursive: true });
    writeFileSync(join(site, path), text);
  }
  writeFileSync(join(site, 'large.bin'), large);
  peer = await NodePeerProcess.start(at('store'), '--allow-open-writes');
  const [published, serving] = await Promise.all([
    runCli(['publish', site, '--peer', peer.url, '--json']),
    startServe(),
  ]);
  ({ address: hex, url: printed } = JSON.parse(published.stdout));
  base32 = Address.fromHex(hex).base32;
  gateway = serving;
}, 120_000);

afterAll(async () => {
  gateway.child.kill('SIGINT');
  await Promise.all([peer.stop(), once(gateway.child, 'exit')]);
  rmSync(scratch, { recursive: true, force: true });
});

/** Every form in which some program prints content: its name, whether its path is encoded, and its text. */
const forms: [string, 'url' | 'plain', (path: string) => string][] = [
  ['an address', 'plain', (path) => hex + path],
  ['an address in capitals', 'plain', (path) => hex.toUpperCase() + path],
  ['an address in base32', 'plain', (path) => base32 + path],
  ['an ant:// link', 'url', (path) => `ant://${hex}${path}`],
  ['an autonomi:// link in base32', 'url', (path) => `autonomi://${base32}${path}`],
  ['a web+ant: link', 'url', (path) => `web+ant:${hex}${path}`],
  ['the URL that publish prints', 'url', (path) => printed.replace(/\/$/, '') + path],
  ['the URL of a gateway', 'url', (path) => `${gateway.origin}/${hex}${path}`],
  ['the URL of a site’s own origin', 'url', (path) => gateway.origin.replace('//', `//${base32}.`) + path],
  ['such a URL without its scheme', 'plain', (path) => `${new URL(gateway.origin).host}/${hex}${path}`],
  ['a name of a gateway', 'plain', (path) => `tables${path}`],
  ['the URL of a name', 'url', (path) => `${gateway.origin}/tables${path}`],
  ['a link to the viewer', 'url', (path) => `${gateway.origin}/#view=${hex}${path}`],
  ['a link to a reader', 'url', (path) => `${gateway.origin}/#read=tables${path}`],
];

/** URLs of a gateway name their peers. The others need a peer; names need one that is a gateway. */
const peersFor = (form: string) => {
  if (form === 'a name of a gateway') return ['--peer', gateway.origin];
  return /URL|link to/.test(form) ? [] : ['--peer', peer.url];
};

/** All commands read an address in the same way. The default tier tests these forms with all of them. */
const formsOfAllCommands = ['an address', 'the URL that publish prints'];

describe.concurrent.each(forms)('%s (%s)', (name, spelling, text) => {
  const tags = formsOfAllCommands.includes(name) ? [] : ['full'];
  const paths = Object.keys(files).slice(1);
  const encode = (path: string) =>
    spelling === 'url' ? `/${path.split('/').map(encodeURIComponent).join('/')}` : `/${path}`;

  it('is read by cat, with every path', async () => {
    const args = paths.map((path) => text(encode(path)));
    const { code, stdout, stderr } = await runCli(['cat', '-q', ...args, ...peersFor(name)]);
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: paths.map((path) => files[path as keyof typeof files]).join(''),
      stderr: '',
    });
  });

  it('is listed by ls, as text or as JSON', { tags }, async () => {
    const isJson = spelling === 'url';
    const args = isJson ? ['--json', '-r', text('')] : ['-q', text('/sub/')];
    const { code, stdout, stderr } = await runCli(['ls', ...args, ...peersFor(name)]);
    expect([code, stderr]).toEqual([0, '']);
    if (!isJson) return expect(stdout).toBe('11  sub/100%.txt\n12  sub/a b.txt\n');
    const listed = (JSON.parse(stdout) as { path: string }[]).map(({ path }) => path);
    expect(listed.sort()).toEqual([...Object.keys(files), 'large.bin'].sort());
  });

  it('is written by get, as a folder with all files', { tags }, async () => {
    const out = at(`get ${name.replace(/\W/g, '-')}`);
    const { code, stdout, stderr } = await runCli(['get', text('/'), '-q', '-o', out, ...peersFor(name)]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
    for (const [path, content] of Object.entries(files)) {
      expect(readFileSync(join(out, path), 'utf8')).toBe(content);
    }
    expect(readFileSync(join(out, 'large.bin')).equals(large)).toBe(true);
  });

  it('is checked by verify, stored by pin and saved by export', { tags }, async () => {
    const out = at(`whole ${name.replace(/\W/g, '-')}`);
    const [verified, pinned, exported] = await Promise.all([
      runCli(['verify', text(''), '-q', ...peersFor(name)]),
      runCli(['pin', text(''), '--json', '--store', out, ...peersFor(name)]),
      runCli(['export', text(''), '--json', '-o', `${out}.antsite`, ...peersFor(name)]),
    ]);
    expect(verified).toMatchObject({ code: 0, stderr: '' });
    expect([pinned.code, pinned.stderr]).toEqual([0, '']);
    expect([exported.code, exported.stderr]).toEqual([0, '']);
    const { chunks, ...pin } = JSON.parse(pinned.stdout);
    expect(pin).toMatchObject({ address: hex, store: out });
    expect(chunks).toBeGreaterThanOrEqual(3);
    expect(JSON.parse(exported.stdout)).toMatchObject({ address: hex, out: `${out}.antsite` });
  });
});

describe.concurrent('a command with an address', () => {
  it('verify: checks every chunk at each peer', async () => {
    const { code, stdout } = await runCli(['verify', printed, '--json', '--peer', peer.url]);
    expect(code).toBe(0);
    const { chunks, peers } = JSON.parse(stdout);
    expect(peers).toEqual([{ peer: peer.url, right: chunks, missing: [], wrong: [], problem: null }]);
  });

  it('verify: names a peer that lacks chunks, and one that sends wrong bytes', async () => {
    await using empty = await LoopbackServer.start((_, response) => response.writeHead(404).end());
    await using liar = await LoopbackServer.start((_, response) => response.end('wrong'));
    const verify = (url: string) => runCli(['verify', hex, '--peer', peer.url, '--peer', url, '-q']);
    const [lacking, lying] = await Promise.all([verify(empty.url), verify(liar.url)]);
    expect(lacking).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^NOT_FOUND: http:\S+ does not/),
    });
    expect(lying).toMatchObject({ code: 5, stderr: expect.stringMatching(/^CORRUPT: http:\S+ sent wrong/) });
  });

  it('pin: stores all chunks in a folder, and continues there without a peer', async () => {
    const store = at('pins');
    const first = await runCli(['pin', `ant://${hex}`, '--store', store, '--json', '--peer', peer.url]);
    expect(first.code).toBe(0);
    const { chunks, bytes } = JSON.parse(first.stdout);
    const again = await runCli(['pin', base32, '--json', '--peer', await closedPort()], {
      env: { ANTWAY_STORE: store },
    });
    expect(JSON.parse(again.stdout)).toMatchObject({ chunks, bytes, store });
  });

  it('pin: copies all chunks to another peer, or asks peers for all of them', async () => {
    const other = await NodePeerProcess.start(at('other-store'), '--allow-open-writes');
    try {
      const copied = await runCli(['pin', hex, '--to', other.url, '--json', '--peer', peer.url]);
      expect(JSON.parse(copied.stdout)).toMatchObject({ to: [other.url] });
      const asked = await runCli(['pin', hex, '--peer', other.url]);
      expect(asked).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/(\d+) of \1 chunks are right\n$/),
      });
    } finally {
      await other.stop();
    }
  });

  it('export and import: a file carries all of the content to another store', async () => {
    const file = at('table.antsite');
    const exported = await runCli(['export', printed, '-o', file, '--json', '--peer', peer.url]);
    expect(JSON.parse(exported.stdout)).toMatchObject({ address: hex, out: file });
    const [imported, uploaded] = await Promise.all([
      runCli(['import', file, '--out', at('imported'), '--json']),
      runCli(['import', file, '--peer', peer.url]),
    ]);
    expect(JSON.parse(imported.stdout)).toMatchObject({ address: hex, refused: [] });
    expect(uploaded.stdout).toBe(`${hex}\n${peer.url}/${hex}/\n`);
    const got = await runCli(['cat', `${hex}/index.html`, '--from', at('imported')]);
    expect(got.stdout).toBe(files['index.html']);
    const verified = await runCli(['verify', hex, '--from', at('imported'), '-q']);
    expect(verified.code).toBe(0);
  });

  it('import: names the damaged parts of a file, and takes the others', async () => {
    const file = at('damaged.antsite');
    await runCli(['export', hex, '-o', file, '--peer', peer.url]);
    const bytes = readFileSync(file);
    bytes[Math.floor(bytes.length / 2)]! ^= 1;
    writeFileSync(file, bytes);
    const { code, stdout, stderr } = await runCli(['import', file, '--store', at('partly'), '--json']);
    expect(code).toBe(5);
    expect(JSON.parse(stdout).refused).toHaveLength(1);
    expect(JSON.parse(stderr)).toMatchObject({ code: 'CORRUPT' });
  });
});

describe.concurrent('a command with files', () => {
  it('publish: reads standard input, and get reads addresses from it', async () => {
    const published = await runCli(['publish', '-', '--peer', peer.url, '--json'], { input: 'from a pipe' });
    const { address, url } = JSON.parse(published.stdout);
    expect(url).toBe(`${peer.url}/${address}/`);
    const input = `# two\n${address}\n\n${hex}/sub/a b.txt\n`;
    const got = await runCli(['get', '-', '--peer', peer.url], { input });
    expect(got.stdout).toBe('from a pipewith a space');
  });

  it('get: names the files in a folder by their links', async () => {
    const out = at('by-name');
    mkdirSync(out);
    const file = `${hex}/sub/a b.txt`;
    const named = `ant://${hex}/index.html?filename=..%2F.%2Fhome.html`;
    const { code, stderr } = await runCli(['get', file, named, '-o', out, '--peer', peer.url]);
    expect([code, stderr.split('\n').length]).toEqual([0, 3]);
    expect(readdirSync(out).sort()).toEqual(['a b.txt', 'home.html']);
  });

  it('get: refuses a folder for standard output, and a folder with files without --force', async () => {
    const out = at('taken');
    mkdirSync(out);
    writeFileSync(join(out, 'mine.txt'), 'mine');
    const [plain, taken, tar] = await Promise.all([
      runCli(['get', hex, '--peer', peer.url]),
      runCli(['get', hex, '-r', '-o', out, '--peer', peer.url]),
      runCli(['get', `${hex}/sub`, '-r', '-o', '-', '--peer', peer.url]),
    ]);
    expect(plain).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^USAGE: .*antway ls/),
    });
    expect(taken).toMatchObject({ code: 6, stderr: expect.stringMatching(/^REFUSED: .*--force/) });
    expect(readdirSync(out)).toEqual(['mine.txt']);
    expect(tar.stdout).toContain('a b.txt');
    const forced = await runCli(['get', hex, '-r', '-o', out, '--force', '--json', '--peer', peer.url]);
    expect(JSON.parse(forced.stdout)).toMatchObject({ address: hex, files: 5, out });
    expect(readdirSync(out).sort()).toEqual(['index.html', 'large.bin', 'sub', 'über']);
  });

  it('cost: counts as publish does, and has no price without a relay', async () => {
    const [estimate, exact] = await Promise.all([
      runCli(['cost', site, '--json']),
      runCli(['cost', site, '--exact', '--json', '--peer', peer.url]),
    ]);
    const { chunks, price, missing } = JSON.parse(exact.stdout);
    expect(JSON.parse(estimate.stdout)).toMatchObject({ files: 5, chunks, isExact: false });
    expect({ price, missing }).toEqual({ price: null, missing: [{ peer: peer.url, chunks: 0, bytes: 0 }] });
  });

  it('deploy: verifies, and updates the name in antway.json without changing the rest', async () => {
    const cwd = at('deploy');
    mkdirSync(cwd);
    const config = join(cwd, 'antway.json');
    writeFileSync(config, JSON.stringify({ peers: [peer.url], names: { other: '0'.repeat(64) } }));
    const first = await runCli(['deploy', site, '--name', 'table', '--json'], { cwd });
    expect(JSON.parse(first.stdout)).toMatchObject({ address: hex, changed: true, former: null });
    expect(JSON.parse(readFileSync(config, 'utf8'))).toMatchObject({
      peers: [peer.url],
      names: { other: '0'.repeat(64), table: hex },
      deployment: { name: 'table', address: hex, folder: '../site' },
    });
    const again = await runCli(['deploy', site, '--name', 'table', '--json'], { cwd });
    expect(JSON.parse(again.stdout)).toMatchObject({ changed: false, former: hex, uploadedBytes: 0 });
    const got = await runCli(['cat', 'table/index.html'], { cwd });
    expect(got.stdout).toBe(files['index.html']);
  });

  it('init: copies the files of the drop-in, and replaces no other file', async () => {
    const from = at('drop-in');
    const to = at('www');
    mkdirSync(from);
    for (const name of ['antway.js', 'antway-sw.js', 'antway-brotli-abc.wasm', 'handler.mjs', 'antway.mjs']) {
      writeFileSync(join(from, name), name);
    }
    const args = ['init', to, '--files', from, '--peer', 'https://peer.example'];
    const first = await runCli(args);
    expect(first.stdout).toBe('<script src="antway.js" data-peers="https://peer.example"></script>\n');
    expect(readdirSync(to).sort()).toEqual(['antway-brotli-abc.wasm', 'antway-sw.js', 'antway.js']);
    writeFileSync(join(to, 'antway.js'), 'mine');
    expect(await runCli(args)).toMatchObject({ code: 6, stderr: expect.stringContaining('--force') });
    expect(readFileSync(join(to, 'antway.js'), 'utf8')).toBe('mine');
    expect(JSON.parse((await runCli([...args, '--force', '--json'])).stdout).written).toEqual(['antway.js']);
  });
});

describe.concurrent('a command about peers', () => {
  it('peers: reports each, and ends with code 4 if none answers', async () => {
    const closed = await closedPort();
    const [both, none] = await Promise.all([
      runCli(['peers', peer.url, closed, '--json', '--timeout', '30']),
      runCli(['peers', closed]),
    ]);
    const [answers, silent] = JSON.parse(both.stdout);
    expect([both.code, answers.isReachable, answers.protocol, silent.isReachable]).toEqual([
      0,
      true,
      1,
      false,
    ]);
    expect(none).toMatchObject({ code: 4, stderr: expect.stringContaining('npm start') });
  });

  it('doctor: finds no problem with a peer, and names a peer that is missing', async () => {
    const [well, ill] = await Promise.all([
      runCli(['doctor', '--json', '--peer', peer.url]),
      runCli(['doctor', '--peer', await closedPort()]),
    ]);
    const { findings } = JSON.parse(well.stdout) as { findings: { check: string; level: string }[] };
    expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['Node', 'encryption', 'configuration', 'peer', 'port', 'localhost']),
    );
    expect([well.code, ill.code]).toEqual([0, 1]);
    expect(ill.stdout).toMatch(/^problem +peer +http/m);
  });

  it.each([
    ['get', () => [hex]],
    ['ls', () => [hex]],
    ['cat', () => [`${hex}/x`]],
    ['verify', () => [hex]],
    ['pin', () => [hex]],
    ['export', () => [hex, '-o', at('never')]],
    ['publish', () => [site]],
    ['deploy', () => [site, '--config', at('none.json')]],
    ['peers', () => []],
    ['get', () => ['name-of-a-gateway']],
  ] as const)('%s: reports an unreachable peer, with a suggestion', async (command, args) => {
    if (command === 'deploy') writeFileSync(at('none.json'), '{}');
    const { code, stdout, stderr } = await runCli([command, ...args(), '--peer', await closedPort()]);
    expect(code).toBe(4);
    expect(stderr).toContain('add: --peer <url>');
    expect(command === 'peers' ? '' : stdout).toBe('');
    expect(existsSync(at('never'))).toBe(false);
  });
});

describe.concurrent('all commands', () => {
  it('have a help of their own', async () => {
    const [all, byOption, byCommand] = await Promise.all([
      runCli(['--help']),
      runCli(['get', '--help']),
      runCli(['help', 'get']),
    ]);
    for (const command of Object.keys(commands)) expect(all.stdout).toContain(`\n  ${command} `);
    expect(byOption).toMatchObject({ code: 0, stderr: '' });
    expect(byOption.stdout).toMatch(/^Usage: antway get /);
    expect(byCommand.stdout).toBe(byOption.stdout);
  });

  it.each([
    [[], 'antway --help'],
    [['constructor'], 'antway --help'],
    [['publish', 'a', '--unknown'], 'antway publish --help'],
    [['get'], 'antway get --help'],
  ])('end with code 2 for %j, and name the help', async (args, help) => {
    const { code, stdout, stderr } = await runCli(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^USAGE: .+\nSee .+\.\n$/);
    expect(stderr).toContain(`See ${help}.`);
  });

  it.each(['', 'abc ', '0'.repeat(63), 'ant://\u001b[2J'])(
    'end with code 2 for the address %j, as text and as JSON',
    async (address) => {
      const [text, json] = await Promise.all([
        runCli(['get', '--peer', peer.url, '--', address]),
        runCli(['get', '--json', '--peer', peer.url, '--', address]),
      ]);
      const isName = address === 'abc ';
      expect([text.code, json.code]).toEqual(isName ? [3, 3] : [2, 2]);
      expect(text.stderr).toMatch(isName ? /^NOT_FOUND: / : /^BAD_ADDRESS: /);
      expect(text.stderr).not.toMatch(/[^\P{Cc}\n]/u);
      expect(JSON.parse(json.stderr).code).toBe(isName ? 'NOT_FOUND' : 'BAD_ADDRESS');
    },
  );

  it('take options before variables, and these before the file', async () => {
    const cwd = at('settings');
    mkdirSync(cwd);
    const [byFile, byVariable, byOption] = [await closedPort(), await closedPort(), await closedPort()];
    writeFileSync(join(cwd, 'antway.json'), JSON.stringify({ peers: ['/', byFile] }));
    writeFileSync(join(cwd, 'other.json'), JSON.stringify({ peers: [peer.url] }));
    const asked = async (args: string[], env = {}) =>
      JSON.parse((await runCli(['peers', '--json', ...args], { cwd, env })).stdout).map(
        ({ peer }: { peer: string }) => peer,
      );
    expect(await asked([])).toEqual([byFile]);
    expect(await asked([], { ANTWAY_CONFIG: 'other.json' })).toEqual([peer.url]);
    expect(await asked(['--config', 'antway.json'], { ANTWAY_CONFIG: 'other.json' })).toEqual([byFile]);
    expect(await asked([], { ANTWAY_PEERS: `${byVariable}, ${byFile}` })).toEqual([byVariable, byFile]);
    expect(await asked(['--peer', byOption], { ANTWAY_PEERS: byVariable })).toEqual([byOption]);
    writeFileSync(join(cwd, 'antway.json'), '{"peers": 7}');
    expect(await runCli(['ls', hex], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^BAD_CONFIG: antway\.json, peers: it must be a list\.\n/),
    });
    const wrong = await runCli(['ls', hex], { cwd: scratch, env: { ANTWAY_PEERS: 'nonsense' } });
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^USAGE: ANTWAY_PEERS is invalid/),
    });
  });

  it('end with code 0 when the reader of their output has seen enough', async () => {
    const child = spawn(process.execPath, [built.cli, 'cat', `${hex}/large.bin`, '--peer', peer.url]);
    let stderr = '';
    child.stderr.on('data', (text) => (stderr += text));
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const [code] = await once(child, 'exit');
    expect([code, stderr]).toEqual([0, '']);
  });

  it('leave nothing behind when they are interrupted', async () => {
    const out = at('interrupted');
    mkdirSync(out);
    let requests = 0;
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    // The first chunks arrive, so that files are being written when the others do not.
    await using slow = await LoopbackServer.start((request, response) => {
      if (++requests > 2) return isAsked();
      fetch(peer.url + request.url).then(async (answer) => {
        response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
      });
    });
    const child = spawn(process.execPath, [
      ...[built.cli, 'get', hex, '-r', '-o', join(out, 'site'), '--peer', slow.url],
    ]);
    await asked;
    child.kill('SIGINT');
    const [code] = await once(child, 'exit');
    expect(code).toBe(130);
    expect(readdirSync(out)).toEqual([]);
  });
});
