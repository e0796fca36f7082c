// @module-tag isolated
// @module-tag unix
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { limits } from '../../src/limits.ts';
import { type Answer, errorCode } from '../support/gateway-client.ts';
import { dumpSettings, encodeManifest, makeMixedManifest, manifestHeader } from '../support/manifests.ts';
import { fromRoot } from '../support/paths.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { type NodeGateway, patient, test, textsOf } from './support/node-gateway.ts';

const secret = 'a private file, whose keys only its manifest holds';

let peer: PeerProcess;
let gateway: NodeGateway;

test.beforeEach(async ({ startPeer, openGateway }) => {
  peer = await startPeer({ webTransport: 'none' });
  gateway = await openGateway({ peers: [peer.url] });
});

test('a stored manifest is listed by its name, and deleting its site in the library deletes it', async () => {
  const sites = async () => JSON.parse((await gateway.fetch('/-/sites')).text).sites;
  const { id } = JSON.parse((await add(await makeMixedManifest(secret, peer))).text);
  const kept = { address: id, title: 'Private', isManifest: true };
  expect(await sites()).toMatchObject([{ ...kept, path: `/${id}`, lastOpened: null }]);
  expect((await gateway.open(`/${id}/folder/secret.txt`)).text).toBe(secret);
  await expect
    .poll(sites, patient)
    .toMatchObject([{ ...kept, path: `/${id}/`, lastOpened: expect.any(Number) }]);
  // The name is not stored in the clear.
  expect(await dumpSettings()).toContain(`manifest:${id}`);
  expect(await dumpSettings()).not.toContain('Private');

  await gateway.fetch(`/-/visits?address=${id}`, { method: 'DELETE' });
  expect(await sites()).toMatchObject([{ ...kept, lastOpened: null }]);
  const pinning = JSON.stringify({ address: id, action: 'pin' });
  expect((await gateway.fetch('/-/pins', { method: 'POST', body: pinning })).status).toBe(200);
  const pins = async () => JSON.parse((await gateway.fetch('/-/pins')).text).pins;
  await expect.poll(pins, patient).toMatchObject([{ address: id, state: 'complete' }]);
  await gateway.fetch(`/-/sites?address=${id}`, { method: 'DELETE' });
  expect(await sites()).toMatchObject([{ ...kept, offline: true }]);
  await gateway.fetch(`/-/pins?address=${id}`, { method: 'DELETE' });
  await gateway.fetch(`/-/sites?address=${id}`, { method: 'DELETE' });
  expect(await sites()).toEqual([]);
  expect(await dumpSettings()).not.toContain(id);
  expect((await gateway.fetch(`/${id}/`)).status).toBe(404);

  // One without a name is called as its only file.
  const address = Buffer.alloc(32, 7);
  await add(encodeManifest({ entries: [{ path: 'letters/anna.txt', source: { Public: { address } } }] }));
  expect(await sites()).toMatchObject([{ title: 'anna.txt', isManifest: true }]);
});

test('the network’s own example manifest opens, and so does a manifest at a public address', async () => {
  const example = readFileSync(fromRoot('tests/fixtures/self-encryption/manifest1.ant'));
  const { id, name } = JSON.parse((await add(example)).text);
  expect(name).toBe('site');
  const listed = JSON.parse((await gateway.fetch(`/${id}/?format=json`)).text) as { path: string }[];
  expect(listed.map(({ path }) => path)).toEqual([
    'img/',
    '39ec584230ea291628eb987a3950ec4eca7ccef60a9ad2fef6c2b8aef7b0002e', // an entry without a path
    'index.html',
  ]);

  const address = await publish(await makeMixedManifest(secret, peer), peer);
  expect((await gateway.fetch(`/${address}/folder/secret.txt`)).text).toBe(secret);
});

test('invalid manifests are refused with a reason and not stored', async () => {
  const entry = (path: string) => ({ path, source: { Public: { address: Buffer.alloc(32, 7) } } });
  const chunks = Buffer.alloc(3 * 68, 1);
  const embedded = (data_map: unknown) =>
    encodeManifest({ entries: [{ path: 'a', source: { Embedded: { data_map } } }] });
  const hostile: [what: string, bytes: Uint8Array, code: string][] = [
    ['nothing', Buffer.alloc(0), 'CORRUPT'],
    ['another header', Buffer.from('PK\x03\x04'), 'CORRUPT'],
    [
      'another version',
      Buffer.concat([manifestHeader.subarray(0, 4), Buffer.from([2, 0x80])]),
      'UNSUPPORTED',
    ],
    ['no body', manifestHeader, 'CORRUPT'],
    ['bytes after its end', Buffer.concat([encodeManifest({ entries: [] }), Buffer.from([0])]), 'CORRUPT'],
    ['a list in place of a map', encodeManifest([]), 'CORRUPT'],
    ['no entries', encodeManifest({ name: 'x' }), 'CORRUPT'],
    ['an entry that is none', encodeManifest({ entries: [7] }), 'CORRUPT'],
    [
      '100,001 entries',
      encodeManifest({ entries: Array(limits.archiveEntries + 1).fill(null) }),
      'TOO_LARGE',
    ],
    [
      'a list that claims to be longer than it is',
      Buffer.concat([
        manifestHeader,
        Buffer.from([0x81, 0xa7]),
        Buffer.from('entries'),
        Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff]),
      ]),
      'CORRUPT',
    ],
    [
      'a short address',
      encodeManifest({ entries: [{ path: 'a', source: { Public: { address: Buffer.alloc(31) } } }] }),
      'CORRUPT',
    ],
    [
      'another kind of source',
      encodeManifest({ entries: [{ path: 'a', source: { Torrent: {} } }] }),
      'UNSUPPORTED',
    ],
    ['a data map of a wrong length', embedded({ chunks: chunks.subarray(1) }), 'CORRUPT'],
    ['a data map of two chunks', embedded({ chunks: chunks.subarray(0, 2 * 68) }), 'CORRUPT'],
    ['a chunk of an impossible size', embedded({ chunks: Buffer.alloc(3 * 68, 255) }), 'CORRUPT'],
  ];
  for (const [what, bytes, code] of hostile) {
    expect([what, errorCode(await add(bytes))]).toEqual([what, code]);
  }
  expect(await dumpSettings()).not.toContain('manifest:');

  // Bad paths only cost themselves.
  const paths = ['../up.txt', '/etc/passwd', 'twice.txt', 'twice.txt', 'a\0b', 'good.txt', '__proto__'];
  const { id } = JSON.parse((await add(encodeManifest({ entries: paths.map(entry) }))).text);
  const { text } = await gateway.open(`/${id}/`);
  const table = text.slice(text.indexOf('<table>'), text.indexOf('</table>'));
  expect(textsOf(table, 'a')).toEqual(['__proto__', 'good.txt', 'twice.txt']);
  expect(textsOf(text, 'li')).toEqual([
    '../up.txt: its path leads out of the archive',
    '/etc/passwd: its path is absolute',
    'twice.txt: another entry has the same path',
    expect.stringMatching(/its path holds a NUL/),
  ]);
});

/** Hands a manifest to the gateway, as the shell does. */
function add(bytes: Uint8Array): Promise<Answer> {
  return gateway.fetch('/-/manifests', { method: 'POST', body: new Uint8Array(bytes) });
}
