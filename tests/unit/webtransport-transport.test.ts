// @module-tag isolated
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import { PeerUrl } from '../../src/peer-url.ts';
import { Peer } from '../../src/peers/peer.ts';
import { PeerPool } from '../../src/peers/selection/pool.ts';
import { PeerTransports } from '../../src/peers/transports/peer-transports.ts';
import { WebTransportTransport } from '../../src/peers/transports/webtransport.ts';
import { WebTransportWriter } from '../../src/peers/transports/webtransport-writer.ts';
import { Stats } from '../../src/stats/stats.ts';

/**
 * Node has no WebTransport. Tests in a browser use a real one; here are the orders of events that no
 * real peer can be made to produce on demand.
 */
class FakeSession {
  static all: FakeSession[] = [];
  static isReady = true;

  streams: FakeStream[] = [];
  /** How a new stream comes to be; replaced by tests. */
  open: () => Promise<FakeStream> = async () => new FakeStream();
  isClosed = false;
  becomeReady = () => {};
  #end = () => {};
  readonly ready: Promise<void>;
  readonly closed = new Promise<void>((resolve) => {
    this.#end = resolve;
  });

  constructor(readonly url: string) {
    this.ready = FakeSession.isReady
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.becomeReady = resolve;
        });
    FakeSession.all.push(this);
  }

  async createBidirectionalStream(): Promise<FakeStream> {
    if (this.isClosed) throw new DOMException('The session is closed.', 'InvalidStateError');
    const stream = await this.open();
    this.streams.push(stream);
    return stream;
  }

  close(): void {
    this.isClosed = true;
    this.#end();
  }
}

class FakeStream {
  sent: number[] = [];
  isReset = false;
  isCancelled = false;
  #answers!: ReadableStreamDefaultController<Uint8Array>;
  readonly writable = new WritableStream<Uint8Array>({
    write: (bytes) => void this.sent.push(...bytes),
    abort: () => {
      this.isReset = true;
    },
  });
  readonly readable = new ReadableStream<Uint8Array>({
    start: (controller) => {
      this.#answers = controller;
    },
    cancel: () => {
      this.isCancelled = true;
    },
  });

  /** Resets it, with a code of the protocol. */
  fail(streamErrorCode: number): void {
    this.#answers.error(Object.assign(new Error('reset'), { streamErrorCode }));
  }

  answer(...bytes: number[]): void {
    this.#answers.enqueue(Uint8Array.from(bytes));
  }
}

