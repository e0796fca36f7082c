import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, type Gateway, test } from '../support/chromium.ts';
import { announceUdpPort } from '../support/info-proxy.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';
import { randomBytes } from '../support/random.ts';
import { anttpFixture, sha256 } from '../support/tar.ts';

const { address, tar } = anttpFixture('tarchive_site');
/** The record of the fixture's data map and its three chunks. */
const chunksOfSite = 4;
/** The record of a small file's data map and its three chunks. */
const chunksOfFile = 4;

test('chunks come over WebTransport', { tag: '@smoke' }, async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  await peer.putFixture('anttp/tarchive_site');
  const gateway = await openWorker({ peers: [peer.url] });
  await expectSite(gateway);
  await expectChunks(gateway, peer, { webtransport: chunksOfSite, http: 0 });
  expect(await peer.metric('sessions')).toBe(1);
});

test('each chunk of a file comes once, on a new and on a warm session', { tag: '@full' }, async ({
  startPeer,
  openWorker,
}) => {
  const peer = await startPeer();
  const gateway = await openWorker({ peers: [peer.url] });
  const counts = async () => {
    await gateway.settled();
    // A request is counted when its stream has ended.
    await expect.poll(() => peer.metric('streams')).toBe(0);
    const { http, webtransport } = (await gateway.stats()).peers[0]!;
    return { counted: http.chunks + webtransport.chunks, given: await peer.chunksGiven() };
  };
  for (const files of [1, 2]) {
    const bytes = randomBytes(1_000_000);
    const answer = await gateway.fetch(`/${await publish(bytes, peer)}`);
    expect(answer.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(await counts()).toEqual({ counted: files * chunksOfFile, given: files * chunksOfFile });
  }
});

test('a peer known by its certificate hash alone is reached over WebTransport', { tag: '@full' }, async ({
  startPeer,
  openWorker,
}) => {
  const peer = await startPeer();
  await peer.putFixture('anttp/tarchive_site');
  const { webTransport, certificateHashes } = peer.listening;
  const { host } = new URL(webTransport!);
  const gateway = await openWorker({ peers: [`https://${host}#sha-256=${certificateHashes.join(',')}`] });
  await expectSite(gateway);
  await expectChunks(gateway, peer, { webtransport: chunksOfSite, http: 0 });
});

test('chunks come over HTTP from a peer without WebTransport', { tag: '@full' }, async ({
  startPeer,
  openWorker,
}) => {
  const peer = await startPeer({ webTransport: 'none' });
  await peer.putFixture('anttp/tarchive_site');
  const gateway = await openWorker({ peers: [peer.url] });
  await expectSite(gateway);
  await expectChunks(gateway, peer, { webtransport: 0, http: chunksOfSite });
});

test.describe('chunks come over HTTP where the UDP port that the peer announces', () => {
  test('is closed', async ({ startPeer, openWorker }) => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const { port } = socket.address();
    socket.close();
    const peer = await startPeer();
    await peer.putFixture('anttp/tarchive_site');
    const proxy = await announceUdpPort(peer, port);
    const gateway = await openWorker({ peers: [proxy.url] });
    await expectSite(gateway);
    await expectChunks(gateway, peer, { webtransport: 0, http: chunksOfSite });
    await proxy.stop();
  });

  test('swallows every packet, as behind a firewall', { tag: '@full' }, async ({ startPeer, openWorker }) => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const peer = await startPeer();
    await peer.putFixture('anttp/tarchive_site');
    const proxy = await announceUdpPort(peer, socket.address().port);
    const gateway = await openWorker({ peers: [proxy.url] });
    await expectSite(gateway);
    await expectChunks(gateway, peer, { webtransport: 0, http: chunksOfSite });
    await proxy.stop();
    socket.close();
  });
});

test('a peer that restarts with other certificates is reached over WebTransport again', {
  tag: '@full',
}, async ({ startPeer, openWorker }) => {
  const before = await startPeer();
  await before.putFixture('anttp/tarchive_site');
  const gateway = await openWorker({ peers: [before.url] });
  await expectSite(gateway);
  await before.kill();

  const after = await startPeer({
    http: new URL(before.url).host,
  });
  expect(after.listening.certificateHashes).not.toEqual(before.listening.certificateHashes);
  // New content until one comes over WebTransport: the first request finds the old session dead, and after that
  // HTTP is used for a while.
  test.setTimeout(90_000);
  let edition = 0;
  await expect
    .poll(
      async () => {
        const content = `edition ${++edition}`;
        const published = await publish(Buffer.from(content), after);
        expect((await gateway.fetch(`/${published}`)).text).toBe(content);
        return after.chunksGiven('webtransport');
      },
      { timeout: 60_000 },
    )
    .toBeGreaterThan(0);
});

async function expectSite(gateway: Gateway): Promise<void> {
  const page = await gateway.openPage(`/${address}/`);
  await expect(page.locator('body')).toHaveText('home');
  const style = await gateway.fetch(`/${address}/assets/style.css`);
  expect(tar.includes(Buffer.from(style.text))).toBe(true);
  expect(style.sha256).toBe(sha256(style.text));
}

/** Checks that the worker and the peer count the same, by either transport. */
async function expectChunks(
  gateway: Gateway,
  peer: PeerProcess,
  expected: { webtransport: number; http: number },
): Promise<void> {
  await gateway.settled();
  const [tally] = (await gateway.stats()).peers;
  const { webtransport, http } = tally!;
  expect([http.chunks, await peer.chunksGiven('http')]).toEqual([expected.http, expected.http]);
  for (const chunks of [webtransport.chunks, await peer.chunksGiven('webtransport')]) {
    // Once the session is up, a second OPEN asks for the archive's end, and is cancelled when the map shows that the
    // first brings it too: what it sent until then comes twice, and that may be all of so small a site.
    expect(chunks).toBeGreaterThanOrEqual(expected.webtransport);
    expect(chunks).toBeLessThanOrEqual(2 * expected.webtransport);
  }
}
