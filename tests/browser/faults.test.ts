import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { limits } from '../../src/limits.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import type { PeerTally } from '../../src/stats/stats.ts';
import { test as base, expect, type Gateway } from '../support/chromium.ts';
import { hostile } from '../support/hostile.ts';
import { announceUdpPort } from '../support/info-proxy.ts';
import { type PeerOptions, PeerProcess } from '../support/peer-process.ts';
import { noise, publish } from '../support/publish.ts';
import { randomBytes } from '../support/random.ts';
import { copyStore, type Published, publishFile } from '../support/stores.ts';
import { sha256 } from '../support/tar.ts';
import { type Download, download, hasReceived, longestPause } from './downloads.ts';

/** The content of all peers. Each gets a copy of this store. */
interface Content {
  store: string;
  file: Published;
  /** Small files, so that there are many addresses. */
  small: Published[];
  /** Records that are no files: one address and one request each. */
  records: Published[];
}

interface Fixtures {
  /** Starts a peer that holds what the store holds. */
  startHolder(store: string, options?: PeerOptions): Promise<PeerProcess>;
}

const test = base.extend<Fixtures, { content: Content }>({
  content: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs
    async ({}, use) => {
      const store = mkdtempSync(join(tmpdir(), 'antway-faults-'));
      const peer = await PeerProcess.start({ store });
      const file = await publishFile(8 * limits.plaintextChunkBytes, peer);
      const small: Published[] = [];
      for (let i = 0; i < 10; i++) {
        const bytes = noise(100 + i, 30_000);
        const address = await publish(bytes, peer);
        small.push({ address, size: bytes.length, sha256: sha256(bytes) });
      }
      const blake3 = await loadBlake3();
      const records = Array.from({ length: 60 }, (_, i) => noise(150 + i, 2_000)).map((bytes) => {
        const address = Buffer.from(blake3(bytes)).toString('hex');
        return { bytes, address, size: bytes.length, sha256: sha256(bytes) };
      });
      for (const { address, bytes } of records) await peer.put(address, bytes);
      await peer.stop();
      await use({ store, file, small, records });
      rmSync(store, { recursive: true, force: true });
    },
    { scope: 'worker' },
  ],

  startHolder: async ({ startPeer, folder }, use) => {
    let holders = 0;
    await use((store, options) => {
      const own = join(folder, `peer-${++holders}`);
      copyStore(store, own);
      return startPeer({ ...options, store: own });
    });
  },
});

/** How long Chromium takes to start its network service again. */
const serviceRestartMs = 500;
/**
 * How many requests the browser may reject after peers were killed: docs/reference/benchmarks.md#faults. Each of three dead
 * sessions can crash its network service once, and the worker is started twice then.
 */
const maxRejected = 6;

const { stallMs, connectGraceMs } = limits;
/** How long a peer of which nothing is known may take over a chunk before another is asked as well. */
const hedgeDelayMs = limits.defaultHedgeDelayMs.firstByte + limits.defaultHedgeDelayMs.rest;

interface Fault {
  name: string;
  /** The longest time without a byte: what the client may wait in vain, before it turns to another peer. */
  deadlineMs: number;
  peer: PeerOptions;
  /** The fault, which begins once a client runs. */
  onceRunning?(peer: PeerProcess): Promise<void>;
  /** Whether `/-/peers` shows what it is. */
  shows(faulty: Seen, chunksOfOthers: number): void;
}

const failuresOf = ({ webtransport, http }: Seen) =>
  (webtransport.failures.PEERS_UNREACHABLE ?? 0) + (http.failures.PEERS_UNREACHABLE ?? 0);
const chunksOf = ({ webtransport, http }: Seen) => webtransport.chunks + http.chunks;