const address = Address.fromHex('ab'.repeat(32));
const endpoint = async () => ({ url: 'https://peer.example/v1', certificateHashes: [] });
const found = (...bytes: number[]) => [0, 0, 0, 0, bytes.length, ...bytes];
const never = new AbortController().signal;
const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('WebTransport', FakeSession);
  // `AbortSignal.timeout` has a clock of its own, which fake timers do not reach.
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new DOMException('late', 'TimeoutError')), milliseconds);
    return controller.signal;
  });
  FakeSession.all = [];
  FakeSession.isReady = true;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('a peer’s WebTransport transport', () => {
  it('sends a GET for one address, and gives the bytes of the answer', async () => {
    const transport = new WebTransportTransport(endpoint);
    const fetching = transport.fetch(address, never);
    await settle();
    const [stream] = FakeSession.all[0]!.streams;
    expect(stream!.sent).toEqual([1, 1, ...address.bytes]);
    const answer = found(7, 8, 9);
    stream!.answer(...answer.slice(0, 3));
    stream!.answer(...answer.slice(3, 6));
    stream!.answer(...answer.slice(6));
    expect(await fetching).toEqual(Uint8Array.of(7, 8, 9));
  });

  it('reads the answers after one that is busy, with its hint, and after one that is blocked', async () => {
    const transport = new WebTransportTransport(endpoint);
    const chunks = ['01', '02', '03'].map((byte) => Address.fromHex(byte.repeat(32)));
    const answers = Promise.allSettled(chunks.map((chunk) => transport.fetch(chunk, never, undefined, 100)));
    await settle();
    const [stream] = FakeSession.all[0]!.streams;
    // The hint, 3,000 ms, is in the place of the length, and no bytes follow it.
    stream!.answer(2, 0, 0, 0x0b, 0xb8);
    // The reason, 451, is there too.
    stream!.answer(1, 0, 0, 0x01, 0xc3);
    stream!.answer(...found(7));
    expect(await answers).toMatchObject([
      {
        reason: {
          code: 'PEERS_UNREACHABLE',
          details: { answered: true, busy: { afterMs: 3_000, isOverloaded: false } },
        },
      },
      { reason: { code: 'DENIED' } },
      { value: Uint8Array.of(7) },
    ]);
  });

  it('uses one session for all requests, and a new one after it closed', async () => {
    const transport = new WebTransportTransport(endpoint);
    void transport.fetch(address, never).catch(() => undefined);
    void transport.fetch(address, never).catch(() => undefined);
    await settle();
    expect(FakeSession.all).toHaveLength(1);
    expect(transport.isConnected).toBe(true);
    FakeSession.all[0]!.close();
    await settle();
    expect(transport.isConnected).toBe(false);
    void transport.fetch(address, never).catch(() => undefined);
    await settle();
    expect(FakeSession.all).toHaveLength(2);
  });

  it('resets a stream when its caller aborts, and leaves the session open', async () => {
    const transport = new WebTransportTransport(endpoint);
    const controller = new AbortController();
    const fetching = transport.fetch(address, controller.signal);
    await settle();
    controller.abort(new Error('gone'));
    await expect(fetching).rejects.toThrow('gone');
    await settle();
    expect(FakeSession.all[0]!.streams[0]!.isCancelled).toBe(true);
    expect(transport.isConnected).toBe(true);
  });

  it('resets a stream that opens only after its caller has aborted, because it would count against the peer’s limit', async () => {
    const transport = new WebTransportTransport(endpoint);
    let open = (_: FakeStream) => {};
    void transport.fetch(address, never).catch(() => undefined);
    await settle();
    FakeSession.all[0]!.open = () =>
      new Promise((resolve) => {
        open = resolve;
      });
    const controller = new AbortController();
    const fetching = transport.fetch(address, controller.signal);
    await settle();
    controller.abort(new Error('gone'));
    await expect(fetching).rejects.toThrow('gone');
    const late = new FakeStream();
    open(late);
    await settle();
    expect(late).toMatchObject({ isReset: true, isCancelled: true });
  });

  it('gives up a session without any progress', async () => {
    const transport = new WebTransportTransport(endpoint);
    const rejected = expect(transport.fetch(address, never)).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
    });
    await vi.advanceTimersByTimeAsync(limits.stallMs);
    await rejected;
    expect(FakeSession.all[0]!.isClosed).toBe(true);
    expect(transport.isConnected).toBe(false);
  });

  it('leaves a session open if another answer makes progress', async () => {
    const transport = new WebTransportTransport(endpoint);
    const slow = expect(transport.fetch(address, never)).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
    await settle();
    const moving = transport.fetch(address, never);
    await settle();
    const [, stream] = FakeSession.all[0]!.streams;
    const answer = found(1, 2, 3, 4, 5);
    for (const byte of answer.slice(0, -1)) {
      await vi.advanceTimersByTimeAsync(limits.stallMs / 8);
      stream!.answer(byte);
    }
    await slow;
    expect(FakeSession.all[0]!.isClosed).toBe(false);
    stream!.answer(5);
    expect(await moving).toHaveLength(5);
  });

  it('gives up an answer that comes a byte at a time', async () => {
    const transport = new WebTransportTransport(endpoint);
    const rejected = expect(transport.fetch(address, never)).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
      message: expect.stringContaining('took more than'),
    });
    await settle();
    const [stream] = FakeSession.all[0]!.streams;
    stream!.answer(0, 0, 1, 0, 0);
    for (let seconds = 0; seconds < 300; seconds += 5) {
      await vi.advanceTimersByTimeAsync(5_000);
      if (!stream!.isCancelled) stream!.answer(1);
    }
    await rejected;
  });

  it('does not close the session that has taken the place of a dead one', async () => {
    const transport = new WebTransportTransport(endpoint);
    const stalled = expect(transport.fetch(address, never)).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
    });
    await vi.advanceTimersByTimeAsync(limits.stallMs - 100);
    const [dead] = FakeSession.all;
    dead!.close();
    await settle();
    void transport.fetch(address, never).catch(() => undefined);
    await vi.advanceTimersByTimeAsync(200);
    await stalled;
    expect(FakeSession.all).toHaveLength(2);
    expect(FakeSession.all[1]!.isClosed).toBe(false);
    expect(transport.isConnected).toBe(true);
  });

  it('sends its caller to HTTP while it connects, and goes on connecting', async () => {
    FakeSession.isReady = false;
    const transport = new WebTransportTransport(endpoint);
    const rejected = expect(transport.fetch(address, never)).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
    });
    await vi.advanceTimersByTimeAsync(limits.connectGraceMs);
    await rejected;
    expect(transport.isConnected).toBe(false);
    FakeSession.all[0]!.becomeReady();
    await settle();
    expect(transport.isConnected).toBe(true);
    void transport.fetch(address, never).catch(() => undefined);
    await settle();
    expect(FakeSession.all).toHaveLength(1);
  });

  it('is not taken for connected when it was closed while connecting', async () => {
    FakeSession.isReady = false;
    const transport = new WebTransportTransport(endpoint);
    void transport.fetch(address, never).catch(() => undefined);
    await settle();
    transport.close();
    FakeSession.all[0]!.becomeReady();
    await settle();
    expect(FakeSession.all[0]!.isClosed).toBe(true);
    expect(transport.isConnected).toBe(false);
  });

  it('gives a connection up that does not come about in time', async () => {
    FakeSession.isReady = false;
    const transport = new WebTransportTransport(endpoint);
    void transport.fetch(address, never).catch(() => undefined);
    await vi.advanceTimersByTimeAsync(limits.connectTimeoutMs);
    expect(FakeSession.all[0]!.isClosed).toBe(true);
    void transport.fetch(address, never).catch(() => undefined);
    await settle();
    expect(FakeSession.all).toHaveLength(2);
  });

  it('refuses an answer that no chunk can be, before reading it', async () => {
    const transport = new WebTransportTransport(endpoint);
    const rejected = expect(transport.fetch(address, never)).rejects.toMatchObject({ code: 'CORRUPT' });
    await settle();
    const [stream] = FakeSession.all[0]!.streams;
    stream!.answer(0, 0xff, 0xff, 0xff, 0xff);
    await rejected;
    await settle();
    expect(stream!.isCancelled).toBe(true);
  });

  describe('opens files ahead', () => {
    /** Asks for a file, and lets the peer react. @returns the transport, whose session is up. */
    async function open(
      react: (stream: FakeStream, transport: WebTransportTransport) => void | Promise<void>,
    ): Promise<WebTransportTransport> {
      const transport = new WebTransportTransport(endpoint);
      const range = { start: 0, length: 0 };
      const opening = transport
        .prefetch(
          address,
          range,
          never,
          () => {},
          async () => {},
        )
        .catch(() => undefined);
      await settle();
      await react(FakeSession.all[0]!.streams[0]!, transport);
      await opening;
      return transport;
    }

    it('unless the peer refuses that as something unknown, until there is another session', async () => {
      const transport = await open((stream) => stream.fail(1));
      expect([transport.isConnected, transport.canPrefetch]).toEqual([true, false]);
      FakeSession.all[0]!.close();
      await settle();
      await transport.connect();
      expect(transport.canPrefetch).toBe(true);
    });

    it.each<[string, (stream: FakeStream) => void]>([
      ['is busy', (stream) => stream.answer(2, 0, 0, 0, 0)],
      ['failed to read', (stream) => stream.answer(3, 0, 0, 0, 0)],
      ['gives up a slow client', (stream) => stream.fail(3)],
      ['is going away', (stream) => stream.fail(5)],
      ['broke off', (stream) => stream.fail(6)],
    ])('also after one that %s', async (_, react) => {
      expect((await open(react)).canPrefetch).toBe(true);
    });

    it('also after one that was too slow, while other answers came', async () => {
      const transport = await open(async (_, transport) => {
        await vi.advanceTimersByTimeAsync(limits.stallMs - 1_000);
        const moving = transport.fetch(address, never);
        await settle();
        FakeSession.all[0]!.streams[1]!.answer(...found(1));
        await moving;
        await vi.advanceTimersByTimeAsync(1_000);
      });
      expect(transport.isConnected).toBe(true);
      expect(transport.canPrefetch).toBe(true);
    });
  });

  it('asks whether a chunk is there, and stores one with the token', async () => {
    const transport = new WebTransportWriter(endpoint);
    const asking = [transport.has(address, never), transport.has(address, never)];
    await settle();
    const { streams } = FakeSession.all[0]!;
    expect(streams[0]!.sent).toEqual([2, 1, ...address.bytes]);
    streams[0]!.answer(0);
    streams[1]!.answer(1);
    expect(await Promise.all(asking)).toEqual([true, false]);

    const putting = transport.put(address, Uint8Array.of(7, 8, 9), { token: 'é' });
    await settle();
    expect(streams[2]!.sent).toEqual([3, 0, 2, 0xc3, 0xa9, 0, 0, 0, 3, 7, 8, 9]);
    streams[2]!.answer(0, ...address.bytes);
    await putting;
  });

  it.each([
    [2, 'PEERS_UNREACHABLE'],
    [3, 'PEERS_UNREACHABLE'],
    [4, 'REFUSED'],
    [5, 'TOO_LARGE'],
    [6, 'TOO_LARGE'],
    [9, 'CORRUPT'],
  ])('says why a chunk was not stored: status %i is %s', async (status, code) => {
    const transport = new WebTransportWriter(endpoint);
    const rejected = expect(transport.put(address, Uint8Array.of(1), {})).rejects.toMatchObject({ code });
    await settle();
    FakeSession.all[0]!.streams[0]!.answer(status, ...new Uint8Array(32));
    await rejected;
  });

  it('does not count a chunk as stored if the peer received another address', async () => {
    const transport = new WebTransportWriter(endpoint);
    const rejected = expect(transport.put(address, Uint8Array.of(1), {})).rejects.toMatchObject({
      code: 'CORRUPT',
    });
    await settle();
    FakeSession.all[0]!.streams[0]!.answer(0, ...new Uint8Array(32));
    await rejected;
  });
});

