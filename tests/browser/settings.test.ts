import type { Probe } from '../../src/peers/probe.ts';
import { errorCode, expect, stopWorkers, test } from '../support/chromium.ts';
import { publish } from '../support/publish.ts';
import { configOf, post, putSettings, settingsOf } from '../support/settings.ts';

const content = 'something to read';

test.describe('a setting', () => {
  test('is effective at once, outlives the worker, and can be reset', async ({ startPeer, openWorker }) => {
    const peer = await startPeer();
    const address = await publish(Buffer.from(content), peer);
    const gateway = await openWorker({ peers: [] });
    expect(await settingsOf(gateway)).toEqual({});
    expect((await gateway.fetch(`/${address}`)).status).toBe(504);

    const settings = { peers: [peer.url], names: { mine: address }, denied: ['de'.repeat(32)] };
    expect((await putSettings(gateway, settings)).status).toBe(200);
    const check = async () => {
      expect(await settingsOf(gateway)).toEqual(settings);
      expect((await gateway.fetch(`/${address}`)).text).toBe(content);
      expect(errorCode(await gateway.fetch(`/${'de'.repeat(32)}`))).toBe('DENIED');
      expect(await configOf(gateway)).toMatchObject({
        peers: [peer.url],
        problem: null,
        names: {},
        sources: { peers: 'user', names: 'default', isolation: 'default' },
      });
    };
    await check();
    await stopWorkers(gateway.shell);
    await check();

    expect((await putSettings(gateway, {})).status).toBe(200);
    expect((await gateway.fetch('/mine')).status).toBe(404);
    expect((await configOf(gateway)).sources.peers).toBe('host');
  });

  test('can exclude WebTransport, or use only WebTransport', { tag: '@full' }, async ({
    startPeer,
    openWorker,
  }) => {
    const peer = await startPeer();
    const gateway = await openWorker({ peers: [peer.url], transport: 'http' });
    const addresses = await Promise.all(['one', 'two'].map((text) => publish(Buffer.from(text), peer)));
    const tally = async () => {
      const { peers } = await gateway.stats();
      return [peers[0]?.http.chunks, peers[0]?.webtransport.chunks];
    };
    expect((await gateway.fetch(`/${addresses[0]}`)).text).toBe('one');
    await gateway.settled();
    const [http] = await tally();
    expect(await tally()).toEqual([http, 0]);
    expect(http).toBeGreaterThan(0);

    await putSettings(gateway, { transport: 'webtransport' });
    expect((await gateway.fetch(`/${addresses[1]}`)).text).toBe('two');
    await gateway.settled();
    const [still, webtransport] = await tally();
    expect([still, webtransport! > 0]).toEqual([http, true]);

    // A peer without it cannot be reached then.
    const plain = await startPeer({ webTransport: 'none' });
    const address = await publish(Buffer.from('four'), plain);
    await putSettings(gateway, { transport: 'webtransport', peers: [plain.url] });
    expect(errorCode(await gateway.fetch(`/${address}`))).toBe('PEERS_UNREACHABLE');
    await putSettings(gateway, { peers: [plain.url] });
    expect((await gateway.fetch(`/${address}`)).text).toBe('four');
  });
});

test('a peer can be tried before it is used', { tag: '@smoke' }, async ({ startPeer, openWorker }) => {
  const peer = await startPeer();
  const plain = await startPeer({ webTransport: 'none' });
  const gone = await startPeer();
  await gone.kill();
  const gateway = await openWorker({ peers: [] });
  const probe = async (url: string): Promise<Probe & { url: string }> =>
    JSON.parse((await post(gateway, 'test-peer', { url })).text);

  const tried = await probe(`${peer.url}/`);
  expect(tried).toMatchObject({
    url: peer.url,
    transport: 'webtransport',
    webTransportProblem: null,
    info: { protocol: 1, name: 'antway-peer' },
  });
  expect(tried.firstByteMs).toBeGreaterThan(0);
  expect(await probe(plain.url)).toMatchObject({
    transport: 'http',
    webTransportProblem: `${plain.url} has no WebTransport.`,
  });
  const { webTransport, certificateHashes } = peer.listening;
  const pinned = `https://${new URL(webTransport!).host}#sha-256=${certificateHashes.join(',')}`;
  expect(await probe(pinned)).toMatchObject({ transport: 'webtransport', info: { protocol: 1 } });

  expect(errorCode(await post(gateway, 'test-peer', { url: gone.url }))).toBe('PEERS_UNREACHABLE');
  const refused = await post(gateway, 'test-peer', { url: 'peer.example' });
  expect([errorCode(refused), JSON.parse(refused.text).details.key]).toEqual(['BAD_CONFIG', 'url']);
  // None of them is in use.
  expect(await gateway.peers()).toEqual([]);
});