const faults: Fault[] = [
  {
    name: 'dies while its sessions are open',
    // An OPEN and then a GET on a session that nothing answers any more; HTTP is refused at once.
    deadlineMs: hedgeDelayMs + stallMs,
    peer: {},
    onceRunning: (peer) => peer.kill(),
    shows: (faulty) => {
      expect(faulty.state).toBe('unreachable');
      expect(failuresOf(faulty)).toBeGreaterThan(0);
    },
  },
  {
    name: 'accepts requests and never answers',
    // An OPEN that is broken off, a GET by WebTransport and one by HTTP until they count as stalled.
    deadlineMs: hedgeDelayMs + 2 * stallMs,
    peer: hostile('silent'),
    shows: (faulty) => {
      expect(chunksOf(faulty)).toBe(0);
      expect(['idle', 'unreachable']).toContain(faulty.state);
      expect(faulty.bans).toBe(0);
    },
  },
  {
    name: 'sends 20 KB/s',
    // The record, the chunks of its map, and the first chunk: each may have to be asked for twice.
    deadlineMs: 3 * hedgeDelayMs,
    peer: hostile('slow', '--bytes-per-second', '20000'),
    shows: (faulty, chunksOfOthers) => {
      expect(chunksOf(faulty)).toBeLessThan(chunksOfOthers / 4);
      expect(faulty.bans).toBe(0);
    },
  },
  {
    name: 'resets every answer in its middle',
    // The next peer is asked at once.
    deadlineMs: hedgeDelayMs,
    peer: hostile('reset'),
    shows: (faulty) => {
      expect(chunksOf(faulty)).toBe(0);
      expect(failuresOf(faulty)).toBeGreaterThan(0);
      expect(faulty.bans).toBe(0);
    },
  },
  {
    name: 'lies',
    deadlineMs: hedgeDelayMs,
    peer: hostile('flip'),
    shows: (faulty) => {
      expect(faulty).toMatchObject({ state: 'banned' });
      expect(faulty.bans).toBeGreaterThan(0);
      expect(faulty.corrupt).toBeGreaterThan(0);
    },
  },
];

test.describe('one of three peers', { tag: '@full' }, () => {
  for (const { name, deadlineMs, peer: options, onceRunning, shows } of faults) {
    test(`${name}: the others bring every byte`, async ({ content, startHolder, openWorker }) => {
      const [faulty, ...honest] = await Promise.all([
        startHolder(content.store, options),
        startHolder(content.store),
        startHolder(content.store),
      ]);
      const gateway = await openWorker({ peers: [faulty!, ...honest].map(({ url }) => url) });
      const [first, ...rest] = content.small;
      const pauses = [];
      if (onceRunning) {
        await expectWhole(gateway, first!);
        await expectSessions(gateway, [faulty!]);
        await onceRunning(faulty!);
      } else {
        pauses.push(longestPause(await expectWhole(gateway, first!)));
      }
      for (const published of [content.file, ...rest]) {
        pauses.push(longestPause(await expectWhole(gateway, published)));
      }
      const seen = await seenPeers(gateway);
      report(name, Math.max(...pauses), deadlineMs, seen);
      const others = seen.filter(({ url }) => url !== faulty!.url);
      const chunksOfOthers = others.reduce((sum, other) => sum + chunksOf(other), 0);
      shows(seen.find(({ url }) => url === faulty!.url)!, chunksOfOthers);
      for (const other of others) expect(other).toMatchObject({ bans: 0, corrupt: 0 });
    });
  }
});

test('HTTP serves if UDP is blocked', { tag: '@full' }, async ({ content, startHolder, openWorker }) => {
  const peers = await Promise.all([1, 2, 3].map(() => startHolder(content.store)));
  const blackHole = createSocket('udp4').bind(0, '127.0.0.1');
  await once(blackHole, 'listening');
  const proxies = await Promise.all(peers.map((peer) => announceUdpPort(peer, blackHole.address().port)));
  const gateway = await openWorker({ peers: proxies.map(({ url }) => url) });
  const pauses = [];
  for (const published of [content.file, ...content.small]) {
    pauses.push(longestPause(await expectWhole(gateway, published)));
  }
  const seen = await seenPeers(gateway);
  // Each peer is given its time to connect once, if it comes to that.
  report('UDP is blocked', Math.max(...pauses), 3 * connectGraceMs, seen);
  expect(seen.map(({ state }) => state)).toContain('http');
  for (const { state, webtransport } of seen) {
    // One of them may never have been asked.
    expect(['http', 'idle']).toContain(state);
    expect(webtransport.chunks).toBe(0);
  }
  await Promise.all(proxies.map((proxy) => proxy.stop()));
  blackHole.close();
});

