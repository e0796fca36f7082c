// @module-tag slow
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { Address } from '../../src/address.ts';
import { nodePlatform } from '../../src/cli/platform.ts';
import { AntwayError } from '../../src/errors.ts';
import { PeerUrl } from '../../src/peer-url.ts';
import { HttpWriter } from '../../src/peers/transports/http-writer.ts';
import { type PublishProgress, publishFile } from '../../src/publish/publish.ts';
import { type ChunkSink, uploadChunk, uploadTo } from '../../src/publish/upload.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { Codec } from '../../src/self-encryption/codec.ts';
import { decodeDataMap } from '../../src/self-encryption/data-map.ts';
import type { EncryptedChunk } from '../../src/self-encryption/file.ts';
import { bufferAccess } from '../../src/util/random-access.ts';
import { LoopbackServer } from '../support/loopback-server.ts';

const transportTo = (url: string) => new HttpWriter(PeerUrl.parse(url));

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** A peer that can be made to fail in every way: what it holds, and what was asked of it. */
interface FaultyPeer {
  url: string;
  held: Map<string, Buffer>;
  /** `PUT`, `HEAD` in order. */
  requests: string[];
  /** Answers to the next PUTs. */
  faults: Answer[];
}

const servers: LoopbackServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

/** @param faults answers to the first PUTs; after these it behaves. */
async function startPeer(faults: Answer[] = []): Promise<FaultyPeer> {
  const held = new Map<string, Buffer>();
  const requests: string[] = [];
  const server = await LoopbackServer.start(async (request, response) => {
    const name = request.url!.replace('/chunk/', '');
    requests.push(request.method!);
    if (request.method === 'HEAD') {
      response.writeHead(held.has(name) ? 200 : 404).end();
      return;
    }
    if (request.method === 'GET') {
      response.writeHead(404).end();
      return;
    }
    const fault = faults.shift();
    if (fault) return fault(request, response);
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    held.set(name, Buffer.concat(pieces));
    response.writeHead(201).end();
  });
  servers.push(server);
  return { url: server.url, held, requests, faults };
}

function answer(status: number, message: string): Answer {
  return (request, response) => {
    request.resume();
    response
      .writeHead(status, { 'Content-Type': 'application/json' })
      .end(JSON.stringify({ code: 'X', message }));
  };
}

const hangUp: Answer = (request) => void request.socket.destroy();

async function makeChunk(text: string): Promise<EncryptedChunk> {
  const bytes = new TextEncoder().encode(text);
  return { address: Address.fromBytes((await loadBlake3())(bytes)), bytes };
}

