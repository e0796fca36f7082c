import { afterEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import { PeerUrl } from '../../src/peer-url.ts';
import { HttpTransport } from '../../src/peers/transports/http.ts';
import { randomBytes } from '../support/random.ts';
import { closedPort, startHttpPeer } from './support/http-peer.ts';

const transportTo = (url: string) => new HttpTransport(PeerUrl.parse(url));

const address = Address.fromHex('ab'.repeat(32));
const { signal } = new AbortController();
const hash = 'cd'.repeat(32);

afterEach(() => void vi.useRealTimers());

/** Waits for real I/O while the clock is faked. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

describe('a peer’s HTTP transport, asked for a chunk', () => {
  it('gives the bytes in a buffer of exactly their size, from /chunk/<address>', async () => {
    const bytes = randomBytes(300_000);
    const peer = await startHttpPeer((_, response) => response.end(bytes));
    const received = await transportTo(peer.url).fetch(address, signal);
    expect(Buffer.compare(received, bytes)).toBe(0);
    expect(received.buffer.byteLength).toBe(bytes.length);
    expect(peer.requests).toMatchObject([{ method: 'GET', path: `/chunk/${address.hex}` }]);
    expect(peer.requests[0]!.headers).not.toHaveProperty('cookie');
    expect(peer.requests[0]!.headers).not.toHaveProperty('referer');
  });

  it('gives a chunk of the largest size, and an empty one', async () => {
    const largest = Buffer.alloc(limits.chunkBytes);
    const peer = await startHttpPeer((_, response) => response.end(largest));
    expect(await transportTo(peer.url).fetch(address, signal)).toHaveLength(limits.chunkBytes);
    const empty = await startHttpPeer((_, response) => response.end());
    expect(await transportTo(empty.url).fetch(address, signal)).toHaveLength(0);
  });

  it('says NOT_FOUND for 404', async () => {
    const peer = await startHttpPeer((_, response) => response.writeHead(404).end('no'));
    await expect(transportTo(peer.url).fetch(address, signal)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it.each<[number, object, string, object]>([
    [503, { 'Retry-After': '3' }, '', { afterMs: 3_000, isOverloaded: false }],
    [503, { 'Retry-After': '2' }, '', { afterMs: 2_000, isOverloaded: false }],
    [503, { 'Retry-After': '1' }, '', { afterMs: 1_000, isOverloaded: true }],
    [503, { 'Retry-After': '86400' }, '', { afterMs: limits.busyMs.max, isOverloaded: false }],
    [503, {}, '{"code":"BUSY"}', { afterMs: limits.busyMs.default, isOverloaded: true }],
    [
      503,
      { 'Retry-After': 'soon' },
      '{"code":"BUSY"}',
      { afterMs: limits.busyMs.default, isOverloaded: true },
    ],
    [429, { 'Retry-After': '5' }, '{"code":"RATE"}', { afterMs: 5_000, isOverloaded: true }],
    [429, {}, '{"code":"RATE"}', { afterMs: limits.busyMs.default, isOverloaded: true }],
  ])('says when to ask again for %i with %j and %j', async (status, headers, body, hint) => {
    const peer = await startHttpPeer((_, response) => response.writeHead(status, { ...headers }).end(body));
    await expect(transportTo(peer.url).fetch(address, signal)).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
      details: { answered: true, busy: hint },
    });
  });

  it.each(['', 'busy', '<p>Service unavailable', '{"code":"FAILED"}', '[]'])(
    'says no time to ask again for 503 with %j, which a proxy may have sent',
    async (body) => {
      const peer = await startHttpPeer((_, response) => response.writeHead(503).end(body));
      const error = await transportTo(peer.url)
        .fetch(address, signal)
        .catch((error) => error);
      expect(error).toMatchObject({ code: 'PEERS_UNREACHABLE' });
      expect(error.details).toEqual({ answered: true });
    },
  );

  it('takes Retry-After for “busy” without waiting for the body', async () => {
    const peer = await startHttpPeer((_, response) => {
      response.writeHead(503, { 'Retry-After': '2', 'Content-Length': '100' });
      response.write('{');
    });
    const failure = await transportTo(peer.url)
      .fetch(address, signal)
      .catch((error) => error);
    expect(failure.details.busy).toEqual({ afterMs: 2_000, isOverloaded: false });
  });

  it('says DENIED for 451', async () => {
    const peer = await startHttpPeer((_, response) => response.writeHead(451).end());
    const transport = transportTo(peer.url);
    await expect(transport.fetch(address, signal)).rejects.toMatchObject({ code: 'DENIED' });
    await expect(transport.pointer(address, 100, signal)).rejects.toMatchObject({ code: 'DENIED' });
    expect(await transport.has(address)).toBe(false);
  });

  it.each([500, 503, 403, 204, 206])(
    'says PEERS_UNREACHABLE for %i, and that the peer did answer',
    async (status) => {
      const peer = await startHttpPeer((_, response) => response.writeHead(status).end());
      await expect(transportTo(peer.url).fetch(address, signal)).rejects.toMatchObject({
        code: 'PEERS_UNREACHABLE',
        message: expect.stringContaining(String(status)),
        details: { answered: true },
      });
    },
  );

  it('says PEERS_UNREACHABLE when nothing listens', async () => {
    const transport = transportTo(await closedPort());
    const error = await transport.fetch(address, signal).catch((error) => error);
    expect(error).toMatchObject({
      code: 'PEERS_UNREACHABLE',
      message: expect.stringContaining(transport.url),
    });
    expect(error.details).not.toHaveProperty('answered');
  });

  it('says PEERS_UNREACHABLE when the body is shorter than announced', async () => {
    const peer = await startHttpPeer((_, response) => {
      response.writeHead(200, { 'Content-Length': 1000 });
      response.write(Buffer.alloc(500), () => response.destroy());
    });
    await expect(transportTo(peer.url).fetch(address, signal)).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
    });
  });

  it('says PEERS_UNREACHABLE when a body of unknown length breaks off', async () => {
    const peer = await startHttpPeer((_, response) => {
      response.write(Buffer.alloc(500), () => response.destroy());
    });
    await expect(transportTo(peer.url).fetch(address, signal)).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
    });
  });

  it('says CORRUPT when more is announced than a chunk can have, without reading it', async () => {
    let sent = 0;
    const peer = await startHttpPeer((_, response) => {
      response.writeHead(200, { 'Content-Length': limits.chunkBytes + 1 });
      response.write(Buffer.alloc(1000), () => sent++);
    });
    await expect(transportTo(peer.url).fetch(address, signal)).rejects.toMatchObject({
      code: 'CORRUPT',
    });
    await peer.hungUp;
    expect(sent).toBeLessThanOrEqual(1);
  });

  it('says CORRUPT when more is sent than a chunk can have, and hangs up', async () => {
    let sent = 0;
    const peer = await startHttpPeer((_, response) => {
      const more = () => {
        sent += 65_536;
        if (!response.destroyed && response.write(Buffer.alloc(65_536))) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    });
    await expect(transportTo(peer.url).fetch(address, signal)).rejects.toMatchObject({
      code: 'CORRUPT',
    });
    await peer.hungUp;
    expect(sent).toBeLessThan(10 * limits.chunkBytes);
  });

  it('never follows a redirect to another server', async () => {
    const other = await startHttpPeer((_, response) => response.end('bytes'));
    const peer = await startHttpPeer((_, response) =>
      response.writeHead(302, { Location: `${other.url}/elsewhere` }).end(),
    );
    await expect(transportTo(peer.url).fetch(address, signal)).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
    });
    expect(other.requests).toEqual([]);
  });

  it('stops at once with the caller’s reason when aborted, and hangs up', async () => {
    const peer = await startHttpPeer((_, response) => void response.write('x'));
    const controller = new AbortController();
    const fetching = transportTo(peer.url).fetch(address, controller.signal);
    await until(() => peer.requests.length === 1);
    const reason = new Error('navigated away');
    controller.abort(reason);
    await expect(fetching).rejects.toBe(reason);
    await peer.hungUp;
  });

  it('does not even ask when aborted before', async () => {
    const peer = await startHttpPeer((_, response) => response.end('x'));
    const reason = new Error('gone');
    await expect(transportTo(peer.url).fetch(address, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(peer.requests).toEqual([]);
  });

  it.each([
    ['before the headers', () => {}],
    ['in the middle of the body', (response: NodeJS.WritableStream) => void response.write('x')],
  ])('gives up on a peer that stalls %s', async (_, answer) => {
    const peer = await startHttpPeer((_, response) => answer(response));
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const fetching = transportTo(peer.url).fetch(address, signal);
    const rejected = expect(fetching).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
      message: expect.stringContaining('10 seconds'),
    });
    await until(() => peer.requests.length === 1);
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(limits.stallMs);
    // A piece of the body may only just have arrived.
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(limits.stallMs);
    await rejected;
  });
});

describe('a peer’s HTTP transport, asked whether it has a chunk', () => {
  it.each([
    [200, true],
    [404, false],
    [451, false],
  ])('takes %i for %s', async (status, has) => {
    const peer = await startHttpPeer((_, response) => response.writeHead(status).end());
    expect(await transportTo(peer.url).has(address)).toBe(has);
    expect(peer.requests).toMatchObject([{ method: 'HEAD', path: `/chunk/${address.hex}` }]);
  });

  it('does not take a failure for a no', async () => {
    const peer = await startHttpPeer((_, response) => response.writeHead(500).end());
    await expect(transportTo(peer.url).has(address)).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
    });
  });
});

describe('a peer’s `/-/info` over HTTP', () => {
  it('gives the peer’s own description', async () => {
    const info = {
      name: 'p',
      version: '1',
      protocol: 1,
      webTransport: { port: 4433, path: '/v1', certificateHashes: [hash] },
      operations: [1, 2],
      peers: ['https://other.example'],
      network: { name: 'mainnet', state: 'connected', peers: 7, since: null, problem: null },
    };
    const peer = await startHttpPeer((_, response) => response.end(JSON.stringify(info)));
    expect(await transportTo(peer.url).info()).toEqual(info);
    expect(peer.requests).toMatchObject([{ path: '/-/info' }]);
  });

  it.each([
    ['a page', 200, '<!doctype html>'],
    ['nothing', 200, ''],
    ['404', 404, '{"protocol": 1}'],
    ['another protocol', 200, '{"protocol": 2}'],
    ['megabytes', 200, `{"protocol": 1, "name": "${'x'.repeat(1_000_000)}"}`],
  ])('is UNSUPPORTED when it answers with %s', async (_, status, body) => {
    const peer = await startHttpPeer((_, response) => response.writeHead(status).end(body));
    await expect(transportTo(peer.url).info()).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });
});

describe('AntTP, asked for a chunk,', () => {
  it('gives its bytes, from its own path', async () => {
    const bytes = randomBytes(1_000);
    const server = await startHttpPeer((_, response) => response.end(bytes));
    const transport = transportTo(`anttp+${server.url}`);
    expect(Buffer.compare(await transport.fetch(address, signal), bytes)).toBe(0);
    expect(server.requests).toMatchObject([{ method: 'GET', path: `/anttp-0/binary/chunk/${address.hex}` }]);
  });

  it.each([404, 410])('has none with status %i', async (status) => {
    const server = await startHttpPeer((_, response) => response.writeHead(status).end('no'));
    const fetching = transportTo(`anttp+${server.url}`).fetch(address, signal);
    await expect(fetching).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('antd, asked for a chunk,', () => {
  const answering = async (body: string) => {
    const server = await startHttpPeer((_, response) => response.end(body));
    return { server, fetch: () => transportTo(`antd+${server.url}`).fetch(address, signal) };
  };

  it.each([
    ['data', { data: 'aGk=' }],
    ['data, without padding', { data: 'aGk' }],
    ['content, beside other things', { address: '00', content: 'aGk=' }],
    ['chunk', { chunk: 'aGk=' }],
    ['bytes', { bytes: 'aGk=' }],
  ])('gives the bytes that are in its JSON as %s', async (_, json) => {
    const { server, fetch } = await answering(JSON.stringify(json));
    expect(Buffer.from(await fetch()).toString()).toBe('hi');
    expect(server.requests).toMatchObject([{ method: 'GET', path: `/v1/chunks/${address.hex}` }]);
  });

  it('gives a chunk of the largest size', async () => {
    const bytes = randomBytes(limits.chunkBytes);
    const { fetch } = await answering(JSON.stringify({ data: bytes.toString('base64') }));
    expect(Buffer.compare(await fetch(), bytes)).toBe(0);
  });

  it.each(['', '[]', 'null', '{}', '{"data":"*"}', '{"data":7}'])(
    'is CORRUPT when it sends %j',
    async (body) => {
      const { fetch } = await answering(body);
      await expect(fetch()).rejects.toMatchObject({ code: 'CORRUPT' });
    },
  );

  it('is not read on when it sends more than any chunk', async () => {
    const { fetch } = await answering(`{"data":"${'A'.repeat(6_000_000)}"}`);
    await expect(fetch()).rejects.toMatchObject({ code: 'CORRUPT' });
  });
});
