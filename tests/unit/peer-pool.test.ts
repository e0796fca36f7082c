// @module-tag isolated
import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { AntwayError } from '../../src/errors.ts';
import { limits } from '../../src/limits.ts';
import { PeerUrl } from '../../src/peer-url.ts';
import { PeerPool } from '../../src/peers/selection/pool.ts';
import { rendezvousScore } from '../../src/peers/selection/ranking.ts';
import { Stats } from '../../src/stats/stats.ts';
import { closedPort, type HttpPeer, startHttpPeer } from './support/http-peer.ts';

const right = Buffer.from('the right bytes');
const { signal } = new AbortController();

/** Stands for the check of a hash: only `right` passes. */
function verify(received: Uint8Array): string {
  if (Buffer.compare(received, right) !== 0) throw new AntwayError('CORRUPT', 'wrong bytes');
  return createHash('sha256').update(received).digest('hex');
}

const has = () => startHttpPeer((_, response) => response.end(right));
const hasNot = () => startHttpPeer((_, response) => response.writeHead(404).end());
const lies = () => startHttpPeer((_, response) => response.end('something else'));
const fails = () => startHttpPeer((_, response) => response.writeHead(500).end());

/**
 * An address for which peers are asked in this order, whatever becomes of their weights: each leads by far.
 */
function addressAskedInOrder(urls: readonly string[]): Address {
  for (let i = 0; ; i++) {
    const address = Address.fromHex(i.toString(16).padStart(64, '0'));
    const scores = urls.map((url, at) => rendezvousScore(address, url, 0.1 ** (urls.length - 1 - at)));
    if (scores.every((score, at) => at === 0 || score < scores[at - 1]!)) return address;
  }
}

/** A pool with an address for which it asks its peers in the order given here. */
function pool(...urls: string[]) {
  const address = addressAskedInOrder(urls);
  const stats = new Stats();
  const peers = new PeerPool(
    urls.map((url) => PeerUrl.parse(url)),
    stats,
  );
  return { address, peers, stats, fetch: () => peers.fetch(address, { signal, verify }) };
}

const urlOf = ({ url }: HttpPeer) => url;
const clock = () => vi.useFakeTimers({ toFake: ['Date'] });

afterEach(() => void vi.useRealTimers());