test('restarted peers with other certificates and ports serve by HTTP at once, then by WebTransport', {
  tag: '@full',
}, async ({ content, startHolder, startPeer, openWorker }) => {
  // Their HTTP is refused while they are away, but a session that died says so only by its silence.
  const deadlineMs = 2 * stallMs;
  const before = await Promise.all([1, 2, 3].map(() => startHolder(content.store)));
  const gateway = await openWorker({ peers: before.map(({ url }) => url) });
  for (const published of content.small.slice(0, 5)) await expectWhole(gateway, published);
  await expectSessions(gateway, before);
  for (const peer of before) await peer.kill();
  const after = await Promise.all(
    // In a store of their own, with certificates that no client has seen.
    before.map(async ({ url, storeFolder }) => {
      const certificates = join(storeFolder, 'new-certificates');
      const flags = ['--certificate-folder', certificates];
      return startPeer({ http: new URL(url).host, store: storeFolder, flags });
    }),
  );
  for (const [i, { listening }] of after.entries()) {
    expect(listening.certificateHashes).not.toEqual(before[i]!.listening.certificateHashes);
    expect(listening.webTransport).not.toBe(before[i]!.listening.webTransport);
  }
  const restartedAt = Date.now();
  let rejected = 0;
  const countRejection = () => {
    console.log(`recovery | certificates and ports rotated: ${++rejected} rejected by the browser`);
    expect(rejected).toBeLessThanOrEqual(maxRejected);
    return setTimeout(serviceRestartMs);
  };
  let got = await download(gateway.shell, `/${content.file.address}`);
  const pauses = [longestPause(got)];
  while (got.status === 0) {
    await countRejection();
    got = await download(gateway.shell, `/${content.file.address}`);
    pauses.push(longestPause(got));
  }
  expectComplete(got, content.file);
  report('certificates and ports rotated', Math.max(...pauses), deadlineMs, await seenPeers(gateway));
  // New content until each of them was asked over WebTransport again.
  let seed = 30;
  await expect
    .poll(
      async () => {
        for (let i = 0; i < 3; i++) {
          const bytes = noise(seed++ % 256, 5_000 + seed);
          const address = await publish(bytes, ...after);
          const answer = await gateway.fetch(`/${address}`).catch(countRejection);
          if (answer) expect(answer.sha256).toBe(sha256(bytes));
        }
        const given = await Promise.all(after.map((peer) => peer.chunksGiven('webtransport')));
        return Math.min(...given);
      },
      { timeout: 80_000, intervals: [500] },
    )
    .toBeGreaterThan(0);
  report('all by WebTransport again', Date.now() - restartedAt, null, await seenPeers(gateway));
});

test('a client reads on after its peers’ certificates expire', { tag: '@full' }, async ({
  content,
  startHolder,
  openWorker,
}) => {
  // Each is shown for eight seconds. Sessions end when they are idle, so that new ones must be opened.
  const flags = ['--certificate-lifetime', '12s', '--idle-timeout', '3s'];
  const peers = await Promise.all([1, 2, 3].map(() => startHolder(content.store, { flags })));
  const gateway = await openWorker({ peers: peers.map(({ url }) => url) });
  for (const published of content.small) await expectWhole(gateway, published);
  const given = await Promise.all(peers.map((peer) => peer.chunksGiven('webtransport')));
  for (const peer of peers) {
    const old = new Set(peer.listening.certificateHashes);
    await expect
      .poll(
        async () => {
          const info = await (await fetch(`${peer.url}/-/info`)).json();
          return info.webTransport.certificateHashes.some((hash: string) => old.has(hash));
        },
        { timeout: 30_000, intervals: [500] },
      )
      .toBe(false);
    await expect.poll(() => peer.metric('sessions')).toBe(0);
  }
  const pause = longestPause(await expectWhole(gateway, content.file));
  const seen = await seenPeers(gateway);
  report('certificates expired', pause, null, seen);
  const now = await Promise.all(peers.map((peer) => peer.chunksGiven('webtransport')));
  expect(now.reduce((sum, n) => sum + n, 0)).toBeGreaterThan(given.reduce((sum, n) => sum + n, 0));
  expect(seen.map(({ state }) => state)).not.toContain('unreachable');
});

