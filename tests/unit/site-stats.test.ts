// @module-tag isolated
import { describe, expect, it } from 'vitest';
import { AntwayError } from '../../src/errors.ts';
import { siteCache, siteStats } from '../../src/shell/live/site-stats.ts';
import { sumStats, withHostPeer } from '../../src/shell/live/sum-stats.ts';
import { PeerAttempt } from '../../src/stats/peer-attempt.ts';
import { Stats } from '../../src/stats/stats.ts';

const peer = 'https://peer.example';

/** The counters of a worker. */
function counted(): Stats {
  const stats = new Stats();
  stats.requestStarted();
  stats.requestEnded(undefined, { firstByteMs: 10, totalMs: 40 });
  stats.requestStarted();
  stats.requestEnded('NOT_FOUND');
  stats.served(500);
  stats.fromMemory(100);
  stats.fromDisk(200);
  const answered = new PeerAttempt({ peer, operation: 'get', transport: 'http' }, [stats]);
  answered.began();
  answered.chunks = 1;
  stats.chunkReceived(answered, 300);
  answered.end('success');
  const failed = new PeerAttempt({ peer, operation: 'get', transport: 'webtransport' }, [stats]);
  failed.end(new AntwayError('PEERS_UNREACHABLE', 'It did not answer.'));
  return stats;
}

/** As the bridge brings it. */
const sent = (stats: Stats) => JSON.parse(JSON.stringify(stats.snapshot()));

/** The same with one field changed, given by its path. */
function withField(path: string, value: unknown): unknown {
  const all = sent(counted());
  const keys = path.split('.');
  const last = keys.pop()!;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a site sends
  keys.reduce<any>((at, key) => at[key], all)[last] = value;
  return all;
}

describe('the counters of a site’s origin', () => {
  it('are taken as its worker sends them', () => {
    const snapshot = counted().snapshot();
    expect(siteStats(sent(counted()))).toEqual({ ...snapshot, startedAt: expect.any(Number) });
  });

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', '<b>stats</b>'],
    ['an empty object', {}],
    ['a list', []],
    ['a negative count', withField('servedBytes', -1)],
    ['a text as a count', withField('servedBytes', '<img src=x>')],
    ['a count that is no number', withField('requests.total', null)],
    ['a count that is too large to add up', withField('chunks.disk.bytes', 1e300)],
    ['a histogram of another length', withField('requests.totalMs.buckets', [1, 2])],
    ['a histogram without counts', withField('requests.totalMs.buckets', Array(31).fill('x'))],
    ['peers that are no list', withField('peers', { length: 1 })],
    ['a peer without a URL', withField('peers.0.url', 'javascript')],
    ['a peer with a long URL', withField('peers.0.url', `https://${'a'.repeat(300)}.example`)],
  ])('are refused if they are %s', (_, value) => {
    expect(siteStats(value)).toBeUndefined();
  });

  it('lose unknown fields, unknown error codes, and percentiles that do not follow from the counts', () => {
    const value = withField('requests.failed', { NOT_FOUND: 1, '<b>': 5, __proto__: 3 }) as {
      requests: { totalMs: { p50: unknown } };
      extra: string;
    };
    value.requests.totalMs.p50 = '<img src=x onerror=alert(1)>';
    value.extra = 'x'.repeat(1_000);
    const stats = siteStats(value)!;
    expect(stats.requests.failed).toEqual({ NOT_FOUND: 1 });
    expect(stats.requests.totalMs.p50).toBe(counted().snapshot().requests.totalMs.p50);
    expect(stats).not.toHaveProperty('extra');
  });

  it('do not call the methods of a list that a site sends', () => {
    const value = withField('peers', Object.assign(sent(counted()).peers, { constructor: {} }));
    expect(siteStats(value)?.peers).toHaveLength(1);
  });

  it('name a bounded number of peers, and no file that is read', () => {
    const [one] = sent(counted()).peers;
    const peers = Array.from({ length: 1_000 }, (_, i) => ({ ...one, url: `https://${i}.example` }));
    const reading = { path: '/x', size: 1, count: 1, chunks: 'x'.repeat(1e6) };
    const stats = siteStats({ ...(withField('peers', peers) as object), reading })!;
    expect(stats.peers).toHaveLength(32);
    expect(stats.reading).toBeNull();
  });
});

