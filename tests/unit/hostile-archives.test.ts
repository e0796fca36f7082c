// @module-tag slow
// @module-tag unix
import { brotliCompressSync, constants } from 'node:zlib';
import { expect } from 'vitest';
import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { DataMap, encodeBincode } from '../../src/self-encryption/data-map.ts';
import { deriveKeys } from '../../src/self-encryption/keys.ts';
import { type Answer, errorCode } from '../support/gateway-client.ts';
import { encryptAt, publishMap } from '../support/huge-file.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { codec, noise, publish } from '../support/publish.ts';
import { sha256 } from '../support/tar.ts';
import { linesOf, makeTarchive } from '../support/tarchive.ts';
import { type NodeGateway, test } from './support/node-gateway.ts';

let peer: PeerProcess;
let gateway: NodeGateway;

test.beforeEach(async ({ startPeer, openGateway }) => {
  peer = await startPeer({ webTransport: 'none' });
  gateway = await openGateway({ peers: [peer.url] });
});

// The gateway still answers after every archive.
test.afterEach(async () => {
  expect((await gateway.fetch('/-/health')).status).toBe(200);
});

test('entries that overlap or contain the index serve their bytes', async () => {
  const files = { 'a.txt': 'A'.repeat(600), 'b.txt': 'B'.repeat(600) };
  const tar = await makeTarchive(files, (lines) => {
    const [a, b] = lines;
    return `${linesOf(lines)}both.bin ${a!.offset} ${b!.offset + b!.size - a!.offset}\nall.bin 0 3584\n`;
  });
  const address = await publish(tar, peer);
  const both = await gateway.fetch(`/${address}/both.bin`);
  expect(both.sha256).toBe(sha256(tar.subarray(512, 512 + 1_024 + 512 + 600)));
  expect((await gateway.fetch(`/${address}/all.bin`)).sha256).toBe(sha256(tar.subarray(0, 3584)));
});

test('an index with wrong sizes has its entries outside the archive refused', async () => {
  const tar = await makeTarchive({ 'real.txt': 'real', 'other.txt': 'other' }, ([real]) =>
    [
      `real.txt ${real!.offset} 4`,
      'longer.txt 512 99999999',
      'outside.txt 99999999999 4',
      'absurd.txt 1e9 4',
      `huge.txt 512 ${'9'.repeat(400)}`,
      'negative.txt 512 -4',
      '-4 -4 -4',
    ].join('\n'),
  );
  const address = await publish(tar, peer);
  expect((await gateway.fetch(`/${address}/real.txt`)).text).toBe('real');
  for (const name of ['longer.txt', 'outside.txt', 'absurd.txt', 'huge.txt', 'negative.txt', '-4']) {
    expectError(await gateway.fetch(`/${address}/${name}`), 404, 'NOT_FOUND');
  }
});

test('the headers replace an index whose first entry is not a member', async () => {
  const tar = await makeTarchive({ 'real.txt': 'real' }, () => 'fake.txt 700 4\n');
  const address = await publish(tar, peer);
  expect((await gateway.fetch(`/${address}/real.txt`)).text).toBe('real');
  expect((await gateway.fetch(`/${address}/fake.txt`)).status).toBe(404);
});

test('the headers replace an index of garbage', async () => {
  const address = await publish(await makeTarchive({ 'real.txt': 'real' }, () => noise(5, 20_000)), peer);
  expect((await gateway.fetch(`/${address}/real.txt`)).text).toBe('real');
  const listed = JSON.parse((await gateway.fetch(`/${address}/?format=json`)).text) as { path: string }[];
  expect(listed.map(({ path }) => path)).toEqual(['real.txt']);
});

test('a tar with a header that claims too many bytes serves the members before it', async () => {
  const tar = await makeTarchive({ 'first.txt': 'first', 'second.txt': 'second' }, null);
  // GNU's binary size of the second member: 2^62.
  const header = tar.subarray(1024, 1536);
  header.fill(0, 124, 136);
  header.set([0x80, 0, 0, 0, 0x40], 124);
  header.write('        ', 148);
  const sum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const address = await publish(tar, peer);
  expect((await gateway.fetch(`/${address}/first.txt`)).text).toBe('first');
  expect((await gateway.fetch(`/${address}/second.txt`)).status).toBe(404);
});

test('invalid routes are named, and the other members are served', async () => {
  for (const conf of ['{', '[]', '{"routeMap": 7}', '{"routeMap": {"a": {}}}', ' '.repeat(2 * 1024 ** 2)]) {
    const address = await publish(await makeTarchive({ 'app-conf.json': conf, 'x.txt': 'x' }), peer);
    expect((await gateway.fetch(`/${address}/x.txt`)).text).toBe('x');
  }
});

test('a data map nested deeper than the limit is too large, however small', async () => {
  const content = await encryptAt(0, Buffer.from('at the bottom'), peer);
  let map = content;
  for (let level = 1; level <= limits.mapDepth; level++)
    map = await encryptAt(level, encodeBincode(map), peer);
  expect((await gateway.fetch(`/${await publishMap(map, peer)}`)).text).toBe('at the bottom');
  map = await encryptAt(limits.mapDepth + 1, encodeBincode(map), peer);
  expectError(await gateway.fetch(`/${await publishMap(map, peer)}`), 507, 'TOO_LARGE');
});

test('a nested data map that claims gigabytes is refused before any of it is fetched', async () => {
  const count = 1_000;
  const sizes = new Uint32Array(count).fill(limits.plaintextChunkBytes);
  const { dstHashes } = await encryptAt(1, Buffer.from('a chunk that the peer has'), peer);
  const addresses = noise(1, 32 * count);
  addresses.set(dstHashes);
  const map = new DataMap(addresses, noise(2, 32 * count), sizes, 1);
  expectError(await gateway.fetch(`/${await publishMap(map, peer)}`), 507, 'TOO_LARGE');
  expect(await peer.chunksGiven()).toBe(1);
});

test('a chunk that decompresses to more than its data map says is corrupt', async () => {
  // At this quality it takes a second, at the default one twenty.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
  const bomb = brotliCompressSync(Buffer.alloc(256 * 1024 ** 2), { params });
  const honest = await encryptAt(0, Buffer.from('nothing to see here'), peer);
  const encrypted = await (await codec.aead()).encrypt(
    deriveKeys(honest.srcHashes, 0, 0),
    new Uint8Array(bomb),
  );
  const { bytes, hex } = Address.fromBytes((await loadBlake3())(encrypted));
  await peer.put(hex, encrypted);
  const dstHashes = honest.dstHashes.slice();
  dstHashes.set(bytes);
  const map = new DataMap(dstHashes, honest.srcHashes, honest.sizes);
  expectError(await gateway.fetch(`/${await publishMap(map, peer)}`), 502, 'CORRUPT');
});

function expectError(answer: Answer, status: number, code: string): void {
  expect([answer.status, errorCode(answer)]).toEqual([status, code]);
}