test.describe('a download of 200 MB', { tag: '@full' }, () => {
  const large = 200_000_000;

  test('continues while a peer restarts', async ({ startHolder, startPeer, openWorker }) => {
    const filled = await startPeer();
    const file = await publishFile(large, filled);
    await filled.kill();
    const peers = await Promise.all([1, 2, 3].map(() => startHolder(filled.storeFolder)));
    const gateway = await openWorker({ peers: peers.map(({ url }) => url) });
    const running = download(gateway.shell, `/${file.address}`);
    await hasReceived(gateway.shell, 40_000_000);
    const [restarted] = peers;
    await restarted!.kill();
    const killedAt = Date.now();
    const again = await startPeer({
      http: new URL(restarted!.url).host,
      store: restarted!.storeFolder,
      flags: ['--certificate-folder', join(restarted!.storeFolder, 'new-certificates')],
    });
    const got = await running;
    const pause = longestPause(got, killedAt);
    report('restarted during a download', pause, 2 * stallMs, await seenPeers(gateway));
    expect(got).toMatchObject({ status: 200, outcome: 'ended', received: large, sha256: file.sha256 });
    expect(got.times.at(-1)!, 'it was over before the peer died').toBeGreaterThan(killedAt);
    // It is one of the three again.
    await expect
      .poll(async () => {
        for (let i = 0; i < 5; i++) {
          const bytes = noise(i, 3_000 + (Date.now() % 100_000));
          await gateway.fetch(`/${await publish(bytes, again, peers[1]!, peers[2]!)}`);
        }
        return again.chunksGiven();
      })
      .toBeGreaterThan(0);
  });
});

test('a request without any peer fails, and succeeds when the peers are back', { tag: '@full' }, async ({
  content,
  startHolder,
  startPeer,
  openWorker,
}) => {
  const before = await Promise.all([1, 2, 3].map(() => startHolder(content.store)));
  const gateway = await openWorker({ peers: before.map(({ url }) => url) });
  const [first, second, third] = content.small;
  await expectWhole(gateway, first!);

  const underWay = download(gateway.shell, `/${content.file.address}`);
  await hasReceived(gateway.shell, 1);
  for (const peer of before) await peer.kill();
  const goneAt = Date.now();
  const broken = await underWay;
  expect(broken.status).toBe(200);
  // The browser may have had all of it already.
  if (broken.outcome === 'ended') expect(broken.sha256).toBe(content.file.sha256);
  else expect(broken.received).toBeLessThan(content.file.size);
  const brokenMs = broken.times.at(-1)! - goneAt;

  const refused = await download(gateway.shell, `/${second!.address}`);
  expect([refused.status, refused.code]).toEqual([504, 'PEERS_UNREACHABLE']);
  report('all gone: the body', brokenMs, 2 * stallMs, []);
  report('all gone: a request', longestPause(refused), 2 * stallMs, await seenPeers(gateway));
  for (const { state } of await seenPeers(gateway)) expect(state).toBe('unreachable');

  await Promise.all(
    before.map(({ url, storeFolder }) => startPeer({ http: new URL(url).host, store: storeFolder })),
  );
  const back = longestPause(await expectWhole(gateway, third!));
  report('all back', back, 2 * stallMs, await seenPeers(gateway));
  await expectWhole(gateway, second!);
  await expectWhole(gateway, content.file);
});

