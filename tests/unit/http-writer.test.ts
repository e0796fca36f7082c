// @module-tag isolated
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import { PeerUrl } from '../../src/peer-url.ts';
import { HttpWriter } from '../../src/peers/transports/http-writer.ts';
import { randomBytes } from '../support/random.ts';
import { closedPort, startHttpPeer } from './support/http-peer.ts';

const writerTo = (url: string) => new HttpWriter(PeerUrl.parse(url));

const address = Address.fromHex('ab'.repeat(32));

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Waits for real I/O while the clock is faked. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}

describe('a chunk that is written by HTTP', () => {
  it.each([
    [201, 'stored'],
    [200, 'present'],
  ])('takes %i for %s, and sends token and bytes', async (status, outcome) => {
    const peer = await startHttpPeer((_, response) => response.writeHead(status).end());
    const bytes = randomBytes(1000);
    expect(await writerTo(peer.url).put(address, bytes, { token: 'secret' })).toBe(outcome);
    expect(peer.requests).toMatchObject([
      { method: 'PUT', path: `/chunk/${address.hex}`, headers: { authorization: 'Bearer secret' } },
    ]);
    expect(Buffer.compare(peer.requests[0]!.body, bytes)).toBe(0);
  });

  it('sends no authorization without a token', async () => {
    const peer = await startHttpPeer((_, response) => response.writeHead(201).end());
    await writerTo(peer.url).put(address, new Uint8Array(3));
    expect(peer.requests[0]!.headers).not.toHaveProperty('authorization');
  });

  it.each([
    [401, 'REFUSED'],
    [403, 'REFUSED'],
    [422, 'REFUSED'],
    [451, 'REFUSED'],
    [413, 'TOO_LARGE'],
    [507, 'TOO_LARGE'],
    [500, 'PEERS_UNREACHABLE'],
    [503, 'PEERS_UNREACHABLE'],
  ])('maps status %i to %s, with the peer’s message', async (status, code) => {
    const peer = await startHttpPeer((_, response) =>
      response.writeHead(status).end(JSON.stringify({ message: 'because' })),
    );
    await expect(writerTo(peer.url).put(address, new Uint8Array(3))).rejects.toMatchObject({
      code,
      message: expect.stringContaining('because'),
    });
  });

  it('is given time to take it in proportion to its size', async () => {
    const peer = await startHttpPeer(() => {});
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const bytes = new Uint8Array(limits.minBytesPerSecond * 20);
    let isOver = false;
    const rejected = expect(
      writerTo(peer.url)
        .put(address, bytes)
        .finally(() => {
          isOver = true;
        }),
    ).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
    await until(() => peer.requests.length === 1);
    await vi.advanceTimersByTimeAsync(limits.stallMs + 19_000);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1_000);
    await rejected;
  });
});

