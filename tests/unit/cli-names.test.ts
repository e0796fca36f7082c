// @module-tag slow
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { buildCli } from '../../src/cli/setup.mjs';
import { type CliOutcome, runCli } from '../support/cli-process.ts';
import { LoopbackServer } from '../support/loopback-server.ts';
import { NodePeerProcess } from '../support/node-peer-process.ts';
import { PointerOwner } from '../support/pointers.ts';
import { publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';

/** Names and lists of names in the command, in processes of their own, against a peer in Node. */
const folder = mkdtempSync(join(tmpdir(), 'antway-names-'));
const owner = new PointerOwner(51);
const looping = [new PointerOwner(52), new PointerOwner(53)] as const;
/** Names that a stranger could put into a list: an escape sequence, a change of direction, a look-alike. */
const hostile = { '\x1b]0;title\x07': 'name', '\u009b2J': 'name', '\u202egnab': 'name', Tide: 'name' };

let peer: NodePeerProcess;
let page: string;
let site: string;
let list: string;

const run = (...args: string[]) => runCli(args, { cwd: folder });
const errorOf = ({ code, stdout, stderr }: CliOutcome) => {
  expect(stdout).toBe('');
  return { exit: code, ...(JSON.parse(stderr) as { code: string; message: string }) };
};
const listOf = (names: object, more: object = {}) =>
  Buffer.from(JSON.stringify({ antwayNames: 1, names, ...more }));
const sink = {
  async put(address: string, body: Uint8Array) {
    const response = await fetch(`${peer.url}/chunk/${address}`, {
      method: 'PUT',
      body: Uint8Array.from(body),
    });
    expect(response.ok).toBe(true);
  },
};

async function putPointer(from: PointerOwner, counter: bigint, target: Address, kind?: 'pointer') {
  const url = `${peer.url}/pointer/${from.address.hex}`;
  const response = await fetch(url, { method: 'PUT', body: from.sign(counter, target, kind) });
  expect(response.ok).toBe(true);
}

beforeAll(async () => {
  await buildCli();
  peer = await NodePeerProcess.start(join(folder, 'store'), '--allow-open-writes');
  page = await publish(Buffer.from('the tide'), sink);
  site = await publish(await makeTarchive({ 'index.html': 'a start', 'docs/a.txt': 'a note' }), sink);
  const bad = Object.fromEntries(Object.keys(hostile).map((name) => [name, site]));
  list = await publish(listOf({ tide: page, größe: site, ...bad }, { title: 'Club\u009b\x1b[31m' }), sink);
  await putPointer(owner, 1n, Address.fromHex(list));
  await putPointer(looping[0], 1n, looping[1].address, 'pointer');
  await putPointer(looping[1], 1n, looping[0].address, 'pointer');
  const nameLists = {
    club: owner.address.hex,
    loop: looping[0].address.hex,
    site,
    page,
    absent: 'ab'.repeat(32),
  };
  const config = {
    peers: [peer.url],
    names: { home: site, feed: owner.address.hex, looped: looping[0].address.hex },
    nameLists,
  };
  writeFileSync(join(folder, 'antway.json'), JSON.stringify(config));
}, 120_000);

afterAll(async () => {
  await peer.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe.concurrent('antway names show', () => {
  const expected = {
    title: 'Club [31m',
    names: { tide: '', größe: '' },
    left: [
      { name: '\x1b]0;title\x07', reason: 'It is no valid name (hidden).' },
      { name: '\u009b2J', reason: 'It is no valid name (hidden).' },
      { name: '\u202egnab', reason: 'It is no valid name (hidden).' },
      { name: 'Tide', reason: 'It looks like “tide”.' },
    ],
  };

  it.each<[string, () => string]>([
    ['the address of a pointer', () => owner.address.hex],
    ['a link', () => `ant://${owner.address.hex}/`],
    ['the address of a file', () => list],
    ['a name of the configuration file', () => '~feed'],
  ])('shows the list at %s, and what is left out of it', async (_, text) => {
    const { code, stdout, stderr } = await run('names', 'show', text(), '--json');
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({ ...expected, names: { tide: page, größe: site } });
  });

  it('prints texts of the owner without control characters', async () => {
    const { code, stdout, stderr } = await run('names', 'show', owner.address.hex);
    expect(code).toBe(0);
    expect(stdout).toBe(`${page}  tide\n${site}  größe\n`);
    expect(stderr).toContain('Club [31m');
    expect(stderr.match(/Left out: /g)).toHaveLength(4);
    expect(stderr).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
    const quiet = await run('names', 'show', owner.address.hex, '-q');
    expect(quiet).toMatchObject({ code: 0, stdout, stderr: '' });
  });

  it.each<[string, () => string, string, RegExp]>([
    ['a site', () => site, 'UNSUPPORTED', /a JSON file/],
    ['another file', () => page, 'UNSUPPORTED', /not JSON/],
    [
      'pointers that lead to each other',
      () => looping[0].address.hex,
      'TOO_LARGE',
      /leads through more than 8/,
    ],
    ['an address that no peer has', () => 'ab'.repeat(32), 'NOT_FOUND', /No peer has this record/],
    ['a name of a list in a list', () => 'none@club', 'NOT_FOUND', /no name “none”/],
    ['no address', () => 'ant://~../', 'BAD_ADDRESS', /64 hex digits/],
  ])('explains that there is no list at %s', async (_, text, code, message) => {
    const error = errorOf(await run('names', 'show', text(), '--json'));
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(error.exit).not.toBe(0);
  });
});

describe.concurrent('antway names check', () => {
  const check = (file: string, content: string | Uint8Array, ...args: string[]) => {
    writeFileSync(join(folder, file), content);
    return run('names', 'check', file, ...args);
  };

  it('accepts a list, without any peer', async () => {
    const { code, stdout, stderr } = await check(
      'good.json',
      listOf({ tide: page }),
      '--json',
      '--peer',
      'http://127.0.0.1:9',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({ title: '', names: { tide: page }, left: [] });
  });

  it.each<[string, () => string | Uint8Array, string, RegExp]>([
    [
      'an invalid name',
      () => listOf({ tide: page, 'a b': page }),
      'BAD_CONFIG',
      /“a b”: It is no valid name/,
    ],
    [
      'names that look alike',
      () => listOf({ tide: page, t1de: site }),
      'BAD_CONFIG',
      /“t1de”: It looks like “tide”/,
    ],
    ['a name that looks like an address', () => listOf({ ['ab'.repeat(32)]: page }), 'BAD_CONFIG', /address/],
    ['no addresses', () => listOf({ tide: 'docs' }), 'UNSUPPORTED', /tide/],
    ['another version', () => listOf({}, { antwayNames: 2 }), 'UNSUPPORTED', /antwayNames/],
    ['an unknown key', () => listOf({}, { lists: {} }), 'UNSUPPORTED', /lists/],
    ['no JSON', () => '{', 'UNSUPPORTED', /not JSON/],
    [
      'too many names',
      () => listOf(Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`x${i}x`, page]))),
      'TOO_LARGE',
      /at most 500 names, not 501/,
    ],
    ['too many bytes', () => ' '.repeat(70_000), 'TOO_LARGE', /at most 65536 bytes, not 70000/],
  ])('refuses a file with %s', { tags: 'full' }, async (what, content, code, message) => {
    const outcome = await check(`${what.replaceAll(' ', '-')}.json`, content(), '--json');
    const error = errorOf(outcome);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(error.exit).not.toBe(0);
  });

  it('explains that the file or the action is missing', async () => {
    const absent = errorOf(await run('names', 'check', 'absent.json', '--json'));
    expect(absent).toMatchObject({ exit: 3, code: 'NOT_FOUND', message: 'There is no “absent.json”.' });
    const { code, stderr } = await run('names', 'remove', 'x');
    expect(code).toBe(2);
    expect(stderr).toContain('Allowed choices are show, check');
  });
});

describe.concurrent('an address of the command', () => {
  it.each([
    ['a name of the user', '~home/index.html', 'a start'],
    ['a path below it', '~home/docs/a.txt', 'a note'],
    ['a link to it', 'ant://~home/docs/a.txt', 'a note'],
    ['a name of a list', 'tide@club', 'the tide'],
    ['a name of a list as of the user', '~tide@club', 'the tide'],
    ['a name in normal form or not', 'gro\u0308ße@club/docs/a.txt', 'a note'],
    ['a link to a name of a list', 'ant://gr%C3%B6%C3%9Fe@club/docs/a.txt', 'a note'],
  ])('can be %s', async (_, text, content) => {
    expect(await run('cat', '-q', text)).toMatchObject({ code: 0, stdout: content, stderr: '' });
  });

  it.each([
    ['a name that the file does not have', '~none', 'NOT_FOUND', /no name “none” in .*antway\.json/],
    ['a label that the file does not have', 'tide@none', 'NOT_FOUND', /no list of names “none” in/],
    ['a name that the list does not have', 'none@club', 'NOT_FOUND', /list “club” has no name “none”/],
    ['a property of every object', 'constructor@club', 'NOT_FOUND', /has no name/],
    ['a name that the list lost, because it looks like another', 'Tide@club', 'NOT_FOUND', /has no name/],
    ['a list whose pointers lead to each other', 'tide@loop', 'TOO_LARGE', /leads through more than 8/],
    ['a list that is a site', 'tide@site', 'UNSUPPORTED', /This address is a site/],
    ['a list that is another file', 'tide@page', 'UNSUPPORTED', /not JSON/],
    ['a list that no peer has', 'tide@absent', 'NOT_FOUND', /No peer has this record/],
    ['a name of pointers that lead to each other', '~looped', 'TOO_LARGE', /leads through more than 8/],
    ['dots in place of a name', '~../x', 'BAD_ADDRESS', /64 hex digits/],
    ['an escaped slash in a name', 'ant://~home%2f..%2fx', 'BAD_ADDRESS', /64 hex digits/],
  ])('is refused for %s', { tags: 'full' }, async (_, text, code, message) => {
    const error = errorOf(await run('cat', text, '--json'));
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('is never asked of a gateway, if it is a name of the user', async () => {
    const asked: string[] = [];
    const server = await LoopbackServer.start((request, response) => {
      asked.push(request.url!);
      const names = { names: { '~home': page, home: page, none: page } };
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(names));
    });
    try {
      const error = errorOf(await run('cat', '~none', '--peer', server.url, '--json'));
      expect(error).toMatchObject({
        code: 'NOT_FOUND',
        message: expect.stringContaining('no name “none” in'),
      });
      expect(asked).toEqual([]);
      const url = errorOf(await run('cat', `${server.url}/~home/x`, '--json'));
      expect(url).toMatchObject({
        code: 'NOT_FOUND',
        message: expect.stringContaining('which only that browser knows'),
      });
      expect(asked.filter((path) => path.includes('~'))).toEqual([]);
    } finally {
      await server.stop();
    }
  });
});
