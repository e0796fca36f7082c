// @module-tag slow
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha3_256 } from '@noble/hashes/sha3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/address.ts';
import { buildCli } from '../../src/cli/setup.mjs';
import { createKeyFile } from '../../src/owner/key-file.ts';
import { OwnerKey } from '../../src/owner/owner-key.ts';
import { runCli } from '../support/cli-process.ts';
import { makeTarchive } from '../support/tarchive.ts';

const passphrase = 'correct horse battery';
const env = { ANTWAY_KEY_PASSPHRASE: passphrase };
const alice = new OwnerKey(new Uint8Array(32).fill(1));
let folder: string;

beforeAll(async () => {
  await buildCli();
  folder = mkdtempSync(join(tmpdir(), 'antway-signed-'));
  mkdirSync(join(folder, 'site/docs'), { recursive: true });
  writeFileSync(join(folder, 'site/index.html'), '<h1>Low Tide</h1>');
  writeFileSync(join(folder, 'site/docs/a b.txt'), 'blanks');
  writeFileSync(join(folder, 'alice.key'), await createKeyFile(new Uint8Array(32).fill(1), passphrase));
  writeFileSync(join(folder, 'antway.json'), JSON.stringify({ names: { alice: alice.address.hex } }));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

const antway = (...args: string[]) => runCli(args, { cwd: folder, env });

async function json(...args: string[]) {
  const { code, stdout, stderr } = await antway(...args, '--json');
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

const publish = async (path: string, ...args: string[]): Promise<{ address: string; signer?: string }> =>
  json('publish', path, '--out', 'chunks', ...args);

describe('antway publish --sign', () => {
  it('signs each file, which “ls” and “verify” show with the user’s name for the key', async () => {
    const { address, signer } = await publish('site', '--sign', 'alice.key');
    expect(signer).toBe(alice.address.hex);
    const listed = await json('ls', address, '-r', '--signatures', '--from', 'chunks');
    const signature = { state: 'valid', signer: alice.address.hex, name: '~alice' };
    expect(listed).toMatchObject(
      ['archive.tar.key', 'docs/a b.txt', 'index.html'].map((path) => ({ path, signature })),
    );
    const short = `${alice.address.hex.slice(0, 8)}…${alice.address.hex.slice(-6)}`;
    const { stdout } = await antway('ls', address, '--signatures', '--from', 'chunks');
    expect(stdout).toContain(`17  valid ${short} ~alice  index.html\n`);
    expect((await json('verify', address, '--from', 'chunks')).signatures).toEqual({
      signer: alice.address.hex,
      name: '~alice',
      valid: 3,
      invalid: [],
      noKey: 0,
      unsigned: 0,
    });
  });

  it('gives the same address each time, and another one than without signatures', {
    tags: 'full',
  }, async () => {
    const first = await publish('site', '--sign', 'alice.key');
    expect(await publish('site', '--sign', 'alice.key')).toMatchObject({ address: first.address });
    expect((await publish('site')).address).not.toBe(first.address);
  });

  it('costs what “cost --sign” says', { tags: 'full' }, async () => {
    const published = await publish('site', '--sign', 'alice.key');
    const { files, size, chunks, address } = await json('cost', 'site', '--exact', '--sign', 'alice.key');
    expect({ files, size, chunks, address }).toEqual({
      files: 3,
      ...Object.fromEntries(Object.entries(published).filter(([key]) => /^(size|chunks|address)$/.test(key))),
    });
    expect((await json('cost', 'site', '--sign', 'alice.key')).size).toBe(size);
  });

  it('refuses a wrong passphrase and a single file', async () => {
    const wrong = await runCli(['publish', 'site', '--out', 'chunks', '--sign', 'alice.key', '--json'], {
      cwd: folder,
      env: { ANTWAY_KEY_PASSPHRASE: 'another passphrase' },
    });
    expect(JSON.parse(wrong.stderr)).toMatchObject({ code: 'REFUSED' });
    const single = await antway('publish', 'site/index.html', '--out', 'chunks', '--sign', 'alice.key');
    expect(single.code).toBe(2);
    expect(single.stderr).toContain('Only the files of a folder can be signed');
  });
});

describe('antway ls and verify', () => {
  it('show an archive without signatures as unsigned', { tags: 'full' }, async () => {
    const { address } = await publish('site');
    const { stdout } = await antway('ls', address, '--signatures', '--from', 'chunks');
    expect(stdout).toContain('17  unsigned  index.html\n');
    expect((await json('verify', address, '--from', 'chunks')).signatures).toBeNull();
  });

  it('name no key for a signature that a stranger copied, and fail', async () => {
    const xorname = sha3_256(new TextEncoder().encode('honest'));
    const signature = ` ${toHex(xorname)} ${toHex(alice.signContent(xorname))}`;
    const files = { 'evil.txt': 'evil', 'archive.tar.key': `${toHex(alice.publicKey)}\n` };
    const tar = await makeTarchive(files, (lines) =>
      lines
        .map(({ path, offset, size }) => `${path} ${offset} ${size}${path === 'evil.txt' ? signature : ''}\n`)
        .join(''),
    );
    writeFileSync(join(folder, 'forged.tar'), tar);
    const { address } = await publish('forged.tar');
    const { stdout } = await antway('ls', address, '--signatures', '--from', 'chunks');
    expect(stdout).toContain('INVALID   evil.txt\n');
    expect(stdout).not.toContain('alice');
    expect(stdout).not.toContain(alice.address.hex.slice(0, 8));
    const verified = await antway('verify', address, '--from', 'chunks');
    expect(verified.stdout).toContain('signatures  INVALID: evil.txt\n');
    expect(verified.stdout).not.toContain(alice.address.hex);
    expect(verified.code).not.toBe(0);
    const report = await antway('verify', address, '--from', 'chunks', '--json');
    expect(JSON.parse(report.stdout).signatures).toMatchObject({
      signer: null,
      valid: 0,
      invalid: ['evil.txt'],
    });
  });

  it('follow the routes of the archive once, as “get” does', { tags: 'full' }, async () => {
    const xorname = sha3_256(new TextEncoder().encode('honest'));
    const signature = ` ${toHex(xorname)} ${toHex(alice.signContent(xorname))}`;
    const files = {
      'evil.txt': 'evil',
      'honest.txt': 'honest',
      'archive.tar.key': `${toHex(alice.publicKey)}\n`,
      'app-conf.json': JSON.stringify({ routeMap: { 'page.txt': 'evil.txt', 'evil.txt': 'honest.txt' } }),
    };
    const tar = await makeTarchive(files, (lines) =>
      lines
        .map(
          ({ path, offset, size }) => `${path} ${offset} ${size}${path === 'honest.txt' ? signature : ''}\n`,
        )
        .join(''),
    );
    writeFileSync(join(folder, 'routed.tar'), tar);
    const { address } = await publish('routed.tar');
    const stateAt = async (path: string) => {
      const [file] = await json('ls', `${address}/${path}`, '--signatures', '--from', 'chunks');
      return file.signature.state;
    };
    const got = await antway('get', `${address}/page.txt`, '--from', 'chunks', '-o', '-');
    expect([got.stdout, await stateAt('page.txt')]).toEqual(['evil', 'unsigned']);
    expect(await stateAt('evil.txt')).toBe('valid');
  });
});
