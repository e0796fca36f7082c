// @module-tag slow
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import { PeerUrl } from '../../src/peer-url.ts';
import { askUntilAnswered } from '../../src/peers/selection/pending-lookups.ts';
import { PeerPool } from '../../src/peers/selection/pool.ts';
import { rendezvousScore } from '../../src/peers/selection/ranking.ts';
import { Stats } from '../../src/stats/stats.ts';
import { startFastTime } from '../support/fast-time.ts';
import { type HttpPeer, startHttpPeer } from './support/http-peer.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const right = Buffer.from('the right bytes');
const { signal } = new AbortController();
const verify = (received: Uint8Array) => Buffer.from(received).toString();
const network = { name: 'devnet', state: 'connected', peers: 12, since: '2026-11-01T00:00:00Z' };

const has: Answer = (response) => void response.end(right);
const hasNot: Answer = (response) => void response.writeHead(404).end();
const blocks: Answer = (response) => void response.writeHead(451).end();
const isBusy: Answer = (response) => void response.writeHead(503, { 'Retry-After': '1' }).end();
/** Has begun a lookup. */
const looksUp: Answer = (response) => void response.writeHead(503, { 'Retry-After': '2' }).end();
const isSilent: Answer = () => undefined;

/** Answers the first requests with these, and all further requests with the last one. */
function inTurn(...answers: Answer[]): Answer {
  return (response, request) => (answers.length > 1 ? answers.shift()! : answers[0]!)(response, request);
}

/** @param described `network` of `/-/info`. */
function startPeer(answer: Answer, described?: object): Promise<HttpPeer> {
  return startHttpPeer((request, response) => {
    if (request.url !== '/-/info') return answer(response, request);
    response.end(JSON.stringify({ protocol: 1, ...(described && { network: described }) }));
  });
}

const chunkRequests = ({ requests }: HttpPeer) => requests.filter(({ path }) => path !== '/-/info').length;

/** An address for which the peers are asked in this order, even if health changes their weights. */
function addressAskedInOrder(urls: readonly string[]): Address {
  for (let i = 0; ; i++) {
    const address = Address.fromHex(i.toString(16).padStart(64, '0'));
    const scores = urls.map((url, at) => rendezvousScore(address, url, 0.1 ** (urls.length - 1 - at)));
    if (scores.every((score, at) => at === 0 || score < scores[at - 1]!)) return address;
  }
}