describe('the answer “busy” by WebTransport', () => {
  it('does not begin the answer: the peer still looks the record up', async () => {
    const url = PeerUrl.parse('https://peer.example');
    const webTransport = new WebTransportWriter(endpoint);
    const transports = Object.assign(new PeerTransports(url, 'webtransport'), { webTransport });
    const observer = { attemptEnded: () => {} };
    const peer = new Peer(url, null, transports, observer);
    const [onFirstByte, onBusy] = [vi.fn(), vi.fn()];
    const events = { onFirstByte, onBusy, observer };
    const verify = (bytes: Uint8Array) => bytes;
    const fetching = peer.fetch(address, { signal: never, isHedge: false, verify, ...events });
    await settle();
    FakeSession.all[0]!.streams[0]!.answer(2, 0, 0, 0x07, 0xd0);
    await settle();
    expect(onBusy).toHaveBeenCalledWith({ afterMs: 2_000, isOverloaded: false });
    expect(onFirstByte).not.toHaveBeenCalled();
    expect(peer.lookups()).toMatchObject([{ peer: peer.id, address }]);
    await vi.advanceTimersByTimeAsync(4_000);
    FakeSession.all[0]!.streams[1]!.answer(...found(7));
    expect(await fetching).toEqual(Uint8Array.of(7));
    expect(onFirstByte).toHaveBeenCalledOnce();
  });

  it('is no large chunk, so the other chunks of the batch stay on its stream', async () => {
    const transport = new WebTransportWriter(endpoint);
    const chunks = ['01', '02'].map((byte) => Address.fromHex(byte.repeat(32)));
    const answers = Promise.allSettled(chunks.map((chunk) => transport.fetch(chunk, never, undefined, 100)));
    await settle();
    const { streams } = FakeSession.all[0]!;
    // As a length, this hint would be larger than a small chunk.
    streams[0]!.answer(2, 0, 1, 0x86, 0xa0);
    await settle();
    expect(streams).toHaveLength(1);
    streams[0]!.answer(...found(7));
    expect(await answers).toMatchObject([{ status: 'rejected' }, { value: Uint8Array.of(7) }]);
  });
});