describe('the peers', () => {
  it('are asked in the address’s order, until one has the chunk', async () => {
    const peers = [await hasNot(), await has(), await has()];
    const { fetch, stats } = pool(...peers.map(urlOf));
    expect(await fetch()).toBe(verify(right));
    expect(peers.map(({ requests }) => requests.length)).toEqual([1, 1, 0]);
    expect(stats.snapshot().peers).toMatchObject([
      { url: peers[0]!.url, http: { chunks: 0, failures: { NOT_FOUND: 1 } } },
      { url: peers[1]!.url, http: { chunks: 1, bytes: right.length, failures: {} } },
    ]);
  });

  it.each([
    ['lies', lies],
    ['fails', fails],
    ['has not got it', hasNot],
  ])('serve in place of a peer that %s', async (_, start) => {
    const { fetch } = pool((await start()).url, (await has()).url);
    await expect(fetch()).resolves.toBe(verify(right));
  });

  it('serve in place of a peer that is down', async () => {
    const { fetch } = pool(await closedPort(), (await has()).url);
    await expect(fetch()).resolves.toBe(verify(right));
  });

  it('are left out for a minute after they lied, and asked again after it', async () => {
    clock();
    const [liar, honest] = [await lies(), await has()];
    const { fetch, peers, stats } = pool(liar.url, honest.url);
    await fetch();
    expect(peers.describe()).toMatchObject([{ state: 'banned', corrupt: 1 }, { state: 'http' }]);
    vi.advanceTimersByTime(limits.wrongChunkBanMs - 1);
    await fetch();
    expect(liar.requests).toHaveLength(1);
    vi.advanceTimersByTime(1);
    await fetch();
    expect(liar.requests).toHaveLength(2);
    expect(stats.snapshot().peers[0]!.corrupt).toBe(2);
  });

  it('that lied are asked before giving up if no other peer answers', async () => {
    clock();
    let body: Buffer = Buffer.from('something else');
    const mended = await startHttpPeer((_, response) => response.end(body));
    const gone = await closedPort();
    const { fetch, peers } = pool(gone, mended.url);
    await expect(fetch()).rejects.toMatchObject({ code: 'CORRUPT' });
    body = right;
    await expect(fetch()).resolves.toBe(verify(right));
    // It is still left out where another can answer.
    expect(peers.describe()).toMatchObject([{ state: 'unreachable' }, { state: 'banned', corrupt: 1 }]);
  });

  it('are asked after the others for a while when they could not be reached', async () => {
    clock();
    const gone = await closedPort();
    const there = await has();
    const { fetch, peers } = pool(gone, there.url);
    await fetch();
    expect(peers.describe()).toMatchObject([{ state: 'unreachable' }, { state: 'http' }]);
    const failures = () => peers.describe()[0]!.http!.failures.PEERS_UNREACHABLE;
    expect(failures()).toBe(1);
    await fetch();
    expect(failures()).toBe(1);
    vi.advanceTimersByTime(limits.peerCircuit.firstMs);
    await fetch();
    expect(failures()).toBe(2);
  });

  it('are not taken for unreachable when they answer that they cannot serve now', async () => {
    const { fetch, peers } = pool((await fails()).url);
    await expect(fetch()).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
    expect(peers.describe()).toMatchObject([{ state: 'idle' }]);
  });

  it('that cannot be reached are still asked when there is no other', async () => {
    const gone = await closedPort();
    const { fetch, peers } = pool(gone);
    await expect(fetch()).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
    await expect(fetch()).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
    expect(peers.describe()[0]!.http!.failures.PEERS_UNREACHABLE).toBe(2);
  });

  it('are hedged by the next while one is slow, and the hedge is counted', async () => {
    const silent = await startHttpPeer(() => {});
    const next = await has();
    const { fetch, peers } = pool(silent.url, next.url);
    await expect(fetch()).resolves.toBe(verify(right));
    expect(silent.requests).toHaveLength(1);
    const [slow, fast] = peers.describe();
    expect(fast).toMatchObject({ hedges: { won: 1, lost: 0 }, http: { chunks: 1 } });
    // The slow one has not failed. It was only overtaken.
    expect(slow).toMatchObject({ state: 'idle' });
    expect(slow).not.toHaveProperty('http');
  });

  it('count a hedge as lost when the slow peer answers first', async () => {
    const slow = await startHttpPeer((_, response) => void setTimeout(() => response.end(right), 1_300));
    const silent = await startHttpPeer(() => {});
    const { fetch, peers } = pool(slow.url, silent.url);
    await expect(fetch()).resolves.toBe(verify(right));
    await expect.poll(() => peers.describe()[1]!.hedges).toEqual({ won: 0, lost: 1 });
    expect(peers.describe()[0]).toMatchObject({ hedges: { won: 0, lost: 0 }, http: { chunks: 1 } });
  });

  it('are not asked any longer when the caller aborts, and none is penalised', async () => {
    const silent = await startHttpPeer(() => {});
    const next = await has();
    const { address, peers, stats } = pool(silent.url, next.url);
    const controller = new AbortController();
    const fetching = peers.fetch(address, { signal: controller.signal, verify });
    await vi.waitFor(() => expect(silent.requests).toHaveLength(1));
    const reason = new Error('navigated away');
    controller.abort(reason);
    await expect(fetching).rejects.toBe(reason);
    expect(next.requests).toEqual([]);
    expect(stats.snapshot().peers).toEqual([]);
    expect(peers.describe()).toMatchObject([{ state: 'idle' }, { state: 'idle' }]);
  });
});