function pool(...started: HttpPeer[]) {
  const urls = started.map(({ url }) => url);
  const address = addressAskedInOrder(urls);
  const stats = new Stats();
  const peers = new PeerPool(
    urls.map((url) => PeerUrl.parse(url)),
    stats,
  );
  return { address, peers, stats, fetch: () => peers.fetch(address, { signal, verify }) };
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('a busy peer', () => {
  beforeEach(startFastTime);

  it('is asked again, and none of its answers counts as a failure', async () => {
    const busyAnswers = Array<Answer>(limits.peerCircuit.failures).fill(isBusy);
    const peer = await startPeer(inTurn(...busyAnswers, has));
    const { fetch, peers, stats } = pool(peer);
    expect(await fetch()).toBe(right.toString());
    expect(chunkRequests(peer)).toBe(busyAnswers.length + 1);
    expect(peers.describe()).toMatchObject([{ state: 'http' }]);
    expect(stats.snapshot().peers).toMatchObject([{ http: { chunks: 1, failures: {} } }]);
  });

  it('is not asked again after the caller has aborted', async () => {
    const peer = await startPeer(isBusy);
    const { address, peers } = pool(peer);
    const controller = new AbortController();
    const fetching = peers.fetch(address, { signal: controller.signal, verify });
    await vi.waitFor(() => expect(peers.lookups()).toMatchObject([{ peer: peer.url, address }]));
    const reason = new Error('navigated away');
    controller.abort(reason);
    await expect(fetching).rejects.toBe(reason);
    const asked = chunkRequests(peer);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(chunkRequests(peer)).toBe(asked);
    expect(peers.lookups()).toEqual([]);
  });

  it('of a network is not replaced by another peer of a network, which would repeat the lookup', async () => {
    const looking = await startPeer(inTurn(looksUp, has), network);
    const other = await startPeer(has, network);
    expect(await pool(looking, other).fetch()).toBe(right.toString());
    expect([looking, other].map(chunkRequests)).toEqual([2, 0]);
  });

  it('of a network is looked past to a peer without a network, which answers from its store', async () => {
    const looking = await startPeer(looksUp, network);
    const other = await startPeer(has, network);
    const store = await startPeer(has);
    expect(await pool(looking, other, store).fetch()).toBe(right.toString());
    expect([other, store].map(chunkRequests)).toEqual([0, 1]);
  });

  it('of a network is waited for if the peers without a network do not have the record', async () => {
    const looking = await startPeer(inTurn(looksUp, has), network);
    const store = await startPeer(hasNot);
    expect(await pool(looking, store).fetch()).toBe(right.toString());
    expect([looking, store].map(chunkRequests)).toEqual([2, 1]);
  });

  it.each<[string, Answer, object | undefined]>([
    ['without a network', looksUp, undefined],
    ['that has too much to do', isBusy, network],
  ])('%s is replaced by the next peer at once', async (_, answer, described) => {
    const busy = await startPeer(answer, described);
    const other = await startPeer(has, network);
    expect(await pool(busy, other).fetch()).toBe(right.toString());
    expect(chunkRequests(other)).toBe(1);
  });

  it('is asked again for a pointer', async () => {
    const peer = await startPeer(inTurn(isBusy, has));
    const { address, peers } = pool(peer);
    const options = { signal, verify, isKnown: false };
    expect(await peers.pointers(address, options)).toEqual([right.toString()]);
    expect(peer.requests.map(({ path }) => path)).toEqual(Array(2).fill(`/pointer/${address.hex}`));
  });

  it('is not waited for if another peer has a pointer', { tags: 'full' }, async () => {
    const busy = await startPeer(isBusy);
    const other = await startPeer(has);
    const { address, peers } = pool(busy, other);
    const options = { signal, verify, isKnown: false };
    expect(await peers.pointers(address, options)).toEqual([right.toString()]);
    expect(peers.lookups()).toEqual([]);
  });

  it('is not waited for if the pointer is already known', async () => {
    const peer = await startPeer(isBusy);
    const { address, peers } = pool(peer);
    expect(await peers.pointers(address, { signal, verify, isKnown: true })).toEqual([]);
    // Once a second until the wait is over. Otherwise, it would be asked for a minute.
    expect(chunkRequests(peer)).toBeLessThan(10);
  });
});

describe('a busy peer by a clock of the test', () => {
  it('is asked again a little later than its hint, so that many requests do not come back at once', async () => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(0.8);
    const answers = [{ busy: { afterMs: 1_000, isOverloaded: false } }, { value: 'found' }];
    const ask = vi.fn(async () => answers.shift()!);
    const request = { address: Address.fromHex('ab'.repeat(32)), since: Date.now(), isBusy: false };
    const asking = askUntilAnswered(request, ask, { signal });
    await vi.advanceTimersByTimeAsync(1_199);
    expect(ask).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(1);
    expect(await asking).toBe('found');
  });

  it('is given up after the time for a lookup, and then counts as failed', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const peer = await startPeer((response, request) => {
      vi.setSystemTime(Date.now() + limits.busyMs.total);
      isBusy(response, request);
    });
    const { fetch, peers } = pool(peer);
    for (let tries = 0; tries <= limits.peerCircuit.failures; tries++) {
      await expect(fetch()).rejects.toMatchObject({
        code: 'PEERS_UNREACHABLE',
        message: `No peer found this record in time. Asked: ${peer.url}.`,
        details: { attempts: [{ peer: peer.url, answered: true, busy: true }] },
      });
    }
    expect(peers.describe()).toMatchObject([{ state: 'unreachable' }]);
  });
});