describe('an answer to OPEN that arrives byte by byte', () => {
  it('is not waited for if there is another peer, even if both are clients of a network', async () => {
    const info = {
      protocol: 1,
      operations: [1, 5],
      webTransport: { port: 4433, path: '/v1', certificateHashes: [] },
      network: { name: 'devnet', state: 'connected' },
    };
    vi.stubGlobal('fetch', async () => Response.json(info));
    const urls = ['https://one.example', 'https://two.example'].map((url) => PeerUrl.parse(url));
    const peers = new PeerPool(urls, new Stats());
    peers.warm();
    await vi.waitFor(() => expect(FakeSession.all).toHaveLength(2));
    await vi.waitFor(() => expect(peers.describe()).toMatchObject([{ network: {} }, { network: {} }]));
    await settle();
    let isDone = false;
    const options = { signal: never, onRecord: async () => {} };
    const opening = peers.prefetch(address, { start: 0, length: 0 }, options).then(() => (isDone = true));
    await settle();
    const stream = FakeSession.all.flatMap(({ streams }) => streams)[0]!;
    stream.answer(0, 0, 1, 0, 0);
    const rest = setInterval(() => stream.isCancelled || stream.answer(1), 1_000);
    // As long as a whole lookup, and no longer.
    await vi.advanceTimersByTimeAsync(limits.stallMs - 100);
    expect(isDone).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    clearInterval(rest);
    expect(isDone).toBe(true);
    await opening;
    peers.close();
  });
});

