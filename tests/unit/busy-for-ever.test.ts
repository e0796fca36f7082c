// @module-tag isolated
import type { ServerResponse } from 'node:http';
import { expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { PeerUrl } from '../../src/peer-url.ts';
import { PeerPool } from '../../src/peers/selection/pool.ts';
import { rendezvousScore } from '../../src/peers/selection/ranking.ts';
import { Stats } from '../../src/stats/stats.ts';
import { type HttpPeer, startHttpPeer } from './support/http-peer.ts';

/** Shorter than in production, so that the tests are fast. */
const hedgeMs = vi.hoisted(() => 400);

vi.mock('../../src/limits.ts', async (original) => {
  const { limits } = await original<typeof import('../../src/limits.ts')>();
  return { limits: { ...limits, busyMs: { ...limits.busyMs, hedge: hedgeMs } } };
});

const { signal } = new AbortController();
const verify = (received: Uint8Array) => Buffer.from(received).toString();
const network = { name: 'devnet', state: 'connected', peers: 12, since: '2026-11-01T00:00:00Z' };

function startPeer(answer: (response: ServerResponse) => void, described: object): Promise<HttpPeer> {
  return startHttpPeer((request, response) => {
    if (request.url !== '/-/info') return answer(response);
    response.end(JSON.stringify({ protocol: 1, network: described }));
  });
}

const chunkRequests = ({ requests }: HttpPeer) => requests.filter(({ path }) => path !== '/-/info').length;

/** Addresses for which an unknown peer is asked first. */
function addressesOf(first: HttpPeer, second: HttpPeer, count: number): Address[] {
  const found: Address[] = [];
  for (let i = 0; found.length < count; i++) {
    const address = Address.fromHex(i.toString(16).padStart(64, '0'));
    if (rendezvousScore(address, first.url, 1) > rendezvousScore(address, second.url, 1)) found.push(address);
  }
  return found;
}

/** A peer that says “busy” for ever, another peer, and addresses for which the busy peer is asked first. */
async function setUp(described: object = network) {
  const busy = await startPeer(
    (response) => void response.writeHead(503, { 'Retry-After': '2' }).end(),
    described,
  );
  const honest = await startPeer((response) => void response.end('found'), network);
  const peers = new PeerPool(
    [busy, honest].map(({ url }) => PeerUrl.parse(url)),
    new Stats(),
  );
  peers.warm();
  await vi.waitFor(() => expect(peers.describe()).toMatchObject([{ network: described }, { network }]));
  const addresses = addressesOf(busy, honest, 60);
  return {
    busy,
    honest,
    peers,
    addresses,
    fetch: (at: number) => peers.fetch(addresses[at]!, { signal, verify }),
  };
}

it('a peer that is busy for ever comes after the peers that answer', async () => {
  const { busy, fetch } = await setUp();
  for (let at = 0; at < 4; at++) expect(await fetch(at)).toBe('found');
  const asked = chunkRequests(busy);
  await Promise.all(Array.from({ length: 20 }, (_, at) => fetch(at + 4)));
  expect(chunkRequests(busy) - asked).toBeLessThan(5);
});

it('a peer that is busy for ever delays no chunk for longer than one lookup, without a budget for hedges', async () => {
  const { busy, fetch } = await setUp();
  const found = await Promise.all(Array.from({ length: 40 }, (_, at) => fetch(at)));
  expect(new Set(found)).toEqual(new Set(['found']));
  // After a longer wait, the busy peer would have been asked again.
  expect(chunkRequests(busy)).toBe(40);
});

it('a peer whose network is not connected is not waited for', async () => {
  const { fetch, peers } = await setUp({ ...network, state: 'connecting' });
  expect(await fetch(0)).toBe('found');
  // The next peer was asked at once, not as a hedge.
  expect(peers.describe()[1]).toMatchObject({ http: { chunks: 1 }, hedges: { won: 0 } });
});
