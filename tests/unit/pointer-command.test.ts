// @module-tag slow
// @module-tag unix
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { buildCli } from '../../src/cli/setup.mjs';
import { finalCounter, parsePointer } from '../../src/content/pointer.ts';
import { parseKeyFile } from '../../src/owner/key-file.ts';
import { OwnerKey } from '../../src/owner/owner-key.ts';
import { signPointer } from '../../src/owner/sign-pointer.ts';
import { runCli } from '../support/cli-process.ts';
import { NodePeerProcess } from '../support/node-peer-process.ts';
import { PeerProcess } from '../support/peer-process.ts';

const passphrase = 'correct horse battery';
const env = { ANTWAY_KEY_PASSPHRASE: passphrase };
const folder = mkdtempSync(join(tmpdir(), 'antway-pointer-'));
let node: NodePeerProcess;
let rust: PeerProcess;
let versions: string[];
let key: string;
let keys = 0;

const antway = (args: string[], options: { env?: NodeJS.ProcessEnv; input?: string } = {}) =>
  runCli(args, { ...options, cwd: folder, env: { ...env, ...options.env } });

const bothPeers = () => ['--peer', node.url, '--peer', rust.url];

/** Runs `antway pointer … --json` at both peers. */
async function pointer(action: string, ...args: string[]) {
  const outcome = await antway(['pointer', action, ...args, '--key', key, '--json', ...bothPeers()]);
  expect(outcome.code, outcome.stderr).toBe(0);
  return JSON.parse(outcome.stdout);
}

/** Runs `antway pointer …` that has to fail. */
async function failure(args: string[], options: { env?: NodeJS.ProcessEnv; input?: string } = {}) {
  const { code, stdout, stderr } = await antway(['pointer', ...args, '--key', key, '--json'], options);
  expect(stdout).toBe('');
  const error = JSON.parse(stderr) as { code: string; message: string };
  return { exit: code, code: error.code, message: error.message };
}

async function at(peer: string, address: string) {
  const response = await fetch(`${peer}/pointer/${address}`);
  if (response.status !== 200) return undefined;
  return parsePointer(new Uint8Array(await response.arrayBuffer()), Address.fromHex(address));
}

/** The owner's key, to sign as another device of the owner does. */
async function ownerKey(): Promise<OwnerKey> {
  return new OwnerKey(await parseKeyFile(readFileSync(key, 'utf8')).seed(passphrase));
}

async function put(peer: string, record: Uint8Array<ArrayBuffer>, address: string): Promise<number> {
  return (await fetch(`${peer}/pointer/${address}`, { method: 'PUT', body: record })).status;
}

beforeAll(async () => {
  await buildCli();
  node = await NodePeerProcess.start(join(folder, 'node'), '--allow-open-writes');
  rust = await PeerProcess.start({ store: join(folder, 'rust') });
  versions = [];
  for (const text of ['first', 'second', 'third']) {
    const file = join(folder, `${text}.html`);
    writeFileSync(file, text);
    const { stdout, stderr } = await antway(['publish', file, '--json', ...bothPeers()]);
    expect(stderr).toBe('');
    versions.push(JSON.parse(stdout).address);
  }
});

beforeEach(() => {
  key = join(folder, `site-${++keys}.key`);
});

