// @module-tag slow
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { request as send } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { blake3 } from '@noble/hashes/blake3.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildCli } from '../../src/cli/setup.mjs';
import { NodePeerProcess } from '../support/node-peer-process.ts';

const large = randomBytes(4_194_304);
const addressOf = (bytes: Uint8Array) => Buffer.from(blake3(bytes)).toString('hex');
const absent = '0'.repeat(64);
const path = `/chunk/${addressOf(large)}`;

let folder: string;
let store: string;
let web: string;
let peer: NodePeerProcess;
let front: NodePeerProcess;
let writer: NodePeerProcess;
const sockets: Socket[] = [];

function writeChunk(bytes: Uint8Array): string {
  const hex = addressOf(bytes);
  const shard = join(store, 'chunks', hex.slice(0, 2), hex.slice(2, 4));
  mkdirSync(shard, { recursive: true });
  writeFileSync(join(shard, hex), bytes);
  return join(shard, hex);
}

beforeAll(async () => {
  await buildCli();
  folder = mkdtempSync(join(tmpdir(), 'antway-node-abuse-'));
  store = join(folder, 'store');
  web = join(folder, 'web');
  mkdirSync(web);
  writeFileSync(join(web, 'index.html'), '<p>The start page</p>');
  writeFileSync(join(web, 'large.bin'), Buffer.alloc(32 * 1024 * 1024, 'x'));
  writeChunk(large);
  peer = await NodePeerProcess.start(store, '--web', web);
  front = await NodePeerProcess.start(join(folder, 'front'));
  front.forwardTo(peer.url);
  writer = await NodePeerProcess.start(join(folder, 'written'), '--allow-open-writes');
}, 300_000);
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await front?.stop();
  await writer?.stop();
  await peer?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A connection that reads nothing until it is resumed. */
async function open(origin: string, text = ''): Promise<Socket> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  if (text) await new Promise<void>((resolve) => socket.write(text, () => resolve()));
  return socket;
}

/** Sends bytes as they are. @returns the answer, until the peer closes the connection. */
async function raw(origin: string, text: string): Promise<string> {
  const socket = await open(origin);
  let answer = '';
  socket.setEncoding('latin1').on('data', (piece) => (answer += piece));
  socket.write(text);
  await new Promise((resolve) => socket.once('close', resolve));
  return answer;
}

/** Reads on after a pause. @returns what the connection brings until it ends. */
async function restOf(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve));
  return Buffer.concat(pieces);
}

const bodyOf = (answer: Buffer) => answer.subarray(answer.indexOf('\r\n\r\n') + 4);
const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
const get = (wanted: string, fields = '') => `GET ${wanted} HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`;
const close = 'Connection: close\r\n';

function ask(origin: string, wanted: string): Promise<{ status: number; body: Buffer }> {
  return new Promise((resolve, reject) => {
    send(`${origin}${wanted}`, { agent: false }, async (response) => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece);
      resolve({ status: response.statusCode!, body: Buffer.concat(pieces) });
    })
      .on('error', reject)
      .end();
  });
}

const isHealthy = (origin: string) => ask(origin, '/-/health').then(({ status }) => status === 200);