describe('when no peer has the chunk, the error', () => {
  it('lists every attempt: peer, transport, stage, code, message, time', async () => {
    const started = [await hasNot(), await lies(), await fails()];
    const { address, fetch } = pool(...started.map(urlOf));
    const error = await fetch().catch((error) => error);
    expect(error.details).toEqual({
      address: address.hex,
      attempts: ['NOT_FOUND', 'CORRUPT', 'PEERS_UNREACHABLE'].map((code, i) => ({
        peer: started[i]!.url,
        transport: 'http',
        stage: code === 'CORRUPT' ? 'verify' : 'receive',
        code,
        message: expect.any(String),
        milliseconds: expect.any(Number),
        // It is there, and cannot serve.
        ...(code === 'PEERS_UNREACHABLE' ? { answered: true } : {}),
      })),
    });
  });

  it('is CORRUPT rather than NOT_FOUND, and names the lying peers', async () => {
    const liar = await lies();
    const { fetch } = pool((await hasNot()).url, liar.url, (await fails()).url);
    await expect(fetch()).rejects.toMatchObject({
      code: 'CORRUPT',
      message: `Wrong bytes were sent for this address by ${liar.url}.`,
    });
  });

  it('does not claim that a peer lied about this chunk when it was only left out', async () => {
    const liar = await lies();
    const none = await hasNot();
    const { fetch } = pool(liar.url, none.url);
    await fetch().catch(() => undefined);
    const error = await fetch().catch((error) => error);
    expect(error).toMatchObject({
      code: 'CORRUPT',
      message: expect.stringContaining('excluded for a while'),
    });
    expect(error.message).not.toContain('for this address');
    expect(error.details.attempts).toMatchObject([
      { peer: liar.url, stage: 'connect' },
      { peer: none.url, code: 'NOT_FOUND' },
    ]);
  });

  it('is NOT_FOUND when all say so', async () => {
    const urls = [(await hasNot()).url, (await hasNot()).url];
    await expect(pool(...urls).fetch()).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: `No peer has this record. Asked: ${urls.join(', ')}.`,
    });
  });

  it('is DENIED and names the peers whose operator denies the address, because they may have it', async () => {
    const denies = await startHttpPeer((_, response) => response.writeHead(451).end());
    const urls = [denies.url, (await hasNot()).url];
    await expect(pool(...urls).fetch()).rejects.toMatchObject({
      code: 'DENIED',
      message: `${denies.url} has blocked this address, and no other peer has this record. Asked: ${urls.join(', ')}.`,
      details: { attempts: [{ peer: denies.url, code: 'DENIED' }, { code: 'NOT_FOUND' }] },
    });
  });

  it('does not prevent that another peer serves an address which one denies', async () => {
    const denies = await startHttpPeer((_, response) => response.writeHead(451).end());
    expect(await pool(denies.url, (await has()).url).fetch()).toBe(verify(right));
  });

  it.each([
    ['is not there', closedPort],
    ['cannot serve', async () => (await fails()).url],
  ])('is PEERS_UNREACHABLE when some say so and one %s, which may have it', async (_, start) => {
    const [without, silent] = [(await hasNot()).url, await start()];
    await expect(pool(without, silent).fetch()).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
      message: `No peer that answered has this record, and ${silent} did not answer. Asked: ${without}, ${silent}.`,
      details: { attempts: [{ code: 'NOT_FOUND' }, { code: 'PEERS_UNREACHABLE' }] },
    });
  });

  it('is OFFLINE without a network, although one on this computer says that it has not got it', async () => {
    const { fetch } = pool((await hasNot()).url, await closedPort());
    vi.stubGlobal('navigator', { onLine: false });
    try {
      await expect(fetch()).rejects.toMatchObject({ code: 'OFFLINE' });
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('is OFFLINE instead of PEERS_UNREACHABLE when the browser says that it is', async () => {
    const { fetch } = pool(await closedPort());
    vi.stubGlobal('navigator', { onLine: false });
    try {
      await expect(fetch()).rejects.toMatchObject({ code: 'OFFLINE' });
    } finally {
      vi.unstubAllGlobals();
    }
    await expect(fetch()).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
  });

  it('is not OFFLINE where a peer answers all the same, as one on this computer does, but cannot serve', async () => {
    const { fetch } = pool((await fails()).url, await closedPort());
    vi.stubGlobal('navigator', { onLine: false });
    try {
      await expect(fetch()).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('is not held against peers once there is a network again', async () => {
    const { fetch, peers } = pool(await closedPort());
    await expect(fetch()).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
    expect(peers.describe()).toMatchObject([{ state: 'unreachable' }]);
    peers.wake();
    expect(peers.describe()).toMatchObject([{ state: 'idle' }]);
  });

  it('is PEERS_UNREACHABLE without attempts when no peer is configured', async () => {
    await expect(pool().fetch()).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
      details: { attempts: [] },
    });
  });

  it('is PEERS_UNREACHABLE for a peer that only WebTransport can reach, on a platform without it', async () => {
    const peers = new PeerPool(
      [PeerUrl.parse(`https://peer.example#sha-256=${'ab'.repeat(32)}`)],
      new Stats(),
    );
    await expect(peers.fetch(addressAskedInOrder([]), { signal, verify })).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
      details: { attempts: [] },
    });
  });
});
