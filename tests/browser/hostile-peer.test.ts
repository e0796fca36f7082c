import { expect, type Gateway, type HostConfig, test } from '../support/chromium.ts';
import { hostile, lies } from '../support/hostile.ts';
import { publishManyChunks } from '../support/many-chunks.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { expectPin, pinAction } from '../support/pins.ts';
import { publish, RepeatingFile } from '../support/publish.ts';
import { anttpChunks, anttpFixture, sha256 } from '../support/tar.ts';

const { address } = anttpFixture('tarchive_site');

for (const [fault, does] of Object.entries(lies)) {
  // A gateway in Node hears the other lies.
  const tag = fault === 'flip' ? '@smoke' : '@full';
  test(`a peer that ${does} is named and banned, and none of its bytes reach the page`, { tag }, async ({
    startPeer,
    openWorker,
  }) => {
    const liar = await startPeer(hostile(fault));
    await liar.putFixture('anttp/tarchive_site');
    const gateway = await openWorker({ peers: [liar.url] });

    const page = await gateway.shell.context().newPage();
    const response = await page.goto(`${gateway.url}/${address}/`);
    expect(response!.status()).toBe(502);
    await expect(page.getByText('Code CORRUPT')).toBeVisible();
    await page.getByText('Details').click();
    await expect(page.getByRole('table')).toContainText(liar.url);

    const answer = await gateway.fetch(`/${address}/`);
    const { code, details } = JSON.parse(answer.text);
    expect([answer.status, code]).toEqual([502, 'CORRUPT']);
    expect(details.attempts).toMatchObject([{ peer: liar.url, code: 'CORRUPT' }]);
    const [tally] = (await gateway.stats()).peers;
    expect(Object.keys(tally!.webtransport.failures)).toEqual(['CORRUPT']);
    expect(tally!.corrupt).toBeGreaterThan(0);
    await expectStates(gateway, { [liar.url]: 'banned' });
    expect((await gateway.cache()).count).toBe(0);
  });

  test(`an honest peer makes up for one that ${does}`, { tag: '@full' }, async ({
    startPeer,
    openWorker,
  }) => {
    await expectMadeUp(await startPeer(hostile(fault)), await startPeer(), openWorker);
  });
}

// A gateway in Node hears the other lies over HTTP.
test('an honest peer makes up for one that leaves out the second half over HTTP', { tag: '@full' }, async ({
  startPeer,
  openWorker,
}) => {
  const liar = await startPeer({ ...hostile('short'), webTransport: 'none' });
  await expectMadeUp(liar, await startPeer(), openWorker);
});

test('a body fails instead of ending early if a peer lies in the middle of a file', { tag: '@full' }, async ({
  startPeer,
  openWorker,
}) => {
  const size = 30_000_000;
  const liar = await startPeer(hostile('flip', '--honest-first', '8'));
  const large = await publish(new RepeatingFile(size), liar);
  const gateway = await openWorker({ peers: [liar.url] });
  const { status, declared, received, outcome } = await gateway.shell.evaluate(async (url) => {
    const response = await fetch(url);
    const declared = Number(response.headers.get('Content-Length'));
    const reader = response.body!.getReader();
    let received = 0;
    try {
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        received += piece.value.length;
      }
      return { status: response.status, declared, received, outcome: 'ended' };
    } catch {
      return { status: response.status, declared, received, outcome: 'failed' };
    }
  }, `/${large}`);
  expect({ status, declared, outcome }).toEqual({ status: 200, declared: size, outcome: 'failed' });
  expect(received).toBeGreaterThan(0);
  expect(received).toBeLessThan(size);
});