describe('the peer in Node goes on', () => {
  it('after a request with very many fields, and names of fields for one connection', async () => {
    const names = Array.from({ length: 60_000 }, (_, i) => `x${i.toString(36)}`);
    const list = `Connection: close, ${names.join(',')}\r\n`;
    for (const origin of [peer.url, front.url]) {
      const fields = names.slice(0, 60_000).map((name) => `${name}:\r\n`);
      expect(await raw(origin, get('/-/health', list + fields.join('')))).toBe('');
      expect(statusOf(await raw(origin, get('/-/health', list + fields.slice(0, 190).join(''))))).toBe(200);
      expect(await isHealthy(origin)).toBe(true);
    }
  });

  it('after bodies in very small pieces, which it does not read on', async () => {
    const head = `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`;
    for (const extension of ['', ';a=b'])
      expect(await raw(writer.url, head + `1${extension}\r\nx\r\n`.repeat(10_000))).toBe('');
    const read = get('/-/info').replace('\r\n\r\n', '\r\nTransfer-Encoding: chunked\r\n\r\n');
    expect(statusOf(await raw(writer.url, read + '1\r\nx\r\n'.repeat(10_000)))).toBe(400);
    expect(await isHealthy(writer.url)).toBe(true);
  });

  it('after paths and lists that are very long', async () => {
    const long = 'a/'.repeat(250_000);
    expect(statusOf(await raw(peer.url, get(`/${long}`, close)))).toBe(404);
    const [none, commas] = [close, `${close}Accept-Encoding: ${','.repeat(500_000)}br\r\n`];
    for (const fields of [none, commas]) {
      const answer = await raw(peer.url, get('/index.html', fields));
      expect([statusOf(answer), answer.includes('Content-Encoding')]).toEqual([200, false]);
    }
    const tags = `${close}If-None-Match: ${','.repeat(500_000)}"${path.slice('/chunk/'.length)}"\r\n`;
    expect(statusOf(await raw(peer.url, get(path, tags)))).toBe(200);
    const origin = `${close}Origin: http://${'a'.repeat(500_000)}.localhost\r\n`;
    expect(await raw(peer.url, get('/-/info', origin))).not.toContain('aaaa');
  });

  it('after odd targets of requests', async () => {
    const ask = async (target: string) => statusOf(await raw(peer.url, get(target, close)));
    for (const target of ['//', '//a', '/\\', '/%', '/%00', '/..%2f', 'http://[', '*', 'http://localhost/'])
      expect([target, await ask(target)]).toEqual([target, 404]);
    for (const target of ['a:../..', '/chunk//', '/pointer/%'])
      expect([target, await ask(target)]).toEqual([target, 400]);
  });

  it('after a body with two lengths, behind which it answers no further request', async () => {
    const lengths = ['Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n'];
    for (const fields of [lengths.join(''), lengths.reverse().join('')]) {
      const request = get(path, fields).replace('GET', 'PUT');
      const answer = await raw(writer.url, `${request}0\r\n\r\n${get('/-/info')}`);
      expect([statusOf(answer), answer.split('HTTP/1.1').length]).toEqual([400, 2]);
    }
  });

  it('after requests that expect something, which it does not answer', async () => {
    expect(await raw(peer.url, get('/-/info', 'Expect: something\r\n').repeat(1_000))).toBe('');
    expect(await isHealthy(peer.url)).toBe(true);
  });

  it('while many connections send long heads without an end', async () => {
    const head = `GET /-/info HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(40_000)}`;
    const opened = await Promise.all(Array.from({ length: 64 }, () => open(peer.url, head)));
    expect(await isHealthy(peer.url)).toBe(true);
    expect(await raw(peer.url, head)).toBe('');
    expect(opened.some(({ destroyed }) => destroyed)).toBe(false);
  });

  it('after a list of encodings that is mostly white space', async () => {
    const encodings = `Accept-Encoding: gzip${' '.repeat(900_000)}x\r\n`;
    expect(statusOf(await raw(peer.url, get('/index.html', encodings + close)))).toBe(200);
    expect(await isHealthy(peer.url)).toBe(true);
  });

  it('with short answers after a very long name of a host', async () => {
    const host = 'a'.repeat(500_000);
    const answer = await raw(peer.url, `GET /index.html HTTP/1.1\r\nHost: ${host}\r\n${close}\r\n`);
    expect([statusOf(answer), answer.includes('aaaa')]).toEqual([200, false]);
  });

  it.each([path, `/chunk/${absent}`, '/-/info', '/large.bin'])(
    'after 150,000 requests for %s on a connection, which it ends',
    async (wanted) => {
      const socket = await open(peer.url);
      const ended = new Promise((resolve) => socket.once('close', resolve));
      socket.write(get(wanted).repeat(150_000));
      await ended;
      expect(await isHealthy(peer.url)).toBe(true);
      expect((await ask(peer.url, path)).body.equals(large)).toBe(true);
    },
  );

  it('while more connections than it takes send one byte after the other', async () => {
    const dripping = await Promise.all(
      Array.from({ length: 1_100 }, () => open(peer.url, 'GET / HTTP/1.1\r\nX: ')),
    );
    const timer = setInterval(() => {
      for (const socket of dripping) socket.write('x');
    }, 300);
    onTestFinished(() => clearInterval(timer));
    // By then, the peer knows how slow they are.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    for (let i = 0; i < 20; i++) expect(await isHealthy(peer.url)).toBe(true);
  });

  it('while more connections than it takes send heads without an end, faster than a still one', async () => {
    const head = 'GET / HTTP/1.1\r\nHost: localhost\r\nX: ';
    const opened = await Promise.all(Array.from({ length: 1_100 }, () => open(peer.url, head)));
    const timer = setInterval(() => {
      for (const socket of opened) socket.write('x'.repeat(1_500));
    }, 500);
    onTestFinished(() => clearInterval(timer));
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    for (let i = 0; i < 20; i++) expect(await isHealthy(peer.url)).toBe(true);
    // The connections that came first have ended.
    expect(opened.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(1_024);
  });

  it('while very many connections send requests that wait for others', async () => {
    const busy = await Promise.all(
      Array.from({ length: 100 }, () => open(peer.url, get(path) + get('/-/info').repeat(16))),
    );
    expect(await isHealthy(peer.url)).toBe(true);
    expect((await ask(peer.url, path)).body.equals(large)).toBe(true);
    expect(busy.some(({ destroyed }) => destroyed)).toBe(true);
  });

  it('while 40 clients read nothing of a large chunk, which all of them get whole at last', () =>
    leaveUnread(40));
  it(
    'while 300 clients read nothing of a large chunk, which all of them get whole at last',
    {
      tags: 'full',
    },
    () => leaveUnread(300),
  );

  /** @param clients more than the peer has places for answers, which are 16. */
  async function leaveUnread(clients: number): Promise<void> {
    const unread = await Promise.all(Array.from({ length: clients }, () => open(peer.url, get(path, close))));
    for (let i = 0; i < 5; i++) {
      const { status, body } = await ask(peer.url, path);
      expect([status, body.equals(large)]).toEqual([200, true]);
    }
    for (const socket of unread) expect(bodyOf(await restOf(socket)).equals(large)).toBe(true);
  }

  it('while more connections than it takes are idle, or send half of a request', async () => {
    for (const text of ['', 'GET /']) {
      await Promise.all(Array.from({ length: 1_100 }, () => open(peer.url, text).catch(() => undefined)));
      await expect.poll(() => isHealthy(peer.url).catch(() => false), { timeout: 40_000 }).toBe(true);
      expect((await ask(peer.url, path)).body.equals(large)).toBe(true);
      for (const socket of sockets.splice(0)) socket.destroy();
    }
  }, 120_000);
});

describe('an answer of the peer in Node', () => {
  it('is in the order of the requests of its connection, and the same as alone', async () => {
    const wanted = ['/-/health', path, `/chunk/${absent}`, '/index.html', '/-/ready', path, '/nothing'];
    const alone = await Promise.all(wanted.map((each) => ask(peer.url, each)));
    const text = wanted.map((each, i) => get(each, i === wanted.length - 1 ? close : ''));
    const answers = Buffer.from(await raw(peer.url, text.join('')), 'latin1');
    let at = 0;
    for (const { status, body } of alone) {
      const head = answers.subarray(at, answers.indexOf('\r\n\r\n', at) + 4);
      expect(statusOf(head.toString())).toBe(status);
      at += head.length + body.length;
      expect(answers.subarray(at - body.length, at).equals(body)).toBe(true);
    }
    expect(at).toBe(answers.length);
  });

  it('breaks off if the chunk changes on disk while its client reads nothing', async () => {
    const other = randomBytes(4_194_304);
    const file = writeChunk(other);
    const wanted = `/chunk/${addressOf(other)}`;
    const unread = await Promise.all(Array.from({ length: 40 }, () => open(peer.url, get(wanted, close))));
    // The last of these answers has lost its place to those that wait, and is far from its end.
    await new Promise<void>((resolve) => {
      let begun = 0;
      for (const socket of unread) socket.once('readable', () => ++begun === 20 && resolve());
    });
    writeSync(openSync(file, 'r+'), Buffer.from([other.at(-1)! ^ 1]), 0, 1, other.length - 1);
    const answers = await Promise.all(unread.map(restOf));
    const bodies = answers.filter((answer) => statusOf(answer.toString('latin1')) === 200).map(bodyOf);
    expect(bodies.some(({ length }) => length < other.length)).toBe(true);
    for (const body of bodies) {
      // An answer that was in memory is whole, and every other one is a part of the right bytes.
      expect(body.equals(other.subarray(0, body.length))).toBe(true);
    }
  });

  it('breaks off if a file of the gateway becomes shorter while its client reads nothing', async () => {
    const file = join(web, 'short.bin');
    const size = 32 * 1024 * 1024;
    writeFileSync(file, Buffer.alloc(size, 'x'));
    const socket = await open(peer.url, get('/short.bin') + get('/-/health', close));
    await new Promise((resolve) => socket.once('readable', resolve));
    await new Promise(setImmediate);
    truncateSync(file, 1);
    const body = bodyOf(await restOf(socket));
    // The answer to the next request is no part of this body.
    expect(body.length).toBeLessThan(size);
    expect(body.equals(Buffer.alloc(body.length, 'x'))).toBe(true);
  });
});
