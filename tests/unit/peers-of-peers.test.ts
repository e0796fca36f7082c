import { describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import { PeerUrl } from '../../src/peer-url.ts';
import { PeerPool } from '../../src/peers/selection/pool.ts';
import { Stats } from '../../src/stats/stats.ts';
import { closedPort, startHttpPeer } from './support/http-peer.ts';

const { signal } = new AbortController();
const address = Address.fromHex('ab'.repeat(32));
const right = Buffer.from('the right bytes');

/** A peer without chunks that names others. */
async function naming(peers: unknown) {
  return startHttpPeer(({ url }, response) => {
    if (url !== '/-/info') response.writeHead(404).end();
    else response.end(JSON.stringify({ name: 'p', version: '1', protocol: 1, webTransport: null, peers }));
  });
}

function poolOf(urls: readonly string[], usePeersOfPeers: boolean) {
  return new PeerPool(
    urls.map((url) => PeerUrl.parse(url)),
    new Stats(),
    { usePeersOfPeers },
  );
}

const fetchFrom = (pool: PeerPool) =>
  pool.fetch(address, { signal, verify: (bytes) => Buffer.from(bytes).toString() });
const known = (pool: PeerPool) => pool.describe().map(({ url, namedBy }) => ({ url, namedBy }));

describe('peers that a configured one names', () => {
  it('are asked too when that is wanted, and shown as such', async () => {
    const other = await startHttpPeer((_, response) => response.end(right));
    const first = await naming([other.url]);
    const pool = poolOf([first.url], true);
    await expect.poll(() => fetchFrom(pool).catch(() => '')).toBe(right.toString());
    expect(known(pool)).toEqual([
      { url: first.url, namedBy: null },
      { url: other.url, namedBy: first.url },
    ]);
  });

  it('are not even asked about otherwise', async () => {
    const first = await naming(['https://other.example']);
    const pool = poolOf([first.url], false);
    await expect(fetchFrom(pool)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(first.requests.map(({ path }) => path)).toEqual([`/chunk/${address.hex}`]);
    expect(known(pool)).toHaveLength(1);
  });

  it('are left out when they cannot be peers, and never take a configured one’s place', async () => {
    const second = await naming([]);
    const first = await naming([
      'http://other.example',
      'ftp://other.example',
      'https://other.example/path',
      '/',
      7,
      second.url,
      'https://right.example',
      'https://right.example/',
    ]);
    const pool = poolOf([first.url, second.url], true);
    pool.warm();
    await expect.poll(() => known(pool)).toHaveLength(3);
    expect(known(pool).at(-1)).toEqual({ url: 'https://right.example', namedBy: first.url });
  });

  it('are limited in number', async () => {
    const crowd = Array.from({ length: 50 }, (_, i) => `https://peer-${i}.example`);
    const pool = poolOf([(await naming(crowd)).url], true);
    pool.warm();
    await expect.poll(() => known(pool).length).toBe(1 + limits.peersOfPeers);
  });

  it('do not matter to a peer that does not tell', async () => {
    const plain = await startHttpPeer(({ url }, response) =>
      url === '/-/info' ? response.writeHead(404).end() : response.end(right),
    );
    const odd = await naming('https://other.example');
    const pool = poolOf([plain.url, odd.url, await closedPort()], true);
    expect(await fetchFrom(pool)).toBe(right.toString());
    await expect.poll(() => odd.requests.length).toBeGreaterThan(0);
    expect(known(pool)).toHaveLength(3);
  });
});
