import { expect, test } from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish, RepeatingFile } from '../support/publish.ts';
import { randomBytes } from '../support/random.ts';
import { anttpFixture } from '../support/tar.ts';

/** How often a peer was asked by each operation over WebTransport. */
async function asked(peer: PeerProcess): Promise<{ open: number; get: number }> {
  // A request is counted when its stream has ended.
  await expect.poll(() => peer.metric('streams')).toBe(0);
  const count = (op: string) => peer.metric('requests_total', { transport: 'webtransport', op });
  return { open: await count('open'), get: await count('get') };
}

test.describe('on a warm session', () => {
  test('a cold file comes in one round trip: one OPEN, and no GET', { tag: '@full' }, async ({
    startPeer,
    openWorker,
  }) => {
    const peer = await startPeer();
    await peer.putFixture('anttp/tiny3');
    const size = 5_000_000;
    const address = await publish(randomBytes(size), peer);
    const gateway = await openWorker({ peers: [peer.url] });
    expect((await gateway.fetch(`/${anttpFixture('tiny3').address}`)).status).toBe(200);

    const before = await asked(peer);
    const timed = async () => {
      await gateway.settled();
      const { firstByteMs, totalMs } = (await gateway.stats()).peers[0]!.webtransport;
      return [firstByteMs.count, totalMs.count];
    };
    const [begun, ended] = await timed();
    const answer = await gateway.fetch(`/${address}`);
    expect([answer.status, answer.size]).toEqual([200, size]);
    expect(await asked(peer)).toEqual({ open: before.open + 1, get: before.get });
    // Its duration says how fast the peer is, as the time of any answer does.
    expect(await timed()).toEqual([begun! + 1, ended! + 1]);
  });

  test('a cold file with a nested map comes in one round trip, because the peer decrypts the levels', {
    tag: '@full',
  }, async ({ startPeer, openWorker }) => {
    const peer = await startPeer();
    await peer.putFixture('anttp/tiny3');
    const size = 13_000_000;
    const address = await publish(new RepeatingFile(size), peer);
    const gateway = await openWorker({ peers: [peer.url] });
    expect((await gateway.fetch(`/${anttpFixture('tiny3').address}`)).status).toBe(200);

    const before = await asked(peer);
    const answer = await gateway.fetch(`/${address}`, { headers: { Range: 'bytes=0-9' } });
    expect([answer.status, answer.size]).toEqual([206, 10]);
    const after = await asked(peer);
    expect(after.get).toBe(before.get);
  });

  test('a cold member of an archive comes in one round trip', { tag: '@full' }, async ({
    startPeer,
    openWorker,
  }) => {
    const peer = await startPeer();
    await peer.putFixture('anttp/tiny3');
    await peer.putFixture('anttp/tarchive_many300');
    const gateway = await openWorker({ peers: [peer.url] });
    expect((await gateway.fetch(`/${anttpFixture('tiny3').address}`)).status).toBe(200);

    const before = await asked(peer);
    const { address } = anttpFixture('tarchive_many300');
    const answer = await gateway.fetch(`/${address}/dir/file_0150_xxxxxxxxxxxxxxxxxxxx.txt`);
    expect(answer.status).toBe(200);
    expect((await asked(peer)).get).toBe(before.get);
  });
});
