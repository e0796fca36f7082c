import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { peerFrom } from '../../src/cli/options.ts';
import { runProgram } from '../../src/cli/program.ts';
import { sanitizeFilename } from '../../src/cli/sanitize-filename.ts';
import { loadSettings, writablePeers } from '../../src/cli/settings.ts';
import { targetOf } from '../../src/cli/target.ts';
import { UsageError } from '../../src/cli/usage-error.ts';

const { signal } = new AbortController();
const hex = `${'0123456789'.repeat(6)}0123`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'antway-arguments-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the command line', () => {
  it.each([
    [[]],
    [['frobnicate']],
    [['constructor']],
    [['--unknown']],
    [['publish']],
    [['publish', 'a', 'b']],
    [['publish', 'a', '--unknown']],
    [['publish', 'a', '--peer']],
    [['publish', 'a', '--peer', 'peer.example']],
    [['publish', 'a', '--peer', '/']],
    [['publish', 'a', '--peer', 'http://example.org']],
    [['publish', 'a', '--peer', 'https://peer.example/path']],
    [['publish', 'a', '--peer', `https://peer.example#sha-256=${'0'.repeat(64)}`]],
    [['publish', 'a', '--peer', 'antd+http://127.0.0.1:8082']],
    [['publish', 'a', '--peer', 'https://peer.example', '--out', 'b']],
    [['publish', 'a', '--gateway', 'nowhere']],
    [['get']],
    [['get', hex, '--token', 'x']],
    [['get', hex, '--from', 'a', '--peer', 'https://peer.example']],
    [['get', hex, hex, '-o', 'one-file']],
    [['verify']],
    [['verify', 'http://gateway.example']],
    [['verify', 'https://a.example', '--peer', 'https://b.example']],
    [['verify', hex, '--build', 'dist']],
    [['pin', hex, '--to', 'x']],
    [['import', 'a', '--out', 'a', '--store', 'b']],
    [['serve', 'x', '--port', '99999']],
    [['serve', 'x', '--port', '-1']],
    [['serve', 'x', '--name', '../x']],
    [['deploy', 'x', '--name', hex]],
    [['deploy', 'x', '--name', '__proto__']],
    [['peers', 'x']],
    [['peers', '--timeout', '0']],
    [['completion', 'tcsh']],
    [['peer']],
    [['peer', '--store', 'x', '--allow-origin', 'https://a.example/']],
    [['peer', '--store', 'x', '--allow-origin', 'https://a.example,b.example']],
    [['peer', '--store', 'x', '--allow-origin', '']],
  ])('is refused: %j', async (args: string[]) => {
    await expect(runProgram(args, { env: {}, signal })).rejects.toThrow(UsageError);
  });
});

describe('the settings', () => {
  it('take no peer that Node cannot reach from a file, and the default peer if none is left', async () => {
    const file = join(folder, 'antway.json');
    writeFileSync(file, JSON.stringify({ peers: ['/', `https://a.example#sha-256=${'0'.repeat(64)}`] }));
    const { peers, isExplicit } = await loadSettings({ config: file }, {});
    expect([peers.map(String), isExplicit]).toEqual([['http://antway.localhost:8080'], false]);
  });

  it('take the token from the option or the variable, as text', async () => {
    const env = { ANTWAY_TOKEN: '00123', ANTWAY_CONFIG: join(folder, 'c.json') };
    writeFileSync(env.ANTWAY_CONFIG, '{}');
    expect(await loadSettings({}, env)).toMatchObject({ token: '00123' });
    expect(await loadSettings({ token: '0e5' }, env)).toMatchObject({ token: '0e5' });
    expect(await loadSettings({}, { ...env, ANTWAY_TOKEN: '' })).toMatchObject({ token: undefined });
  });

  it('with a wrong file are an error that names the place', async () => {
    const config = join(folder, 'wrong.json');
    await expect(loadSettings({ config }, {})).rejects.toMatchObject({ code: 'NOT_FOUND' });
    for (const [text, message] of [
      ['{', /is not JSON/],
      ['{"peers":["x"]}', /peers\[0\]/],
      ['[]', /must be an object/],
    ] as const) {
      writeFileSync(config, text);
      await expect(loadSettings({ config }, {})).rejects.toThrow(message);
    }
  });

  it('let AntTP be read from, and not be written to', async () => {
    const settings = await loadSettings({ peer: [peerFrom('anttp+http://127.0.0.1:18888')] }, {});
    expect(() => writablePeers(settings)).toThrow(UsageError);
  });
});

describe('a target', () => {
  const settings = async () => {
    const config = join(folder, 'antway.json');
    writeFileSync(config, JSON.stringify({ peers: ['http://127.0.0.1:9'], names: { docs: hex } }));
    return loadSettings({ config }, {});
  };
  const read = async (text: string) => targetOf(text, await settings(), true, signal);

  it.each([
    [hex, [''], undefined],
    [`${hex}/`, [''], undefined],
    [`${hex}/a b/100%.txt`, ['a b/100%.txt'], '100%.txt'],
    [`${hex}//a`, ['/a'], 'a'],
    [`${hex}/a%20b`, ['a%20b', 'a b'], 'a b'],
    [`${hex}/why?#x`, ['why?#x', 'why'], 'why'],
    [`ant://${hex}/a%20b?filename=c.txt`, ['a b'], 'c.txt'],
    [`ant://${hex}?name=report.pdf`, [''], 'report.pdf'],
    ['docs/a', ['a'], 'a'],
  ])('%j has its possible paths and its file name', async (text, paths, filename) => {
    const target = await read(text);
    expect([target.address.hex, target.paths, target.filename]).toEqual([hex, paths, filename]);
  });

  it.each([
    '',
    ' ',
    'ipfs://x',
    '../../x',
    hex.slice(1),
    `${hex}0`,
    `0x${hex}`,
    `x${hex.slice(1)}`,
    'ant://\u001b[2J',
  ])('%j is no address', async (text) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'BAD_ADDRESS' });
  });

  it.each(['constructor', 'toString', 'hasOwnProperty'])('%s is no name', async (text) => {
    await expect(read(text)).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
  });

  it('of a link with a manifest has the hash of its bytes as address', async () => {
    const { manifest, paths } = await read('https://a.example/#manifest/wUFOVAGA/a%20b.txt');
    expect([manifest, paths]).toEqual([Uint8Array.of(0xc1, 0x41, 0x4e, 0x54, 1, 0x80), ['a b.txt']]);
    await expect(read('ant://manifest/%%%')).rejects.toMatchObject({ code: 'BAD_ADDRESS' });
  });
});

describe('the name of a new file', () => {
  it.each([
    ['sub/a b.txt', 'a b.txt'],
    ['../../.bashrc', 'bashrc'],
    ['..', undefined],
    ['/', undefined],
    ['-rf', 'rf'],
    ['C:\\Windows\\x.exe', 'x.exe'],
    ['a\u202etxt.exe\u0000\n', 'atxt.exe'],
    ['CON<>:"|?*.txt', '_CON.txt'],
    ['nul', '_nul'],
    ['LPT1 .log', '_LPT1 .log'],
    ['console.txt', 'console.txt'],
    ['x. . .', 'x'],
    ['\u001b]0;t\u0007', ']0;t'],
  ])('for %j is %j', (path, name) => {
    expect(sanitizeFilename(path)).toBe(name);
  });

  it('has a bounded length', () => {
    expect(sanitizeFilename('ü'.repeat(5_000))).toHaveLength(100);
    expect(sanitizeFilename(`${'ü'.repeat(99)}. x`)).toBe('ü'.repeat(99));
  });
});