afterAll(async () => {
  await node.stop();
  await rust.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('antway pointer', () => {
  it('creates a pointer, moves it, returns to an earlier state and freezes it, at both kinds of peers', async () => {
    const created = await pointer('create', versions[0]!);
    expect(created).toMatchObject({ counter: '0', kind: 'chunk', target: versions[0], frozen: false });
    const { address } = created;
    expect(readdirSync(folder).filter((name) => name.endsWith('.partial'))).toEqual([]);
    const peers = [node.url, rust.url];
    for (const peer of peers) expect(await at(peer, address)).toMatchObject({ counter: 0n });
    const read = await antway(['cat', address, ...bothPeers()]);
    expect(read.stdout).toBe('first');

    expect(await pointer('update', versions[1]!)).toMatchObject({ address, counter: '1', stored: peers });
    // The same again signs nothing.
    const again = await pointer('update', versions[1]!);
    expect(again).toMatchObject({ counter: '1', stored: [], present: peers });
    expect((await antway(['cat', address, ...bothPeers()])).stdout).toBe('second');
    expect(await pointer('update', `ant://${versions[0]}`)).toMatchObject({ counter: '2' });

    expect(await pointer('freeze', '--yes')).toMatchObject({ counter: `${finalCounter}`, frozen: true });
    const shown = await pointer('show');
    expect(shown).toMatchObject({ address, target: versions[0], frozen: true });
    expect(shown.states.map((state: { counter: string }) => state.counter)).toEqual([
      '0',
      '1',
      '2',
      `${finalCounter}`,
    ]);
    expect(shown.peers).toEqual(peers.map((url) => ({ url, counter: `${finalCounter}` })));
    const refusal = await failure(['update', versions[2]!, ...bothPeers()]);
    expect(refusal).toMatchObject({ exit: 6, code: 'REFUSED' });
    expect(refusal.message).toMatch(/frozen/);
  });

  it('leads to another pointer, which its owner moves', { tags: 'full' }, async () => {
    const { address: inner } = await pointer('create', versions[0]!);
    key = join(folder, `outer-${keys}.key`);
    const outer = await pointer('create', inner);
    expect(outer).toMatchObject({ kind: 'pointer', target: inner });
    expect((await antway(['cat', outer.address, ...bothPeers()])).stdout).toBe('first');
  });

  it('sends the newest state to a peer that lacks it', { tags: 'full' }, async () => {
    const only = ['--key', key, '--json', '--peer', node.url];
    const { stdout } = await antway(['pointer', 'create', versions[0]!, ...only]);
    const { address } = JSON.parse(stdout);
    expect(await at(rust.url, address)).toBeUndefined();
    const moved = await pointer('update', versions[0]!);
    expect(moved).toMatchObject({ counter: '0', stored: [rust.url], present: [node.url] });
  });

  it('signs above the counter of another device of the owner', { tags: 'full' }, async () => {
    const { address } = await pointer('create', versions[0]!);
    const other = signPointer(await ownerKey(), { kind: 'chunk', target: Address.fromHex(versions[1]!) }, [
      { counter: 40n },
    ]);
    expect(await put(rust.url, other.record, address)).toBe(201);
    expect(await pointer('update', versions[2]!)).toMatchObject({ counter: '42' });
  });

  it('signs above its own counters if peers answer an older state', async () => {
    const { address } = await pointer('create', versions[0]!);
    const old = (await at(rust.url, address))!;
    await pointer('update', versions[1]!);
    // A peer that withholds the newest state: it has stored the first state alone.
    const store = join(folder, `old-${keys}`);
    const stale = await NodePeerProcess.start(store, '--allow-open-writes');
    try {
      expect(await put(stale.url, old.record, address)).toBe(201);
      await antway(['publish', join(folder, 'third.html'), '--peer', stale.url]);
      const args = ['pointer', 'update', versions[2]!, '--key', key, '--json', '--peer', stale.url];
      expect(JSON.parse((await antway(args)).stdout)).toMatchObject({ counter: '2' });
    } finally {
      await stale.stop();
    }
  });

  it('resolves two states with one counter by a higher one', { tags: 'full' }, async () => {
    const { address } = await pointer('create', versions[0]!);
    const own = (await pointer('update', versions[1]!)).target as string;
    const target = Address.fromHex('00'.repeat(32));
    const fork = signPointer(await ownerKey(), { kind: 'chunk', target }, [{ counter: 0n }]);
    const store = join(folder, `fork-${keys}`);
    const forked = await NodePeerProcess.start(store, '--allow-open-writes');
    try {
      expect(await put(forked.url, fork.record, address)).toBe(201);
      await antway(['publish', join(folder, 'second.html'), '--peer', forked.url]);
      // Which of the two states would last for ever is not the command's to decide.
      const refusal = await failure(['freeze', '--yes', '--peer', forked.url]);
      expect(refusal).toMatchObject({ exit: 6, code: 'REFUSED' });
      const args = ['pointer', 'update', own, '--key', key, '--json', '--peer', forked.url];
      expect(JSON.parse((await antway(args)).stdout)).toMatchObject({ counter: '2', target: own });
    } finally {
      await forked.stop();
    }
  });

  it('refuses to sign while another command signs with the key', async () => {
    const { address } = await pointer('create', versions[0]!);
    let release = () => {};
    const isAsked = new Promise<void>((asked) => {
      release = asked;
    });
    // A peer that does not tell its state until the test has seen the second command.
    const answers: (() => void)[] = [];
    const slow = createServer((request, response) => {
      if (!request.url!.startsWith('/pointer/')) return void response.writeHead(404).end();
      answers.push(() => response.writeHead(500).end());
      release();
    });
    await once(slow.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
    try {
      const first = failure(['update', versions[1]!, ...bothPeers(), '--peer', url]);
      await isAsked;
      const refusal = await failure(['update', versions[2]!, ...bothPeers()]);
      expect(refusal).toMatchObject({ exit: 6, code: 'REFUSED' });
      expect(refusal.message).toContain(`${key}.lock`);
      for (const answer of answers) answer();
      expect(await first).toMatchObject({ code: 'PEERS_UNREACHABLE' });
      expect(await at(node.url, address)).toMatchObject({ counter: 0n });
      // The first command has released the key, although it failed.
      expect(await pointer('update', versions[2]!)).toMatchObject({ counter: '1' });
    } finally {
      slow.closeAllConnections();
      slow.close();
    }
  });

  it('signs nothing if a peer does not tell its state', async () => {
    const { address } = await pointer('create', versions[0]!);
    const silent = createServer((request, response) => {
      response.writeHead(request.url!.startsWith('/-/') ? 404 : 500).end();
    });
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    try {
      const refusal = await failure(['update', versions[1]!, ...bothPeers(), '--peer', url]);
      expect(refusal).toMatchObject({ exit: 4, code: 'PEERS_UNREACHABLE' });
      expect(refusal.message).toContain(url);
      expect(await at(node.url, address)).toMatchObject({ counter: 0n });
      expect(JSON.parse(readFileSync(`${key}.states`, 'utf8')).states).toHaveLength(1);
    } finally {
      silent.close();
    }
  });

  it('remembers a state that no peer accepted, and sends it again', { tags: 'full' }, async () => {
    const { address } = await pointer('create', versions[0]!);
    const closed = await NodePeerProcess.start(join(folder, `closed-${keys}`));
    try {
      const args = ['update', versions[1]!, '--peer', closed.url];
      expect(await failure(args)).toMatchObject({ exit: 3, code: 'NOT_FOUND' });
      const refusal = await failure(['freeze', '--yes', '--peer', closed.url]);
      expect(refusal).toMatchObject({ exit: 6, code: 'REFUSED' });
    } finally {
      await closed.stop();
    }
    // The final state was signed before the peer refused it, so it is the only state that may be sent.
    expect(await pointer('freeze', '--yes')).toMatchObject({ address, stored: [node.url, rust.url] });
  });

  it('keeps the key encrypted, for this user alone, and no secret in any other file', async () => {
    await pointer('create', versions[0]!);
    expect(statSync(key).mode & 0o777).toBe(0o600);
    const seed = Buffer.from(await parseKeyFile(readFileSync(key, 'utf8')).seed(passphrase));
    for (const path of [key, `${key}.states`]) {
      const bytes = readFileSync(path);
      expect(bytes.includes(seed)).toBe(false);
      for (const form of ['hex', 'base64', 'base64url'] as const) {
        expect(bytes.toString().toLowerCase()).not.toContain(seed.toString(form).toLowerCase());
      }
    }
  });

  it('recovers the key from its phrase on another device', { tags: 'full' }, async () => {
    const { address } = await pointer('create', versions[0]!);
    const { stdout: phrase } = await antway(['pointer', 'phrase', '--key', key]);
    expect(phrase.trim().split(' ')).toHaveLength(24);
    key = join(folder, `recovered-${keys}.key`);
    const recovered = await antway(['pointer', 'recover', '--key', key, '--json'], { input: phrase });
    expect(JSON.parse(recovered.stdout)).toEqual({ address, key });
    expect(await pointer('update', versions[1]!)).toMatchObject({ address, counter: '1' });
  });

  it.each([
    ['an existing key file', () => ['recover'], { exit: 6, code: 'REFUSED' }, true],
    ['a wrong passphrase', () => ['phrase'], { exit: 6, code: 'REFUSED' }, true],
    ['content that no peer has', () => ['update', '00'.repeat(32)], { exit: 3, code: 'NOT_FOUND' }, true],
    ['a path', () => ['update', `${versions[0]}/x`], { code: 'UNSUPPORTED' }, true],
    ['a missing key', () => ['update', versions[0]!], { exit: 3, code: 'NOT_FOUND' }, false],
    ['no content', () => ['create'], { exit: 2, code: 'USAGE' }, false],
    ['content for freeze', () => ['freeze', 'x'], { exit: 2, code: 'USAGE' }, false],
    ['an unknown action', () => ['delete'], { exit: 2, code: 'USAGE' }, false],
    ['no confirmation', () => ['freeze'], { exit: 2, code: 'USAGE' }, true],
  ])('ends with a code for %s', async (name, args, expected, hasKey) => {
    if (hasKey) await pointer('create', versions[0]!);
    const { stdout: phrase } = hasKey ? await antway(['pointer', 'phrase', '--key', key]) : { stdout: '' };
    const variable = name === 'a wrong passphrase' ? { ANTWAY_KEY_PASSPHRASE: 'wrong one' } : {};
    const options = { env: variable, input: phrase };
    expect(await failure([...args(), ...bothPeers()], options)).toMatchObject(expected);
    expect(existsSync(key)).toBe(hasKey);
  });

  it('needs a passphrase, and refuses a damaged file of states', { tags: 'full' }, async () => {
    const without = { env: { ANTWAY_KEY_PASSPHRASE: '' } };
    const args = ['create', versions[0]!, ...bothPeers()];
    expect(await failure(args, without)).toMatchObject({ exit: 2, code: 'USAGE' });
    await pointer('create', versions[0]!);
    for (const text of [
      '',
      '{}',
      readFileSync(`${key}.states`, 'utf8').replace(/"record": "..../, '$&ffff'),
    ]) {
      writeFileSync(`${key}.states`, text);
      const refusal = await failure(['update', versions[1]!, ...bothPeers()]);
      expect(refusal).toMatchObject({ exit: 2, code: 'BAD_CONFIG' });
    }
  });
});