describe('uploading a chunk', () => {
  const quick = { firstRetryMs: 1 };

  it('gives it to every peer', async () => {
    const peers = [await startPeer(), await startPeer()];
    const chunk = await makeChunk('for all');
    const sink = uploadTo(peers.map(({ url }) => transportTo(url)));
    expect(await sink.store(chunk, new AbortController().signal)).toBe('stored');
    for (const { held } of peers) expect(held.get(chunk.address.hex)?.toString()).toBe('for all');
  });

  it('tells what each peer has if one of them fails', async () => {
    const full = await startPeer();
    const other = await startPeer();
    const sink = uploadTo(
      [full, other].map(({ url }) => transportTo(url)),
      quick,
    );
    const { signal } = new AbortController();
    // A file can have a chunk twice.
    for (let i = 0; i < 2; i++) await sink.store(await makeChunk('first'), signal);
    full.faults.push(answer(507, 'full'));
    other.held.set((await makeChunk('second')).address.hex, Buffer.from('second'));
    const storing = sink.store(await makeChunk('second'), signal);
    await expect(storing).rejects.toMatchObject({
      code: 'TOO_LARGE',
      message: expect.stringMatching(/: full \(Of the chunks so far, \S+ has 1, \S+ has [12]\.\)$/),
      details: { peer: full.url, stored: [{ url: full.url, chunks: 1 }, { url: other.url }] },
    });
  });

  it('sends nothing to a peer that has it', async () => {
    const peer = await startPeer();
    const chunk = await makeChunk('known');
    peer.held.set(chunk.address.hex, Buffer.from(chunk.bytes));
    expect(await uploadChunk(chunk, transportTo(peer.url))).toBe('present');
    expect(peer.requests).toEqual(['HEAD']);
  });

  it('tries again when the peer is busy, or hangs up', async () => {
    const peer = await startPeer([answer(503, 'busy'), hangUp, answer(500, 'disk trouble')]);
    const chunk = await makeChunk('persistent');
    expect(await uploadChunk(chunk, transportTo(peer.url), quick)).toBe('stored');
    expect(peer.requests.filter((method) => method === 'PUT')).toHaveLength(4);
    expect(peer.held.has(chunk.address.hex)).toBe(true);
  });

  it('gives up after five tries, and says so', async () => {
    const peer = await startPeer(Array.from({ length: 5 }, () => answer(503, 'busy')));
    await expect(uploadChunk(await makeChunk('x'), transportTo(peer.url), quick)).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
      message: expect.stringContaining('after 5 tries'),
    });
  });

  it.each([
    [401, 'REFUSED'],
    [403, 'REFUSED'],
    [413, 'TOO_LARGE'],
    [507, 'TOO_LARGE'],
  ])('does not insist when the peer answers %i', async (status, code) => {
    const peer = await startPeer([answer(status, 'the peer’s own words')]);
    await expect(uploadChunk(await makeChunk('x'), transportTo(peer.url), quick)).rejects.toMatchObject({
      code,
      message: expect.stringContaining('the peer’s own words'),
    });
    expect(peer.requests).toEqual(['HEAD', 'PUT']);
  });

  it('shows the token', async () => {
    let shown: string | undefined;
    const peer = await startPeer([
      (request, response) => {
        shown = request.headers.authorization;
        request.resume();
        response.writeHead(201).end();
      },
    ]);
    await uploadChunk(await makeChunk('x'), transportTo(peer.url), { token: '0123' });
    expect(shown).toBe('Bearer 0123');
  });

  it('stops waiting for its next try when it is aborted', async () => {
    const peer = await startPeer([answer(503, 'busy')]);
    const abort = new AbortController();
    const upload = uploadChunk(await makeChunk('x'), transportTo(peer.url), {
      firstRetryMs: 60_000,
      signal: abort.signal,
    });
    setTimeout(() => abort.abort(), 100);
    await expect(upload).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('publishing a file', () => {
  const codec = new Codec(nodePlatform);
  const text = new TextEncoder().encode('A file that has a few bytes.');

  /** A sink in memory that takes its time. */
  function slowSink(milliseconds: number) {
    const stored: string[] = [];
    let inFlight = 0;
    const sink = {
      stored,
      mostInFlight: 0,
      async store({ address }: EncryptedChunk) {
        inFlight++;
        sink.mostInFlight = Math.max(sink.mostInFlight, inFlight);
        await new Promise((resolve) => setTimeout(resolve, milliseconds));
        inFlight--;
        stored.push(address.hex);
        return 'stored' as const;
      },
    };
    return sink;
  }

  it('stores the data map’s record only when all chunks are stored', async () => {
    const sink = slowSink(20);
    const published = await publishFile(bufferAccess(text), { codec, sink });
    expect(sink.stored).toHaveLength(4);
    expect(sink.stored.at(-1)).toBe(published.address.hex);
    expect(published).toMatchObject({ size: text.length, chunks: 4, presentChunks: 0 });
  });

  it('keeps the record back when the file is private, and hands it over', async () => {
    const sink = slowSink(0);
    const published = await publishFile(bufferAccess(text), { codec, sink, isPrivate: true });
    expect(sink.stored).toHaveLength(3);
    expect(sink.stored).not.toContain(published.address.hex);
    expect(decodeDataMap(published.record)!.size).toBe(text.length);
  });

  it('uploads a bounded number of chunks at a time while it encrypts more', async () => {
    // Ten parts; the content does not matter, only that encrypting is faster than the sink.
    const source = { size: 10 * 4_190_208, read: async (a: number, b: number) => new Uint8Array(b - a) };
    const sink = slowSink(150);
    const seen: PublishProgress[] = [];
    await publishFile(source, { codec, sink, progress: (progress) => seen.push(progress) });
    expect(sink.mostInFlight).toBeGreaterThan(1);
    expect(sink.mostInFlight).toBeLessThanOrEqual(4);
    const last = seen.at(-1)!;
    expect(last).toMatchObject({ hashedBytes: source.size, encryptedBytes: source.size });
    for (const [i, { hashedBytes, encryptedBytes, chunks }] of seen.entries()) {
      const before = seen[i - 1] ?? { hashedBytes: 0, encryptedBytes: 0, chunks: 0 };
      expect(hashedBytes).toBeGreaterThanOrEqual(before.hashedBytes);
      expect(encryptedBytes).toBeGreaterThanOrEqual(before.encryptedBytes);
      expect(chunks).toBeGreaterThanOrEqual(before.chunks);
    }
  });

  it('fails with the sink’s error, and leaves no upload running', async () => {
    let running = 0;
    const failing: ChunkSink = {
      async store(_, signal) {
        running++;
        try {
          if (running > 1) throw new Error('the sink is broken');
          await new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason), { once: true });
          });
          return 'stored';
        } finally {
          running--;
        }
      },
    };
    await expect(publishFile(bufferAccess(text), { codec, sink: failing })).rejects.toThrow(
      'the sink is broken',
    );
    expect(running).toBe(0);
  });

  describe('with a sink that may continue', () => {
    const trouble = (message: string) => new AntwayError('PEERS_UNREACHABLE', message);
    const large = { size: 10 * 4_190_208, read: async (a: number, b: number) => new Uint8Array(b - a) };

    /** @param fail may throw for a chunk, which gets the number of chunks before it. */
    function troubledSink(fail: (before: number) => void) {
      const stored: string[] = [];
      let asked = 0;
      return {
        stored,
        store: async ({ address }: EncryptedChunk) => {
          fail(asked++);
          stored.push(address.hex);
          return 'stored' as const;
        },
        mayContinue: (error: unknown) => (error as AntwayError).code === 'PEERS_UNREACHABLE',
        asked: () => asked,
      };
    }

    it('stores the other chunks and counts before it fails, but does not store the record', async () => {
      const sink = troubledSink((before) => {
        if (before % 3 === 0) throw trouble(`chunk ${before}`);
      });
      let last: PublishProgress | undefined;
      const progress = (now: PublishProgress) => {
        last = now;
      };
      await expect(publishFile(large, { codec, sink, progress })).rejects.toThrow('chunk 0');
      // Ten chunks of the file, and three of its data map.
      expect([sink.asked(), sink.stored.length]).toEqual([13, 8]);
      expect(last).toMatchObject({ chunks: 8, failedChunks: 5 });
    });

    it('ends after four failures without a stored chunk between them', async () => {
      const sink = troubledSink((before) => {
        if (before >= 2) throw trouble(`chunk ${before}`);
      });
      await expect(publishFile(large, { codec, sink })).rejects.toThrow('chunk 2');
      expect([sink.asked(), sink.stored.length]).toEqual([6, 2]);
    });

    it('does not count a chunk that was present as a sign that the sink works', async () => {
      const sink = troubledSink((before) => {
        if (before % 2 === 1) throw trouble(`chunk ${before}`);
      });
      const present: ChunkSink = {
        ...sink,
        store: async (chunk) => {
          await sink.store(chunk);
          return 'present';
        },
      };
      await expect(publishFile(large, { codec, sink: present })).rejects.toThrow('chunk 1');
      expect(sink.asked()).toBe(8);
    });

    it('fails at once with an error that concerns all chunks', async () => {
      const sink = troubledSink((before) => {
        if (before === 0) throw trouble('chunk 0');
        if (before === 2) throw new AntwayError('REFUSED', 'the wallet says no');
      });
      await expect(publishFile(large, { codec, sink })).rejects.toThrow('the wallet says no');
      expect([sink.asked(), sink.stored.length]).toEqual([3, 1]);
    });
  });

  it('rejects with the reason of an abort', async () => {
    const abort = new AbortController();
    const source = { size: 10 * 4_190_208, read: async (a: number, b: number) => new Uint8Array(b - a) };
    const publishing = publishFile(source, {
      codec,
      sink: slowSink(0),
      signal: abort.signal,
      progress: ({ encryptedBytes }) => encryptedBytes > 0 && abort.abort(new Error('enough')),
    });
    await expect(publishing).rejects.toThrow('enough');
  });

  it('refuses a file that cannot be self-encrypted', async () => {
    await expect(
      publishFile(bufferAccess(text.subarray(0, 2)), { codec, sink: slowSink(0) }),
    ).rejects.toMatchObject({ code: 'UNSUPPORTED' });
  });
});
