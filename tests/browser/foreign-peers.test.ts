import { errorCode, expect, type Gateway, test } from '../support/chromium.ts';
import { ForeignChunks, type StartForeignPeer, startForeignPeer } from '../support/foreign-peer.ts';
import { publish } from '../support/publish.ts';

const startTest = test.extend<{ start: StartForeignPeer }>({ start: startForeignPeer });

const post = (gateway: Gateway, endpoint: string, body: unknown) =>
  gateway.fetch(`/-/${endpoint}`, { method: 'POST', body: JSON.stringify(body) });

for (const kind of ['anttp', 'antd'] as const) {
  startTest(
    `${kind} serves chunks to a browser without an Antway peer`,
    { tag: '@full' },
    async ({ openGateway, start }) => {
      const chunks = new ForeignChunks();
      const address = await publish(Buffer.from('straight from the network'), chunks);
      const { url, asked } = await start(kind, chunks);
      const gateway = await openGateway({ peers: [url] });
      expect((await gateway.fetch(`/${address}`)).text).toBe('straight from the network');
      expect(asked.every((path) => !path.startsWith('/-/') && !path.startsWith('/chunk/'))).toBe(true);
      expect(await gateway.peers()).toMatchObject([{ url, kind, state: 'http', namedBy: null }]);

      const absent = 'ab'.repeat(32);
      expect(errorCode(await gateway.fetch(`/${absent}`))).toBe('NOT_FOUND');

      // The shell names what it is.
      await gateway.shell.goto(`${gateway.url}/#live`);
      const name = kind === 'anttp' ? 'AntTP' : 'antd';
      await expect(gateway.shell.getByRole('rowheader', { name: `(${name})` })).toBeVisible();
    },
  );

  startTest(
    `the settings can test ${kind}, and a lying ${kind} is banned`,
    { tag: '@full' },
    async ({ openWorker, start, startPeer }) => {
      const peer = await startPeer();
      const address = await publish(Buffer.from('the right bytes'), peer);
      const wrong = new ForeignChunks([[address, Buffer.from('other bytes')]]);
      const { url } = await start(kind, wrong);
      const gateway = await openWorker({ peers: [] });
      const tried = JSON.parse((await post(gateway, 'test-peer', { url })).text);
      expect(tried).toMatchObject({ url, transport: 'http', info: null, webTransportProblem: null });
      expect(tried.firstByteMs).toBeGreaterThan(0);
      const settings = { peers: [url, peer.url] };
      await gateway.fetch('/-/settings', { method: 'PUT', body: JSON.stringify(settings) });
      await expect.poll(async () => (await gateway.fetch(`/${address}`)).text).toBe('the right bytes');

      await gateway.fetch('/-/settings', { method: 'PUT', body: JSON.stringify({ peers: [url] }) });
      const other = await publish(Buffer.from('elsewhere'), peer);
      wrong.set(other, Buffer.from('not it'));
      expect(errorCode(await gateway.fetch(`/${other}`))).toBe('CORRUPT');
      expect(await gateway.peers()).toMatchObject([{ url, state: 'banned' }]);
    },
  );
}

startTest('a daemon without CORS headers is reported as unreachable', async ({ openWorker, start }) => {
  const { url } = await start('antd', new ForeignChunks(), false);
  const gateway = await openWorker({ peers: [url] });
  expect(errorCode(await gateway.fetch(`/${'cd'.repeat(32)}`))).toBe('PEERS_UNREACHABLE');
  const tried = await post(gateway, 'test-peer', { url });
  expect([errorCode(tried), JSON.parse(tried.text).message]).toEqual([
    'PEERS_UNREACHABLE',
    `${url} cannot be reached by HTTP.`,
  ]);
});
