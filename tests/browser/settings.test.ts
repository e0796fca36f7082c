import type { ConfigSources } from '../../src/config.ts';
import type { Probe } from '../../src/peers/probe.ts';
import type { Settings } from '../../src/server-config.ts';
import { errorCode, expect, type Gateway, stopWorkers, test } from '../support/chromium.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { publish } from '../support/publish.ts';

const content = 'something to read';

async function holding(peer: PeerProcess): Promise<string> {
  return publish(Buffer.from(content), peer);
}

async function settingsOf(gateway: Gateway): Promise<Settings> {
  return JSON.parse((await gateway.fetch('/-/settings')).text);
}

function put(gateway: Gateway, settings: unknown) {
  return gateway.fetch('/-/settings', { method: 'PUT', body: JSON.stringify(settings) });
}

function post(gateway: Gateway, endpoint: string, body: unknown) {
  return gateway.fetch(`/-/${endpoint}`, { method: 'POST', body: JSON.stringify(body) });
}

async function configOf(gateway: Gateway): Promise<Settings & { sources: ConfigSources; problem: string }> {
  return JSON.parse((await gateway.fetch('/-/config')).text);
}

test.describe('a setting', () => {
  test('is effective at once, outlives the worker, and can be reset', async ({ startPeer, openGateway }) => {
    const peer = await startPeer();
    const address = await holding(peer);
    const gateway = await openGateway({ peers: [] });
    expect(await settingsOf(gateway)).toEqual({});
    expect((await gateway.fetch(`/${address}`)).status).toBe(504);

    const settings = { peers: [peer.url], names: { mine: address }, denied: ['de'.repeat(32)] };
    expect((await put(gateway, settings)).status).toBe(200);
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

    expect((await put(gateway, {})).status).toBe(200);
    expect((await gateway.fetch('/mine')).status).toBe(404);
    expect((await configOf(gateway)).sources.peers).toBe('host');
  });

  test('is refused by its key if it is invalid, and changes nothing', async ({ openGateway }) => {
    const gateway = await openGateway({ peers: ['/'] });
    const good = { transport: 'http' };
    await put(gateway, good);
    for (const [settings, key] of [
      [{ peers: ['/', 'http://peer.example'] }, 'peers[1]'],
      [{ trusted: [] }, 'trusted'],
      [{ isolation: 'path' }, 'isolation'],
      [{ cache: { maxBytes: '1 GB' } }, 'cache.maxBytes'],
      [{ theme: 'dark' }, 'theme'],
      [null, 'the whole'],
    ] as const) {
      const answer = await put(gateway, settings);
      const { code, message, details } = JSON.parse(answer.text);
      expect([code, details.key]).toEqual(['BAD_CONFIG', key]);
      expect(message).toContain(`The settings, ${key}: `);
    }
    expect(errorCode(await gateway.fetch('/-/settings', { method: 'PUT', body: '{' }))).toBe('REFUSED');
    expect(await settingsOf(gateway)).toEqual(good);
  });

  test('can exclude WebTransport, or use only WebTransport', async ({ startPeer, openGateway }) => {
    const peer = await startPeer();
    const gateway = await openGateway({ peers: [peer.url], transport: 'http' });
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

    await put(gateway, { transport: 'webtransport' });
    expect((await gateway.fetch(`/${addresses[1]}`)).text).toBe('two');
    await gateway.settled();
    const [still, webtransport] = await tally();
    expect([still, webtransport! > 0]).toEqual([http, true]);

    // A peer without it cannot be reached then.
    const plain = await startPeer({ webTransport: 'none' });
    const address = await publish(Buffer.from('four'), plain);
    await put(gateway, { transport: 'webtransport', peers: [plain.url] });
    expect(errorCode(await gateway.fetch(`/${address}`))).toBe('PEERS_UNREACHABLE');
    await put(gateway, { peers: [plain.url] });
    expect((await gateway.fetch(`/${address}`)).text).toBe('four');
  });
});

test('a peer can be tried before it is used', { tag: '@smoke' }, async ({ startPeer, openGateway }) => {
  const peer = await startPeer();
  const plain = await startPeer({ webTransport: 'none' });
  const gone = await startPeer();
  await gone.kill();
  const gateway = await openGateway({ peers: [] });
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

test('peers of peers are used only if the user or the host turns them on', async ({
  startPeer,
  openGateway,
}) => {
  const other = await startPeer();
  const address = await holding(other);
  const peer = await startPeer({ flags: ['--announce-peer', other.url] });
  const gateway = await openGateway({ peers: [peer.url] });
  expect(errorCode(await gateway.fetch(`/${address}`))).toBe('NOT_FOUND');
  expect(await gateway.peers()).toMatchObject([{ url: peer.url, namedBy: null }]);

  await put(gateway, { usePeersOfPeers: true });
  await expect.poll(async () => (await gateway.fetch(`/${address}`)).text).toBe(content);
  expect(await gateway.peers()).toMatchObject([
    { url: peer.url, namedBy: null },
    { url: other.url, namedBy: peer.url },
  ]);
});

test('a reset deletes the user’s data, and on request the chunks', async ({ startPeer, openGateway }) => {
  const peer = await startPeer();
  const address = await holding(peer);
  const gateway = await openGateway({ peers: [peer.url] });
  const counted = async () => {
    await gateway.settled();
    return (await gateway.cache()).count;
  };
  const kept = async (name: string) => JSON.parse((await gateway.fetch(`/-/${name}`)).text);
  await put(gateway, { names: { mine: address } });
  await gateway.openPage(`/${address}`);
  await post(gateway, 'trust', { address, decision: 'trusted' });
  await expect.poll(async () => (await kept('sites')).sites.length).toBe(1);
  expect(await counted()).toBeGreaterThan(0);

  expect((await post(gateway, 'reset', {})).status).toBe(204);
  expect([await kept('settings'), await kept('sites'), await kept('trust')]).toEqual([{}, { sites: [] }, []]);
  expect((await configOf(gateway)).names).toEqual({});
  expect(await counted()).toBeGreaterThan(0);

  expect(errorCode(await post(gateway, 'reset', { chunks: 'yes' }))).toBe('REFUSED');
  expect((await post(gateway, 'reset', { chunks: true })).status).toBe(204);
  expect(await counted()).toBe(0);
  // Nor is anything left in memory.
  await peer.kill();
  expect((await gateway.fetch(`/${address}`)).status).toBe(504);
});