for (const [fault, does] of Object.entries({
  'not-found': 'does not have the chunk',
  busy: 'is busy',
  reset: 'breaks off in the middle',
})) {
  test(`the next peer serves if a peer ${does}, without a penalty`, {
    tag: '@full',
  }, async ({ startPeer, openWorker }) => {
    const [unable, able] = await Promise.all([startPeer(hostile(fault)), startPeer()]);
    await Promise.all([unable, able].map((peer) => peer.putFixture('anttp/tarchive_site')));
    const gateway = await openWorker({ peers: [unable.url, able.url] });
    const page = await gateway.openPage(`/${address}/`);
    await expect(page.locator('body')).toHaveText('home');
    const states = Object.fromEntries((await gateway.peers()).map(({ url, state }) => [url, state]));
    expect(states[able.url]).toBe('webtransport');
    expect(states[unable.url]).not.toBe('banned');
  });
}

/** Reads records of a liar and of an honest peer. All bytes are right, and the liar is banned. */
async function expectMadeUp(
  liar: PeerProcess,
  honest: PeerProcess,
  openWorker: (config: HostConfig) => Promise<Gateway>,
): Promise<void> {
  const fixtures = ['tarchive_site', 'tarchive_many300', 'tarchive_as_coded_2', 'tiny3'];
  for (const fixture of fixtures) {
    await Promise.all([liar, honest].map((peer) => peer.putFixture(`anttp/${fixture}`)));
  }
  const gateway = await openWorker({ peers: [liar.url, honest.url] });
  const page = await gateway.openPage(`/${address}/`);
  await expect(page.locator('body')).toHaveText('home');
  // Each record has its own order of peers: of these, some are the liar's to answer first.
  for (const [record, bytes] of fixtures.flatMap(anttpChunks)) {
    const answer = await gateway.fetch(`/${record}?format=raw`);
    expect([answer.status, answer.sha256]).toEqual([200, sha256(bytes)]);
  }
  await expectStates(gateway, { [liar.url]: 'banned', [honest.url]: 'webtransport' });
  // Perhaps more than once: what was under way when it was caught ends as it must.
  const tally = (await gateway.stats()).peers.find(({ url }) => url === liar.url);
  expect(tally!.corrupt).toBeGreaterThan(0);
}

async function expectStates(gateway: Gateway, expected: Record<string, string>): Promise<void> {
  const states = Object.fromEntries((await gateway.peers()).map(({ url, state }) => [url, state]));
  expect(states).toEqual(expected);
}

test('many small chunks requested at once share requests, and a response that breaks off delays only its own chunk', {
  tag: '@full',
}, async ({ startPeer, openWorker }) => {
  const [hostileOne, honest] = await Promise.all([
    startPeer(hostile('reset', '--honest-first', '150')),
    startPeer(),
  ]);
  const site = await publishManyChunks(honest, 600);
  await publishManyChunks(hostileOne, 600);

  // Alone, the honest one is asked for several in one request.
  const alone = await openWorker({ peers: [honest.url] });
  await expect
    .poll(async () => {
      await alone.fetch(`/${site.files[0]}`);
      return (await alone.peers())[0]!.state;
    })
    .toBe('webtransport');
  await pinAction(alone.shell, site.address, 'pin');
  await expectPin(alone.shell, site.address, { state: 'complete', activity: 'idle' });
  const requests = await honest.metric('requests_total', { transport: 'webtransport', op: 'get' });
  const answers = await honest.chunksGiven('webtransport');
  expect(answers).toBeGreaterThan(400);
  expect(requests).toBeLessThan(answers * 0.8);

  const gateway = await openWorker({ peers: [hostileOne.url, honest.url] });
  await pinAction(gateway.shell, site.address, 'pin');
  const pin = await expectPin(gateway.shell, site.address, { state: 'complete', activity: 'idle' });
  expect(pin.chunks).toEqual({ stored: site.chunks, total: site.chunks });
  const seen = (await gateway.stats()).peers.find(({ url }) => url === hostileOne.url)!;
  expect(seen.corrupt).toBe(0);
  expect(seen.webtransport.failures.PEERS_UNREACHABLE ?? 0, 'it broke off').toBeGreaterThan(0);
  // Both gave some, and every byte is right: they were checked against their addresses once more.
  await pinAction(gateway.shell, site.address, 'verify');
  await expectPin(gateway.shell, site.address, { state: 'complete', activity: 'idle', problem: null });
});