test('healthy peers share the addresses, and a second client asks the same peer for the same address', {
  tag: '@full',
}, async ({ content, startHolder, openWorker, browser }) => {
  const peers = await Promise.all([1, 2, 3].map(() => startHolder(content.store)));
  const gateway = await openWorker({ peers: peers.map(({ url }) => url) });
  const first = await whoAnswered(gateway, content.records);
  const context = await browser.newContext();
  const second = await whoAnswered(
    await openWorker({ peers: peers.map(({ url }) => url) }, context),
    content.records,
  );
  await context.close();
  const shares = peers.map(({ url }) => first.filter((answered) => answered === url).length);
  const same = first.filter((url, i) => url === second[i]).length;
  console.log(`shares of ${first.length} addresses: ${shares.join(', ')}; same peer for ${same}`);
  // Its share is a third, if all are equally fast; what each client measures of them shifts that.
  for (const share of shares) expect(share).toBeGreaterThan(first.length / 10);
  // Chance would give a third.
  expect(same).toBeGreaterThan(first.length * 0.55);
});

interface Seen extends PeerTally {
  state: string;
}

/** The answer of `/-/peers`. A peer that was never asked has a state and nothing else. */
async function seenPeers(gateway: Gateway): Promise<Seen[]> {
  const { text } = await gateway.fetch('/-/peers');
  const none = { chunks: 0, failures: {} };
  return (JSON.parse(text) as { peers: Partial<Seen>[] }).peers.map(
    (peer) =>
      ({
        webtransport: none,
        http: none,
        corrupt: 0,
        bans: 0,
        hedges: { won: 0, lost: 0 },
        ...peer,
      }) as Seen,
  );
}

/**
 * Prints what was measured, for docs/reference/benchmarks.md. A busy machine can exceed a deadline, so that fails no test.
 * @param deadlineMs the time after which the client has turned to another peer.
 */
function report(fault: string, milliseconds: number, deadlineMs: number | null, seen: Seen[]): void {
  const lines = seen.map((peer) => {
    const { state, webtransport, http, hedges, bans } = peer;
    const p95 = webtransport.firstByteMs?.p95 ?? http.firstByteMs?.p95 ?? null;
    return `  ${state}: ${webtransport.chunks} + ${http.chunks} chunks, ${failuresOf(peer)} unreachable, hedges ${hedges.won} won ${hedges.lost} lost, ${bans} bans, first byte p95 ${p95} ms`;
  });
  const deadline = deadlineMs === null ? '' : ` of at most ${deadlineMs} ms`;
  console.log([`recovery | ${fault} | ${Math.round(milliseconds)} ms${deadline}`, ...lines].join('\n'));
}

async function expectWhole(gateway: Gateway, published: Published): Promise<Download> {
  const got = await download(gateway.shell, `/${published.address}`);
  expectComplete(got, published);
  return got;
}

function expectComplete({ status, outcome, received, sha256 }: Download, published: Published): void {
  expect({ status, outcome, received, sha256 }).toEqual({
    status: 200,
    outcome: 'ended',
    received: published.size,
    sha256: published.sha256,
  });
}

/** Has the gateway connect to every peer: what none of them has, each of them is asked for. */
async function expectSessions(gateway: Gateway, peers: readonly PeerProcess[]): Promise<void> {
  await expect
    .poll(async () => {
      await gateway.fetch(`/${randomBytes(32).toString('hex')}`);
      return Math.min(...(await Promise.all(peers.map((peer) => peer.metric('sessions')))));
    })
    .toBeGreaterThan(0);
}

/** Fetches one after the other. @returns for each the URL of the peer that it came from. */
async function whoAnswered(gateway: Gateway, records: readonly Published[]): Promise<string[]> {
  const urls: string[] = [];
  let before = await seenPeers(gateway);
  for (const { address, sha256 } of records) {
    expect((await gateway.fetch(`/${address}`)).sha256).toBe(sha256);
    const after = await seenPeers(gateway);
    urls.push(after.find((peer, i) => chunksOf(peer) > chunksOf(before[i]!))!.url);
    before = after;
  }
  return urls;
}
