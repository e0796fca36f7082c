// @module-tag isolated
import { expect } from 'vitest';
import { ForeignChunks, type StartForeignPeer, startForeignPeer } from '../support/foreign-peer.ts';
import { errorCode } from '../support/gateway-client.ts';
import { publish } from '../support/publish.ts';
import { test as base, type NodeGateway, patient } from './support/node-gateway.ts';

const test = base.extend<{ start: StartForeignPeer }>({ start: startForeignPeer });

const send = (gateway: NodeGateway, method: string, endpoint: string, body: unknown) =>
  gateway.fetch(`/-/${endpoint}`, { method, body: JSON.stringify(body) });

for (const kind of ['anttp', 'antd'] as const) {
  test(`${kind} serves chunks without an Antway peer`, async ({ openGateway, start }) => {
    const chunks = new ForeignChunks();
    const address = await publish(Buffer.from('straight from the network'), chunks);
    const { url, asked } = await start(kind, chunks);
    const gateway = await openGateway({ peers: [url] });
    expect((await gateway.fetch(`/${address}`)).text).toBe('straight from the network');
    expect(asked.every((path) => !path.startsWith('/-/') && !path.startsWith('/chunk/'))).toBe(true);
    expect(await gateway.peers()).toMatchObject([{ url, kind, state: 'http', namedBy: null }]);
    expect(errorCode(await gateway.fetch(`/${'ab'.repeat(32)}`))).toBe('NOT_FOUND');
  });

  test(`the settings can test ${kind}, and a lying ${kind} is banned`, async ({
    openGateway,
    start,
    startPeer,
  }) => {
    const peer = await startPeer({ webTransport: 'none' });
    const address = await publish(Buffer.from('the right bytes'), peer);
    const wrong = new ForeignChunks([[address, Buffer.from('other bytes')]]);
    const { url } = await start(kind, wrong);
    const gateway = await openGateway({ peers: [] });
    const tried = JSON.parse((await send(gateway, 'POST', 'test-peer', { url })).text);
    expect(tried).toMatchObject({ url, transport: 'http', info: null, webTransportProblem: null });
    expect(tried.firstByteMs).toBeGreaterThan(0);
    await send(gateway, 'PUT', 'settings', { peers: [url, peer.url] });
    await expect.poll(async () => (await gateway.fetch(`/${address}`)).text, patient).toBe('the right bytes');

    await send(gateway, 'PUT', 'settings', { peers: [url] });
    const other = await publish(Buffer.from('elsewhere'), peer);
    wrong.set(other, Buffer.from('not it'));
    expect(errorCode(await gateway.fetch(`/${other}`))).toBe('CORRUPT');
    expect(await gateway.peers()).toMatchObject([{ url, state: 'banned' }]);
  });
}
