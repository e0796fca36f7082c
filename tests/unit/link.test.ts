import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Link, type LinkOptions } from '../../perf/link/link.ts';
import { LinkRelay } from '../../perf/link/relay.ts';

const perfect: LinkOptions = { delayMs: 0, loss: 0, bitsPerSecond: 1e9, queueMs: 100, seed: 1 };

describe('the arithmetic of a link', () => {
  it('lets a datagram arrive after its own length at the rate, and the delay', () => {
    const link = new Link({ ...perfect, delayMs: 25, bitsPerSecond: 1e6 });
    expect(link.datagram(1_250, 1_000)).toBeCloseTo(1_000 + 10 + 25);
  });

  it('sends one after the other', () => {
    const link = new Link({ ...perfect, bitsPerSecond: 1e6 });
    expect([0, 0, 0, 100].map((nowMs) => link.datagram(1_250, nowMs))).toEqual([10, 20, 30, 110]);
  });

  it('drops packets that would wait longer than the queue allows', () => {
    const link = new Link({ ...perfect, bitsPerSecond: 1e6, queueMs: 50 });
    const arrivals = Array.from({ length: 20 }, () => link.datagram(1_250, 0));
    expect(arrivals.filter((at) => at !== undefined)).toEqual([10, 20, 30, 40, 50, 60]);
    expect(link.tally).toEqual({ sent: 20, lost: 0, overflowed: 14, bytes: 6 * 1_250 });
  });

  it('loses the share that was asked for, and the same ones again with the same seed', () => {
    const run = (seed: number) => {
      const link = new Link({ ...perfect, loss: 0.03, seed });
      return Array.from({ length: 20_000 }, (_, i) => link.datagram(1_000, i) === undefined);
    };
    const lost = run(7).filter(Boolean).length;
    expect(lost / 20_000).toBeGreaterThan(0.025);
    expect(lost / 20_000).toBeLessThan(0.035);
    expect(run(7)).toEqual(run(7));
    expect(run(8)).not.toEqual(run(7));
  });

  it('never loses a part of a stream', () => {
    const link = new Link({ ...perfect, loss: 1 });
    expect(link.segment(1_000, 0)).toBeGreaterThan(0);
  });
});