describe('a write without an answer', () => {
  const info = (write: string, name = 'peer') => JSON.stringify({ name, protocol: 1, write });

  /** Runs the code as a page of an origin whose browser refuses writes, such as after a preflight. */
  function asPage(origin: string): void {
    vi.stubGlobal('location', { origin });
  }

  /** @param failures how many writes get no answer. */
  async function peerThat(write: string, failures = Number.POSITIVE_INFINITY, name = 'peer') {
    return startHttpPeer(({ method }, response) => {
      if (method === 'PUT' && failures-- > 0) response.destroy();
      else if (method === 'PUT') response.writeHead(201).end();
      else response.end(info(write, name));
    });
  }

  const siteOrigin = `https://${'a'.repeat(52)}.gateway.example`;
  const ownPeers = 'antway-node-peer';

  it.each([
    ['the peer has no option for it', 'none', ownPeers, undefined, 'another peer', '--write-token'],
    ['the page may write in no way', 'open', ownPeers, 'https://app.example', 'https://app.example', '--'],
    ['the page is one of a site', 'open', 'peer', siteOrigin, '--write-token', '--allow-origin'],
    ['the page has no origin', 'open', 'peer', 'null', 'without an origin', '--allow-origin'],
    ['the page has no origin', 'open', 'peer', 'null', '--write-token', 'null'],
  ])('tells only what helps if %s', async (_, write, name, origin, told, untold) => {
    const peer = await peerThat(write, Number.POSITIVE_INFINITY, name);
    if (origin) asPage(origin);
    const error = await writerTo(peer.url)
      .put(address, new Uint8Array(3))
      .catch((reason) => reason);
    expect(error).toMatchObject({ code: 'REFUSED', message: expect.stringContaining(told) });
    expect(error.message).not.toContain(untold);
  });

  it('may succeed later if the peer ends meanwhile', async () => {
    asPage('https://app.example');
    let writes = 0;
    const peer = await startHttpPeer(({ method }, response) => {
      if (method === 'PUT') writes++;
      if (method === 'PUT' || writes > 1) response.destroy();
      else response.end(info('open'));
    });
    await expect(writerTo(peer.url).put(address, new Uint8Array(3))).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
    });
    expect(writes).toBe(2);
  });

  it('is looked into once for all writes of an upload', async () => {
    const peer = await peerThat('token');
    const writer = writerTo(peer.url);
    for (let i = 0; i < 3; i++) {
      await expect(writer.put(address, new Uint8Array(3))).rejects.toMatchObject({
        code: 'PEERS_UNREACHABLE',
      });
    }
    expect(peer.requests.filter(({ path }) => path === '/-/info')).toHaveLength(1);
  });

  it.each([
    ['its information', 'GET', 'open'],
    ['the second write', 'PUT', 'open'],
  ])('may succeed later if the peer takes too long for %s', async (_, slow, write) => {
    asPage('https://app.example');
    const soon = new AbortController();
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(soon.signal);
    let writes = 0;
    const peer = await startHttpPeer(({ method }, response) => {
      if (method === 'PUT' && writes++ === 0) response.destroy();
      else if (method === slow) soon.abort(new Error('too long'));
      else response.end(info(write));
    });
    await expect(writerTo(peer.url).put(address, new Uint8Array(3))).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
    });
  });

  it.each(['put', 'putPointer'] as const)('is refused if the peer takes none, by %s', async (method) => {
    const peer = await peerThat('none');
    const writing = writerTo(peer.url)[method](address, new Uint8Array(3));
    await expect(writing).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('--write-token'),
    });
  });

  it('is refused if the peer takes none from this page', async () => {
    asPage('https://app.example');
    const peer = await peerThat('open');
    await expect(writerTo(peer.url).put(address, new Uint8Array(3))).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('--allow-origin https://app.example'),
    });
    // The second write is empty, and shows that it was not chance. The peer is still there after it.
    expect(peer.requests.map(({ method, path, body }) => [method, path, body.length])).toEqual([
      ['PUT', `/chunk/${address.hex}`, 3],
      ['GET', '/-/info', 0],
      ['PUT', '/chunk/0', 0],
      ['GET', '/-/info', 0],
    ]);
  });

  it.each([
    ['the next write gets an answer', 'open', 1, 'https://app.example'],
    ['the page is one of the peer', 'open', 9, 'itself'],
    ['it is no page', 'open', 9, undefined],
    ['the peer takes writes with a token', 'token', 9, 'https://app.example'],
    ['the peer says something else', '<b>', 9, 'https://app.example'],
  ])('may succeed later if %s', async (_, write, failures, origin) => {
    const peer = await peerThat(write, failures);
    if (origin) asPage(origin === 'itself' ? peer.url : origin);
    await expect(writerTo(peer.url).put(address, new Uint8Array(3))).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
    });
  });

  it('may succeed later if the peer does not answer at all', async () => {
    const writing = writerTo(await closedPort()).put(address, new Uint8Array(3));
    await expect(writing).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
  });

  it('ends with the reason of an abort while it asks', async () => {
    const stop = new AbortController();
    const peer = await startHttpPeer(({ method }, response) => {
      if (method === 'PUT') response.destroy();
      else stop.abort(new Error('enough'));
    });
    const writing = writerTo(peer.url).put(address, new Uint8Array(3), { signal: stop.signal });
    await expect(writing).rejects.toThrow('enough');
  });
});
