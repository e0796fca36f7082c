// @module-tag isolated
// @module-tag unix
import { expect } from 'vitest';
import { errorCode } from '../support/gateway-client.ts';
import { publish } from '../support/publish.ts';
import { configOf, post, putSettings, settingsOf } from '../support/settings.ts';
import { patient, test } from './support/node-gateway.ts';

const content = Buffer.from('something to read');

test('a setting is refused by its key if it is invalid, and changes nothing', async ({ openGateway }) => {
  const gateway = await openGateway({ peers: ['/'] });
  const good = { transport: 'http' };
  await putSettings(gateway, good);
  for (const [settings, key] of [
    [{ peers: ['/', 'http://peer.example'] }, 'peers[1]'],
    [{ trusted: [] }, 'trusted'],
    [{ isolation: 'path' }, 'isolation'],
    [{ cache: { maxBytes: '1 GB' } }, 'cache.maxBytes'],
    [{ theme: 'dark' }, 'theme'],
    [null, 'the whole'],
  ] as const) {
    const answer = await putSettings(gateway, settings);
    const { code, message, details } = JSON.parse(answer.text);
    expect([code, details.key]).toEqual(['BAD_CONFIG', key]);
    expect(message).toContain(`The settings, ${key}: `);
  }
  expect(errorCode(await gateway.fetch('/-/settings', { method: 'PUT', body: '{' }))).toBe('REFUSED');
  expect(await settingsOf(gateway)).toEqual(good);
});

test('peers of peers are used only if the user or the host turns them on', async ({
  startPeer,
  openGateway,
}) => {
  const other = await startPeer({ webTransport: 'none' });
  const address = await publish(content, other);
  const peer = await startPeer({ webTransport: 'none', flags: ['--announce-peer', other.url] });
  const gateway = await openGateway({ peers: [peer.url] });
  expect(errorCode(await gateway.fetch(`/${address}`))).toBe('NOT_FOUND');
  expect(await gateway.peers()).toMatchObject([{ url: peer.url, namedBy: null }]);

  await putSettings(gateway, { usePeersOfPeers: true });
  await expect.poll(async () => (await gateway.fetch(`/${address}`)).text, patient).toBe(content.toString());
  expect(await gateway.peers()).toMatchObject([
    { url: peer.url, namedBy: null },
    { url: other.url, namedBy: peer.url },
  ]);
});

test('a reset deletes the user’s data, and on request the chunks', async ({ startPeer, openGateway }) => {
  const peer = await startPeer({ webTransport: 'none' });
  const address = await publish(content, peer);
  const gateway = await openGateway({ peers: [peer.url] });
  const counted = async () => {
    await gateway.settled();
    return (await gateway.cache()).count;
  };
  const kept = async (name: string) => JSON.parse((await gateway.fetch(`/-/${name}`)).text);
  await putSettings(gateway, { names: { mine: address } });
  await gateway.open(`/${address}`);
  await post(gateway, 'trust', { address, decision: 'trusted' });
  await expect.poll(async () => (await kept('sites')).sites.length, patient).toBe(1);
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