describe('the storage report of a site’s origin', () => {
  const cache = {
    count: 3,
    bytes: 300,
    waiting: 0,
    maxBytes: 1_000,
    available: true,
    reason: null,
    quota: 5_000,
    usage: 400,
    persisted: false,
  };

  it('is taken as its worker sends it, without the reason in words', () => {
    expect(siteCache(cache)).toEqual(cache);
    expect(siteCache({ ...cache, reason: '<b>' })).toEqual(cache);
    expect(siteCache({ ...cache, quota: null, usage: null })).toMatchObject({ quota: null, usage: null });
  });

  it.each([
    ['a size in words', { bytes: '3 MB' }],
    ['a size below zero', { maxBytes: -1 }],
    ['a promise that is neither true nor false', { persisted: 'yes' }],
  ])('is refused with %s', (_, change) => {
    expect(siteCache({ ...cache, ...change })).toBeUndefined();
  });
});

describe('the figures of several origins', () => {
  it('add up, and those of one origin stay as they are', () => {
    const [a, b] = [counted().snapshot(), counted().snapshot()];
    b.startedAt = a.startedAt - 5;
    expect(sumStats([a])).toBe(a);
    const sum = sumStats([a, b]);
    expect(sum).toMatchObject({
      startedAt: b.startedAt,
      servedBytes: 1_000,
      requests: { total: 4, failed: { NOT_FOUND: 2 }, totalMs: { count: 2, sum: 80 } },
      chunks: { memory: { count: 2, bytes: 200 }, disk: { count: 2, bytes: 400 } },
      peers: [
        { url: peer, http: { chunks: 2, bytes: 600 }, webtransport: { failures: { PEERS_UNREACHABLE: 2 } } },
      ],
    });
    expect(a.servedBytes).toBe(500);
  });

  it('count the host as one peer, which has the URL of a site’s origin there', () => {
    const [gateway, site] = ['https://gateway.example', 'https://site.gateway.example'];
    const [own, ofSite] = [counted().snapshot(), counted().snapshot()];
    own.peers[0]!.url = gateway;
    const other = { ...ofSite.peers[0]!, url: 'https://other.gateway.example' };
    ofSite.peers = [{ ...ofSite.peers[0]!, url: site }, other];
    const sum = sumStats([own, withHostPeer(ofSite, site, gateway)]);
    expect(sum.peers).toMatchObject([{ url: gateway, http: { chunks: 2, bytes: 600 } }, { url: other.url }]);
    expect(ofSite.peers[0]!.url).toBe(site);
  });

  it('show the file that the first origin reads, while the others read none', () => {
    const own = counted();
    own.onChange(() => {});
    own.chunkOf({ count: 3, size: 10 }, 0, '~', 'film.webm');
    const [a, b] = [own.snapshot(), counted().snapshot()];
    expect(sumStats([a, b])).toMatchObject({ servedBytes: 1_000, reading: a.reading });
    expect(sumStats([b, a]).reading).toBeNull();
  });

  it('have percentiles of all answers together', () => {
    const [slow, fast] = [new Stats(), new Stats()];
    for (const [stats, ms] of [
      [slow, 1_000],
      [fast, 10],
    ] as const) {
      stats.requestStarted();
      stats.requestEnded(undefined, { firstByteMs: ms, totalMs: ms });
    }
    const { totalMs } = sumStats([fast.snapshot(), slow.snapshot()]).requests;
    expect(totalMs.p50).toBeLessThan(20);
    expect(totalMs.p99).toBeGreaterThan(700);
  });
});