describe('a silent peer of a network', () => {
  beforeEach(startFastTime);

  it('is not hedged by another peer of a network', async () => {
    const slow: Answer = (response) =>
      void setTimeout(() => response.end(right), limits.defaultHedgeDelayMs.firstByte + 500);
    const looking = await startPeer(slow, network);
    const other = await startPeer(has, network);
    const { fetch, peers } = pool(looking, other);
    peers.warm();
    await vi.waitFor(() => expect(peers.describe()).toMatchObject([{ network }, { network }]));
    expect(await fetch()).toBe(right.toString());
    expect([looking, other].map(chunkRequests)).toEqual([1, 0]);
  });

  it('is hedged by a peer without a network', async () => {
    const looking = await startPeer(isSilent, network);
    const other = await startPeer(has);
    const { fetch, peers } = pool(looking, other);
    peers.warm();
    await vi.waitFor(() => expect(peers.describe()[0]).toMatchObject({ network }));
    expect(await fetch()).toBe(right.toString());
    expect(peers.describe()[1]).toMatchObject({ hedges: { won: 1 } });
  });

  it('counts as a lookup, and a silent peer without a network does not', async () => {
    const looking = await startPeer(isSilent, network);
    const other = await startPeer(isSilent);
    const controller = new AbortController();
    const ended: Promise<unknown>[] = [];
    for (const peer of [looking, other]) {
      const { address, peers } = pool(peer);
      peers.warm();
      ended.push(peers.fetch(address, { signal: controller.signal, verify }).catch(() => undefined));
      await vi.waitFor(() => expect(chunkRequests(peer)).toBe(1));
      if (peer === looking) await vi.waitFor(() => expect(peers.describe()).toMatchObject([{ network }]));
      // A record of the peer's store may still come.
      expect(peers.lookups()).toEqual([]);
      if (peer === other) continue;
      const isLookup = () => expect(peers.lookups()).toMatchObject([{ peer: peer.url, address }]);
      await vi.waitFor(isLookup, 5_000);
    }
    controller.abort();
    await Promise.all(ended);
  });
});

describe('the description of a peer’s network', () => {
  it('is known for every peer, also for peers that do not answer', async () => {
    const connected = await startPeer(has, network);
    const plain = await startPeer(has);
    const gone = await startHttpPeer((request) => void request.socket.destroy());
    expect(await pool(connected, plain, gone).peers.networks()).toEqual([
      { peer: connected.url, network: { ...network, problem: null } },
      { peer: plain.url, network: null },
      { peer: gone.url, network: undefined },
    ]);
  });

  it('is not asked of AntTP and antd, which do not describe themselves', async () => {
    const daemon = await startHttpPeer((_, response) => response.end());
    const urls = ['anttp', 'antd'].map((kind) => PeerUrl.parse(`${kind}+${daemon.url}`));
    const peers = new PeerPool(urls, new Stats());
    peers.warm();
    expect(await peers.networks()).toMatchObject([{ network: undefined }, { network: undefined }]);
    expect(daemon.requests).toEqual([]);
  });
});

describe('a peer whose operator has blocked the address', () => {
  it('is asked once, and the next peer serves', async () => {
    const blocking = await startPeer(blocks);
    const { fetch, peers } = pool(blocking, await startPeer(has));
    expect(await fetch()).toBe(right.toString());
    expect(chunkRequests(blocking)).toBe(1);
    expect(peers.describe()).toMatchObject([{ state: 'idle', bans: 0 }, { state: 'http' }]);
  });

  it('makes the error DENIED if all other peers have blocked it too', async () => {
    const urls = [await startPeer(blocks), await startPeer(blocks)];
    await expect(pool(...urls).fetch()).rejects.toMatchObject({
      code: 'DENIED',
      message: `The operators of all peers have blocked this address. Asked: ${urls.map(({ url }) => url).join(', ')}.`,
    });
  });

  it('makes the error DENIED if no other peer has the record', async () => {
    const [blocking, without] = [await startPeer(blocks), await startPeer(hasNot)];
    await expect(pool(blocking, without).fetch()).rejects.toMatchObject({
      code: 'DENIED',
      message: `${blocking.url} has blocked this address, and no other peer has this record. Asked: ${blocking.url}, ${without.url}.`,
    });
  });
});
