import { errorCode, expect, type Gateway, test } from '../support/chromium.ts';
import { LoopbackServer } from '../support/loopback-server.ts';
import { publish } from '../support/publish.ts';

/** Chunks by address, as a peer would be given them. */
class Chunks extends Map<string, Buffer> {
  async put(address: string, bytes: Uint8Array): Promise<void> {
    this.set(address, Buffer.from(bytes));
  }
}

interface Foreign {
  server: LoopbackServer;
  /** As a configuration names it. */
  url: string;
  /** Paths, in the order of the requests. */
  asked: string[];
}

/**
 * Answers as recorded of AntTP (raw bytes) and antd (base64 in JSON).
 * @param allowsPages whether it sends the CORS header, which not every antd does.
 */
async function startForeign(kind: 'anttp' | 'antd', chunks: Chunks, allowsPages = true): Promise<Foreign> {
  const paths = { anttp: '/anttp-0/binary/chunk/', antd: '/v1/chunks/' };
  const asked: string[] = [];
  const server = await LoopbackServer.start(({ url = '' }, response) => {
    asked.push(url);
    const bytes = url.startsWith(paths[kind]) ? chunks.get(url.slice(paths[kind].length)) : undefined;
    const cors = allowsPages ? { 'Access-Control-Allow-Origin': '*' } : {};
    if (!bytes) response.writeHead(404, cors).end('{"error":"not found"}');
    else if (kind === 'anttp') response.writeHead(200, { ...cors, ETag: url }).end(bytes);
    else {
      const json = JSON.stringify({ data: bytes.toString('base64') });
      response.writeHead(200, { ...cors, 'Content-Type': 'application/json' }).end(json);
    }
  });
  return { server, url: `${kind}+${server.url}`, asked };
}

const startTest = test.extend<{
  start(kind: 'anttp' | 'antd', chunks: Chunks, allowsPages?: boolean): Promise<Foreign>;
}>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads from the pattern what a fixture needs
  start: async ({}, use) => {
    const started: Foreign[] = [];
    await use(async (...options) => {
      const peer = await startForeign(...options);
      started.push(peer);
      return peer;
    });
    await Promise.all(started.map(({ server }) => server.stop()));
  },
});

const post = (gateway: Gateway, endpoint: string, body: unknown) =>
  gateway.fetch(`/-/${endpoint}`, { method: 'POST', body: JSON.stringify(body) });

for (const kind of ['anttp', 'antd'] as const) {
  startTest(`${kind} serves chunks to a browser without an Antway peer`, async ({ openGateway, start }) => {
    const chunks = new Chunks();
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
  });

  startTest(
    `the settings can test ${kind}, and a lying ${kind} is banned`,
    async ({ openWorker, start, startPeer }) => {
      const peer = await startPeer();
      const address = await publish(Buffer.from('the right bytes'), peer);
      const wrong = new Chunks([[address, Buffer.from('other bytes')]]);
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
  const { url } = await start('antd', new Chunks(), false);
  const gateway = await openWorker({ peers: [url] });
  expect(errorCode(await gateway.fetch(`/${'cd'.repeat(32)}`))).toBe('PEERS_UNREACHABLE');
  const tried = await post(gateway, 'test-peer', { url });
  expect([errorCode(tried), JSON.parse(tried.text).message]).toEqual([
    'PEERS_UNREACHABLE',
    `${url} cannot be reached by HTTP.`,
  ]);
});
