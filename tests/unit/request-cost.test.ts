// @module-tag isolated
import { expect } from 'vitest';
import { hugeMiddle, publishHugeFile } from '../support/huge-file.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { noise, publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { type NodeGateway, test } from './support/node-gateway.ts';

/** The chunks that a cold request may cost at a peer over HTTP, including records of data maps. */
let peer: PeerProcess;
let gateway: NodeGateway;

test.beforeEach(async ({ startPeer, openGateway }) => {
  peer = await startPeer({ webTransport: 'none' });
  gateway = await openGateway({ peers: [peer.url] });
});

// To tell what an address is, its first chunk is looked at: is it an archive?
const fileCost = 1 + 1;
const archiveCost = fileCost + 1; // and the last chunk, for the index

test('HEAD of a file costs only the map and the first chunk', async () => {
  const address = await publish(noise(21, 300_000), peer);
  const answer = await gateway.fetch(`/${address}`, { method: 'HEAD' });
  expect([answer.status, answer.headers['content-length']]).toEqual([200, '300000']);
  expect(await peer.chunksGiven()).toBe(fileCost);
});

test('a part of a file costs the map once and the chunks that it overlaps', async () => {
  const address = await publish(noise(22, 300_000), peer);
  const answer = await gateway.fetch(`/${address}`, { headers: { Range: 'bytes=250000-250099' } });
  expect([answer.status, answer.size]).toEqual([206, 100]);
  expect(await peer.chunksGiven()).toBe(fileCost + 1);
});

test('HEAD, 304, 416 and listings of an archive cost its map and index', async () => {
  // The third member is in the second of three chunks.
  const files = { 'a.bin': noise(23, 40_000), 'b.bin': noise(24, 80_000), 'c.bin': noise(25, 100_000) };
  const address = await publish(await makeTarchive({ ...files, 'd.bin': noise(26, 80_000) }), peer);
  const head = await gateway.fetch(`/${address}/c.bin`, { method: 'HEAD' });
  expect([head.status, head.headers['content-length']]).toEqual([200, '100000']);
  const etag = head.headers.etag!;
  for (const [path, headers, status] of [
    ['c.bin', { 'If-None-Match': etag }, 304],
    ['c.bin', { Range: 'bytes=100000-' }, 416],
    ['', {}, 200],
    ['?format=json', {}, 200],
    ['none', {}, 404],
  ] as const) {
    expect((await gateway.fetch(`/${address}/${path}`, { headers })).status, path).toBe(status);
  }
  expect(await peer.chunksGiven()).toBe(archiveCost);
  const part = await gateway.fetch(`/${address}/c.bin`, { headers: { Range: 'bytes=50000-50009' } });
  expect(part.size).toBe(10);
  expect(await peer.chunksGiven()).toBe(archiveCost + 1);
});

test('a part past 4 GiB costs the maps and the two chunks that it overlaps', async () => {
  const address = await publishHugeFile(peer);
  const answer = await gateway.fetch(`/${address}`, {
    headers: { Range: `bytes=${hugeMiddle - 10}-${hugeMiddle + 9}` },
  });
  expect([answer.status, answer.size]).toEqual([206, 20]);
  // The map's record and the three chunks of the map inside it, the first chunk and the two.
  expect(await peer.chunksGiven()).toBe(1 + 3 + 1 + 2);
});
