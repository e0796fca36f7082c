import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import { PeerUrl } from '../../src/peer-url.ts';
import { PeerPool } from '../../src/peers/selection/pool.ts';
import { Stats } from '../../src/stats/stats.ts';
import { closedPort, startHttpPeer } from './support/http-peer.ts';

const address = Address.fromHex('ab'.repeat(32));
const poolOf = (...urls: string[]) =>
  new PeerPool(
    urls.map((url) => PeerUrl.parse(url)),
    new Stats(),
  );
const answersOf = (pool: PeerPool) => pool.describe().map(({ answers }) => answers);

/** A peer whose `/-/info` is `info`. */
const startPeer = (info: object) =>
  startHttpPeer((_, response) => void response.end(JSON.stringify({ protocol: 1, ...info })));
const drop = (_: unknown, response: ServerResponse) => void response.destroy();

describe('a check of the peers', () => {
  it('finds out which of them answer', async () => {
    const well = await startPeer({});
    const failing = await startHttpPeer((_, response) => void response.writeHead(500).end());
    const pool = poolOf(well.url, failing.url, await closedPort());
    expect(answersOf(pool)).toEqual([null, null, null]);
    await pool.check(false);
    expect(answersOf(pool)).toEqual([true, false, false]);
  });

  it('needs no lookup of AntTP and antd, and takes any answer of a program on this computer', async () => {
    const program = await startHttpPeer((_, response) => void response.writeHead(400).end());
    const closed = await closedPort();
    const pool = poolOf(`anttp+${program.url}`, `antd+${program.url}`, `anttp+${closed}`);
    await pool.check(false);
    expect(answersOf(pool)).toEqual([true, true, false]);
    expect(program.requests.map(({ path }) => path).sort()).toEqual(['/anttp-0/binary/chunk/0', '/health']);
  });

  it('asks again only after a while, unless that is forced', async () => {
    const peer = await startPeer({});
    const pool = poolOf(peer.url);
    for (let i = 0; i < 3; i++) await pool.check(false);
    expect(peer.requests).toHaveLength(1);
    await pool.check(true);
    expect(peer.requests).toHaveLength(2);
  });

  it('shows that a peer is back, and forgets its failures', async () => {
    let isUp = false;
    const peer = await startHttpPeer((request, response) => {
      if (!isUp) return drop(request, response);
      response.end(JSON.stringify({ protocol: 1 }));
    });
    const pool = poolOf(peer.url);
    const { signal } = new AbortController();
    for (let i = 0; i < limits.peerCircuit.failures; i++) {
      await expect(pool.fetch(address, { signal, verify: (bytes) => bytes })).rejects.toThrow();
    }
    await pool.check(true);
    expect(pool.describe()).toMatchObject([{ state: 'unreachable', answers: false }]);
    isUp = true;
    await pool.check(true);
    expect(pool.describe()).toMatchObject([{ state: 'idle', answers: true }]);
  });

  it('cuts long texts of a peer, and removes characters that change the text around them', async () => {
    const text = `\u202e<b>${'x'.repeat(10_000)}`;
    const network = { name: text, state: 'connected', problem: text };
    const peer = await startPeer({ name: text, version: text, network });
    const pool = poolOf(peer.url);
    await pool.check(false);
    const found = pool.describe()[0]!.network!;
    expect(found.name).toMatch(/^<b>x+$/);
    expect(found.name.length).toBeLessThan(limits.networkText.name);
    expect(found.problem!.length).toBeLessThan(limits.networkText.problem);
  });

  it('does not read a description that is larger than the limit', async () => {
    const peer = await startPeer({ name: 'x'.repeat(limits.infoBytes) });
    const pool = poolOf(peer.url);
    await pool.check(false);
    expect(answersOf(pool)).toEqual([false]);
  });
});