describe('a file that is requested before there is a session', () => {
  const info = {
    protocol: 1,
    operations: [1, 5],
    webTransport: { port: 4433, path: '/v1', certificateHashes: [] },
  };
  const range = { start: 0, length: 0 };

  function startPool(names: string[], operations = info.operations): PeerPool {
    vi.stubGlobal('fetch', async () => Response.json({ ...info, operations }));
    const urls = names.map((name) => PeerUrl.parse(`https://${name}.example`));
    return new PeerPool(urls, new Stats());
  }

  /** Requests the file. */
  function open(peers: PeerPool, signal = never) {
    const opening = { isDone: false };
    void peers.prefetch(address, range, { signal, onRecord: async () => {} }).then(() => {
      opening.isDone = true;
    });
    return opening;
  }

  const streams = () => FakeSession.all.flatMap(({ streams }) => streams);

  it('is opened by one request once there is a session', async () => {
    FakeSession.isReady = false;
    const opening = open(startPool(['one']));
    await settle();
    expect([opening.isDone, streams()]).toEqual([false, []]);
    FakeSession.all[0]!.becomeReady();
    await settle();
    const [stream] = streams();
    expect(stream!.sent.slice(0, 33)).toEqual([5, ...address.bytes]);
    expect(opening.isDone).toBe(false);
  });

  it('is opened at the peer that connects first', async () => {
    FakeSession.isReady = false;
    const peers = startPool(['one', 'two', 'three']);
    peers.warm();
    await settle();
    open(peers);
    await settle();
    expect(FakeSession.all).toHaveLength(3);
    FakeSession.all[2]!.becomeReady();
    await settle();
    expect(FakeSession.all.map(({ streams }) => streams.length)).toEqual([0, 0, 1]);
  });

  it('waits as long as a request if the only peer cannot connect', async () => {
    FakeSession.isReady = false;
    const opening = open(startPool(['one']));
    await vi.advanceTimersByTimeAsync(limits.connectGraceMs - 100);
    expect(opening.isDone).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect([opening.isDone, streams()]).toEqual([true, []]);
  });

  it('waits for half of the time until a request is hedged if there are several peers', async () => {
    FakeSession.isReady = false;
    const peers = startPool(['one', 'two']);
    peers.warm();
    await settle();
    const opening = open(peers);
    await vi.advanceTimersByTimeAsync(limits.defaultHedgeDelayMs.firstByte / 2 - 100);
    expect(opening.isDone).toBe(false);
    await vi.advanceTimersByTimeAsync(200);
    expect([opening.isDone, streams()]).toEqual([true, []]);
  });

  it('does not wait while WebTransport is tried again after a failure: requests go by HTTP', async () => {
    FakeSession.isReady = false;
    const peers = startPool(['one']);
    open(peers);
    // The session fails, and the next attempt is due.
    await vi.advanceTimersByTimeAsync(limits.connectTimeoutMs + limits.webTransportCircuit.maxMs);
    const opening = open(peers);
    await settle();
    expect(FakeSession.all.length).toBeGreaterThan(1);
    expect([opening.isDone, streams()]).toEqual([true, []]);
  });

  it('does not wait if the best peer has HTTP only', async () => {
    FakeSession.isReady = false;
    const urls = ['anttp+https://one.example', 'https://two.example'].map((url) => PeerUrl.parse(url));
    vi.stubGlobal('fetch', async () => Response.json(info));
    const peers = new PeerPool(urls, new Stats());
    peers.warm();
    await settle();
    expect(FakeSession.all).toHaveLength(1);
    // Each peer is the best one for some addresses.
    const times = await Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        const of = Address.fromHex((i * 16 + i).toString(16).padStart(2, '0').repeat(32));
        const reader = new AbortController();
        let isDone = false;
        const options = { signal: reader.signal, onRecord: async () => {} };
        void peers.prefetch(of, range, options).then(() => (isDone = true));
        await settle();
        const wasDone = isDone;
        reader.abort();
        return wasDone;
      }),
    );
    expect(new Set(times)).toEqual(new Set([true, false]));
  });

  it('does not wait for a peer that is known not to know the request', async () => {
    const peers = startPool(['one'], [1]);
    open(peers);
    await settle();
    FakeSession.all[0]!.close();
    await settle();
    FakeSession.isReady = false;
    peers.warm();
    await settle();
    expect(FakeSession.all).toHaveLength(2);
    const opening = open(peers);
    await settle();
    expect([opening.isDone, streams()]).toEqual([true, []]);
  });

  it('does not wait after the reader has left', async () => {
    FakeSession.isReady = false;
    const reader = new AbortController();
    const opening = open(startPool(['one']), reader.signal);
    await settle();
    reader.abort();
    await settle();
    expect(opening.isDone).toBe(true);
    FakeSession.all[0]!.becomeReady();
    await settle();
    expect(streams()).toEqual([]);
  });
});