describe('the relay', () => {
  const closers: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  function relay(options: Partial<LinkOptions>): LinkRelay {
    const made = new LinkRelay({ ...perfect, ...options });
    closers.push(() => made.close());
    return made;
  }

  async function udpSocket(): Promise<Socket> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    socket.setRecvBufferSize(4 * 1024 * 1024);
    closers.push(() => socket.close());
    return socket;
  }

  /** Echoes datagrams; its port. */
  async function udpEcho(): Promise<number> {
    const echo = await udpSocket();
    echo.on('message', (datagram, { port }) => echo.send(datagram, port, '127.0.0.1'));
    return echo.address().port;
  }

  /** Answers a connection's first bytes with `answer` and ends; its port. */
  async function tcpServer(answer: Uint8Array): Promise<number> {
    const server = createServer((socket) => socket.once('data', () => socket.end(answer))).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    closers.push(() => server.close());
    return (server.address() as AddressInfo).port;
  }

  it('takes a round trip for a datagram and its answer', async () => {
    const port = await relay({ delayMs: 40 }).udp(await udpEcho());
    const client = await udpSocket();
    const startedMs = performance.now();
    client.send('ping', port, '127.0.0.1');
    const [answer] = await once(client, 'message');
    expect(String(answer)).toBe('ping');
    expect(performance.now() - startedMs).toBeGreaterThan(78);
  });

  it('keeps clients apart', async () => {
    const port = await relay({}).udp(await udpEcho());
    const clients = await Promise.all([udpSocket(), udpSocket()]);
    const answers = clients.map((client) => once(client, 'message'));
    for (const [i, client] of clients.entries()) client.send(`from ${i}`, port, '127.0.0.1');
    expect((await Promise.all(answers)).map(([answer]) => String(answer))).toEqual(['from 0', 'from 1']);
  });

  it('loses datagrams of both directions at random', async () => {
    const link = relay({ loss: 0.1 });
    const port = await link.udp(await udpEcho());
    const client = await udpSocket();
    let answers = 0;
    client.on('message', () => answers++);
    for (let i = 0; i < 2_000; i++) {
      client.send('x', port, '127.0.0.1');
      if (i % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await expect.poll(() => link.tally.up.sent).toBe(2_000);
    await expect.poll(() => link.tally.down.sent).toBe(2_000 - link.tally.up.lost);
    await expect.poll(() => answers).toBe(link.tally.down.sent - link.tally.down.lost);
    for (const { sent, lost } of [link.tally.up, link.tally.down]) {
      expect(lost / sent).toBeGreaterThan(0.06);
      expect(lost / sent).toBeLessThan(0.14);
    }
  });

  it('limits datagrams to the rate, and drops those that its queue cannot hold', async () => {
    const link = relay({ bitsPerSecond: 8e6, queueMs: 100 });
    const target = await udpSocket();
    const port = await link.udp(target.address().port);
    const client = await udpSocket();
    const arrivals: number[] = [];
    target.on('message', () => arrivals.push(performance.now()));
    const startedMs = performance.now();
    // 400 times 1000 bytes with headers, at one to the millisecond, and about 100 fit.
    for (let i = 0; i < 400; i++) client.send(Buffer.alloc(972), port, '127.0.0.1');
    await expect.poll(() => link.tally.up.sent).toBe(400);
    await expect.poll(() => arrivals.length).toBe(400 - link.tally.up.overflowed);
    // Never sooner; how much later depends on what else the machine does.
    expect(arrivals.at(-1)! - startedMs).toBeGreaterThan(0.95 * arrivals.length);
    // On a machine that is late with sending them some fit that would not have.
    expect(link.tally.up.overflowed).toBeGreaterThan(0);
  });

  it('takes two round trips for a new connection and its first answer', async () => {
    const port = await relay({ delayMs: 40 }).tcp(await tcpServer(Buffer.from('pong')));
    const startedMs = performance.now();
    const client = connect(port, '127.0.0.1', () => client.write('ping'));
    const [answer] = await once(client, 'data');
    expect(String(answer)).toBe('pong');
    expect(performance.now() - startedMs).toBeGreaterThan(158);
    await once(client, 'end');
    client.end();
  });

  it('holds a stream to the rate and loses none of it', async () => {
    const sent = Buffer.alloc(2_000_000, 'stream');
    const port = await relay({ bitsPerSecond: 16e6, loss: 0.5 }).tcp(await tcpServer(sent));
    const startedMs = performance.now();
    const client = connect(port, '127.0.0.1', () => client.write('go'));
    const parts: Buffer[] = [];
    for await (const part of client) parts.push(part);
    const seconds = (performance.now() - startedMs) / 1000;
    expect(Buffer.concat(parts).equals(sent)).toBe(true);
    // 1.036 s with the headers; a busy machine may take longer.
    expect(seconds).toBeGreaterThan(0.95);
  });

  it('doubles the window of a new connection in each round trip', async () => {
    const link = relay({ delayMs: 20, tcpWindowBytes: 14_480 });
    const sent = Buffer.alloc(12 * 14_480, 'stream');
    const port = await link.tcp(await tcpServer(sent));
    const startedMs = performance.now();
    const client = connect(port, '127.0.0.1', () => client.write('go'));
    const parts: Buffer[] = [];
    for await (const part of client) parts.push(part);
    expect(Buffer.concat(parts).equals(sent)).toBe(true);
    // The handshake, the request, and windows of 1, 2, 4 and 5: three round trips after the first answer.
    expect(performance.now() - startedMs).toBeGreaterThan(5 * 40 - 5);
  });

  it('delivers all of a stream whose sender closes at once, also in slow start', async () => {
    const sent = Buffer.alloc(500_000, 'stream');
    const port = await relay({ delayMs: 5, tcpWindowBytes: 14_480 }).tcp(await tcpServer(sent));
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => client.end('go'));
    const parts: Buffer[] = [];
    for await (const part of client) parts.push(part);
    expect(Buffer.concat(parts).equals(sent)).toBe(true);
  });
});
