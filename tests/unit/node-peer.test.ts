// @module-tag slow
// @module-tag unix
import { randomBytes } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request as send } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { blake3 } from '@noble/hashes/blake3.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { parsePointer } from '../../src/content/pointer.ts';
import { FolderPeerStore } from '../../src/node-peer/folder-store.ts';
import { NodePeer, type NodePeerOptions } from '../../src/node-peer/node-peer.ts';
import { MemoryPeerStore } from '../../src/node-peer/peer-store.ts';
import { LoopbackServer } from '../support/loopback-server.ts';
import { NodePeerProcess } from '../support/node-peer-process.ts';
import { PeerProcess } from '../support/peer-process.ts';
import { PointerOwner } from '../support/pointers.ts';

interface Request {
  method?: string;
  path: string;
  headers?: OutgoingHttpHeaders;
  body?: Uint8Array;
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

const site = 'abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst';
const navigation = { 'Sec-Fetch-Dest': 'document', 'Sec-Fetch-Mode': 'navigate', Accept: 'text/html' };
const chunk = Buffer.from('A chunk of some bytes.');
const otherChunk = Buffer.from('Another one.');
const addressOf = (bytes: Uint8Array) => Buffer.from(blake3(bytes)).toString('hex');
const owner = new PointerOwner(3);
const record = owner.sign(1n, Address.fromHex(addressOf(chunk)));
const absent = '0'.repeat(64);

let folder: string;
let node: NodePeerProcess;
let rust: PeerProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'antway-node-peer-'));
  const web = join(folder, 'web');
  mkdirSync(join(web, 'assets'), { recursive: true });
  mkdirSync(join(web, '-'));
  mkdirSync(join(web, '.well-known'));
  const files = {
    'index.html': '<p>The start page</p>',
    'sw.js': '// a worker',
    'assets/a-1234.js': 'plain',
    'assets/a-1234.js.br': 'as br',
    'assets/a-1234.js.gz': 'as gz',
    'assets/b-5678.wasm': 'wasm',
    '-/bridge.html': 'bridge',
    '-/root.html': 'root',
    '-/site.html': 'site',
    '-/site-worker.js': '// imports the worker',
    '-/move.html': 'move',
    '-/self-test.html': 'self-test',
    '-/probe-1.json': '{}',
    '.well-known/x': 'known',
    '.hidden': 'hidden',
    'antway.json': '{"peers":[]}',
    'empty.txt': '',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(web, name), text);
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  symlinkSync(join(folder, 'secret.txt'), join(web, 'link.txt'));
  const config = join(folder, 'antway.json');
  writeFileSync(config, '{"peers":["/"]}');
  const flags = ['--web', web, '--web-config', config];
  node = await NodePeerProcess.start(join(folder, 'node'), '--allow-open-writes', ...flags);
  rust = await PeerProcess.start({ store: join(folder, 'rust'), flags });
  for (const name of ['node', 'rust']) {
    mkdirSync(join(folder, name, 'pointers'), { recursive: true });
    writeFileSync(join(folder, name, 'pointers', owner.address.hex), record);
    writeFileSync(join(folder, name, 'pointers', laterOwner.address.hex), laterRecord);
    // The owner did not sign this kind.
    writeFileSync(join(folder, name, 'pointers', damagedOwner.address.hex), changed(laterRecord, 1_961));
  }
});

afterAll(async () => {
  await node.stop();
  await rust.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Node's `fetch` does not send `Host` and `Origin` as they are given. */
function ask(origin: string, { method = 'GET', path, headers = {}, body }: Request): Promise<Answer> {
  const { hostname, port, host } = new URL(origin);
  return new Promise((resolve, reject) => {
    const options = { hostname, port, method, path, headers: { Host: host, ...headers }, agent: false };
    const request = send(options, async (response) => {
      const pieces: Buffer[] = [];
      for await (const piece of response) pieces.push(piece);
      resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(pieces) });
    });
    request.on('error', reject).end(body);
  });
}

/** Sends bytes as they are. @returns the answer, until the server closes the connection. */
function sendRaw(origin: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    connect(Number(new URL(origin).port), '127.0.0.1')
      .setEncoding('latin1')
      .on('data', (piece) => (answer += piece))
      .on('error', reject)
      .on('close', () => resolve(answer))
      .write(text);
  });
}

const fileOf = (store: string, name: string, hex: string) =>
  join(store, name, hex.slice(0, 2), hex.slice(2, 4), hex);

/** Headers that depend on the connection, the time or the file; and `Allow`, which only tells what the status tells. */
const own = ['allow', 'date', 'connection', 'keep-alive', 'transfer-encoding', 'etag', 'host'];

function comparable({ status, headers, body }: Answer, origin: string) {
  const port = new URL(origin).port;
  const text = (value: unknown) => String(value).replaceAll(`:${port}`, ':PORT').toLowerCase();
  const kept = Object.entries(headers).filter(([name]) => !own.includes(name));
  return {
    status,
    headers: Object.fromEntries(kept.map(([name, value]) => [name, text(value)])),
    body: body.toString('latin1'),
  };
}

const put = (body: Uint8Array, headers: OutgoingHttpHeaders = {}, address = addressOf(body)): Request => ({
  method: 'PUT',
  path: `/chunk/${address}`,
  headers,
  body,
});

const writer = new PointerOwner(4);
/** The owner of a pointer whose kind of target this version does not know. */
const laterOwner = new PointerOwner(9);
const damagedOwner = new PointerOwner(10);
const laterRecord = laterOwner.sign(5n, Address.fromHex(addressOf(chunk)), 7);
const [target, otherTarget] = [chunk, otherChunk].map((bytes) => Address.fromHex(addressOf(bytes))) as [
  Address,
  Address,
];

const putPointer = (
  body: Uint8Array,
  { address }: PointerOwner,
  headers: OutgoingHttpHeaders = {},
): Request => ({ method: 'PUT', path: `/pointer/${address.hex}`, headers, body });

function changed(bytes: Uint8Array, at: number): Uint8Array {
  const copy = bytes.slice();
  copy[at]! ^= 1;
  return copy;
}

/** The parts `HOST` in headers become the origin's host and port. */
const requests: [name: string, request: Request][] = [
  ['an upload', put(chunk)],
  ['the same upload again', put(chunk)],
  ['an upload from the own page', put(chunk, { Origin: 'http://HOST' })],
  ['an upload under a name below localhost', put(chunk, { Host: 'antway.localhost:PORT' })],
  ['an upload from a stranger’s page', put(otherChunk, { Origin: 'https://evil.example' })],
  ['an upload from another port', put(otherChunk, { Origin: 'http://127.0.0.1:1' })],
  ['an upload from an opaque origin', put(otherChunk, { Origin: 'null' })],
  ['an upload by DNS rebinding', put(otherChunk, { Host: 'evil.example:PORT' })],
  [
    'an upload from a site’s origin',
    put(otherChunk, {
      Host: `${site}.antway.localhost:PORT`,
      Origin: `http://${site}.antway.localhost:PORT`,
    }),
  ],
  ['an upload for a site’s origin', put(otherChunk, { Host: `${site}.antway.localhost:PORT` })],
  ['an upload under another address', put(otherChunk, {}, addressOf(chunk))],
  ['an upload without an address', put(otherChunk, {}, 'x')],
  ['an upload that is too large', put(Buffer.alloc(4_194_305))],
  ['a chunk', { path: `/chunk/${addressOf(chunk)}` }],
  ...['cross-site', 'same-site', 'same-origin', 'none'].map((site): [string, Request] => [
    `a chunk in a frame or window, ${site}`,
    { path: `/chunk/${addressOf(chunk)}`, headers: { 'Sec-Fetch-Site': site } },
  ]),
  ['a chunk with a query', { path: `/chunk/${addressOf(chunk)}?x` }],
  ['the head of a chunk', { method: 'HEAD', path: `/chunk/${addressOf(chunk)}` }],
  [
    'a chunk that the client has',
    { path: `/chunk/${addressOf(chunk)}`, headers: { 'If-None-Match': `"x", W/"${addressOf(chunk)}"` } },
  ],
  ['an absent chunk', { path: `/chunk/${absent}` }],
  ['the head of an absent chunk', { method: 'HEAD', path: `/chunk/${absent}` }],
  ['an upper-case address', { path: `/chunk/${addressOf(chunk).toUpperCase()}` }],
  ['no address', { path: '/chunk/' }],
  ['a path below an address', { path: `/chunk/${addressOf(chunk)}/x` }],
  ['another method', { method: 'POST', path: `/chunk/${addressOf(chunk)}` }],
  ['a pointer', { path: `/pointer/${owner.address.hex}` }],
  ['an absent pointer', { path: `/pointer/${absent}` }],
  ['a bad pointer', { path: '/pointer/x' }],
  ['a pointer by another method', { method: 'POST', path: `/pointer/${absent}` }],
  ['a pointer of another owner', putPointer(record, writer)],
  ['an upload of a pointer', putPointer(writer.sign(5n, target), writer)],
  ['the uploaded pointer', { path: `/pointer/${writer.address.hex}` }],
  ['the same state of a pointer again', putPointer(writer.sign(5n, target), writer)],
  ['a replayed older state', putPointer(writer.sign(4n, target), writer)],
  ['the same counter with another target', putPointer(writer.sign(5n, otherTarget), writer)],
  ['the same counter with another kind', putPointer(writer.sign(5n, target, 'pointer'), writer)],
  ['a newer state', putPointer(writer.sign(6n, otherTarget, 'pointer'), writer)],
  ['a wrong signature', putPointer(changed(writer.sign(7n, target), 5_302), writer)],
  ['a changed counter', putPointer(changed(writer.sign(7n, target), 1_953), writer)],
  ['an unknown version', putPointer(changed(writer.sign(7n, target), 0), writer)],
  ['a short pointer', putPointer(writer.sign(7n, target).slice(1), writer)],
  ['an empty pointer', putPointer(new Uint8Array(), writer)],
  ['a pointer that is too large', putPointer(Buffer.concat([writer.sign(7n, target), chunk]), writer)],
  ['a pointer from a stranger’s page', putPointer(record, writer, { Origin: 'https://evil.example' })],
  ['a pointer from an opaque origin', putPointer(record, writer, { Origin: 'null' })],
  [
    'a pointer from a site’s origin',
    putPointer(record, writer, {
      Host: `${site}.antway.localhost:PORT`,
      Origin: `http://${site}.antway.localhost:PORT`,
    }),
  ],
  ['a pointer without an address', { method: 'PUT', path: '/pointer/x', body: record }],
  ['the pointer after all refusals', { path: `/pointer/${writer.address.hex}` }],
  ['a stored pointer of an unknown kind', { path: `/pointer/${laterOwner.address.hex}` }],
  ['an upload of an unknown kind', putPointer(laterRecord, laterOwner)],
  ['an older state than the one of an unknown kind', putPointer(laterOwner.sign(4n, target), laterOwner)],
  ['the counter of the one of an unknown kind', putPointer(laterOwner.sign(5n, target), laterOwner)],
  ['the unknown kind after all refusals', { path: `/pointer/${laterOwner.address.hex}` }],
  ['a newer state than the one of an unknown kind', putPointer(laterOwner.sign(6n, target), laterOwner)],
  ['a damaged pointer', { path: `/pointer/${damagedOwner.address.hex}` }],
  ['a state in place of a damaged one', putPointer(damagedOwner.sign(0n, target), damagedOwner)],
  ['a final state', putPointer(writer.sign(2n ** 64n - 1n, target), writer)],
  ['another final state', putPointer(writer.sign(2n ** 64n - 1n, otherTarget), writer)],
  ['health', { path: '/-/health' }],
  ['readiness', { path: '/-/ready' }],
  ['info by another method', { method: 'POST', path: '/-/info' }],
  ...['https://evil.example', 'http://HOST'].map((Origin): [string, Request] => [
    `a preflight from ${Origin}`,
    {
      method: 'OPTIONS',
      path: `/chunk/${absent}`,
      headers: { Origin, 'Access-Control-Request-Method': 'PUT' },
    },
  ]),
  ...[
    'antway.localhost:PORT',
    `${site}.antway.localhost:PORT`,
    'localhost:PORT',
    '127.0.0.1:PORT',
    '[::1]:PORT',
    '10.0.0.1:PORT',
    'evil.example;x',
    'a.example:',
    'a..example',
    '0x7f.1',
  ].flatMap((Host) =>
    [
      '/',
      '/index.html',
      '/sw.js',
      '/-/bridge',
      '/-/root.html',
      '/-/site',
      '/-/move',
      '/-/self-test',
      '/some/link',
    ].map((path): [string, Request] => [`${path} on ${Host}`, { path, headers: { Host, ...navigation } }]),
  ),
  ...[
    '/assets/a-1234.js',
    '/assets/b-5678.wasm',
    '/-/probe-1.json',
    '/antway.json',
    '/.well-known/x',
    '/.hidden',
    '/%2ehidden',
    '/link.txt',
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/assets%2f..%2f..%2fsecret.txt',
    '/..%5csecret.txt',
    '/a%00',
    '/%',
    '/%ff',
    '//index.html',
    '/assets',
    '/assets/',
    '/index.html/x',
    `/${'x'.repeat(300)}`,
    '/empty.txt',
    '/-/nothing',
    '/nothing',
  ].map((path): [string, Request] => [`a subresource ${path}`, { path }]),
  ...['antway.localhost:PORT', `${site}.antway.localhost:PORT`, '127.0.0.1:PORT'].flatMap((Host) =>
    (
      [
        ['GET', '/sw.js'],
        ['HEAD', '/sw.js'],
        ['GET', '/sw.js?whole'],
        ['GET', '/sw.js?'],
        ['GET', '/-/site-worker.js'],
      ] as const
    ).map(([method, path]): [string, Request] => [
      `a worker’s script: ${method} ${path} on ${Host}`,
      { method, path, headers: { Host, 'Sec-Fetch-Dest': 'serviceworker' } },
    ]),
  ),
  ['a script in Brotli', { path: '/assets/a-1234.js', headers: { 'Accept-Encoding': 'gzip, br' } }],
  ['a script in gzip', { path: '/assets/a-1234.js', headers: { 'Accept-Encoding': 'br;q=0, GZIP;q=0.5' } }],
  ['a range', { path: '/index.html', headers: { Range: 'bytes=3-5' } }],
  ['a range to the end', { path: '/index.html', headers: { Range: 'bytes=3-' } }],
  ['the last bytes', { path: '/index.html', headers: { Range: 'bytes=-4' } }],
  ['a range outside', { path: '/index.html', headers: { Range: 'bytes=900-' } }],
  ['several ranges', { path: '/index.html', headers: { Range: 'bytes=0-1,3-4' } }],
  ['a range of another version', { path: '/index.html', headers: { Range: 'bytes=0-1', 'If-Range': '"x"' } }],
  ['shared data without a worker', { method: 'POST', path: '/-/share', body: Buffer.from('x') }],
  ['a web file by another method', { method: 'DELETE', path: '/index.html' }],
];

describe('the peer in Node and the peer in Rust give the same answer to', () => {
  it.each(requests)('%s', async (_name, request) => {
    const [inNode, inRust] = await Promise.all(
      [node.url, rust.url].map(async (origin) => {
        const { host, port } = new URL(origin);
        const headers = Object.entries(request.headers ?? {}).map(([name, value]) => [
          name,
          String(value).replace('HOST', host).replace('PORT', port),
        ]);
        return comparable(await ask(origin, { ...request, headers: Object.fromEntries(headers) }), origin);
      }),
    );
    expect(inNode).toEqual(inRust);
  });
});

describe('the peer in Node', () => {
  it('has no WebTransport and counts its chunks', async () => {
    const { body } = await ask(node.url, { path: '/-/info' });
    expect(JSON.parse(body.toString())).toMatchObject({
      name: 'antway-node-peer',
      protocol: 1,
      webTransport: null,
      write: 'open',
      store: { chunks: 1, bytes: chunk.length },
    });
  });

  it('answers a browser that sends all cookies of many sites', async () => {
    const Cookie = Array.from({ length: 180 }, (_, i) => `c${i}=${'x'.repeat(4_000)}`).join('; ');
    expect((await ask(node.url, { path: '/index.html', headers: { Cookie } })).status).toBe(200);
  });

  it('sees all of 200 header fields, and refuses a request with more', async () => {
    const read = async (fields: number) => {
      // The client adds `Host` and `Connection`.
      const more = Array.from({ length: fields - 3 }, (_, i) => [`x-${i}`, 'x']);
      const headers = { ...Object.fromEntries(more), 'If-None-Match': `"${absent}"` };
      return ask(node.url, { path: `/chunk/${absent}`, headers });
    };
    expect((await read(200)).status).toBe(304);
    for (const fields of [201, 232, 233, 2_500]) {
      const { status, body } = await read(fields);
      expect([status, JSON.parse(body.toString()).code]).toEqual([431, 'HEADERS']);
    }
  });

  it.each(['[::1]evil.example', '[::1]:1evil.example', '[::1]]', '[localhost]', '127.0.0.1]', '::1'])(
    'accepts no upload under the name %s, which is not this machine',
    async (name) => {
      const { status } = await ask(node.url, put(otherChunk, { Host: name }));
      expect(status).toBe(403);
    },
  );

  it('ends when its parent process is lost', async () => {
    const peer = await NodePeerProcess.start(join(folder, 'orphan'));
    const ended = once(peer.child, 'exit');
    peer.child.disconnect();
    expect(await ended).toEqual([0, null]);
  });

  it('keeps working after requests that break off', async () => {
    const { port } = new URL(node.url);
    for (const text of [
      'PUT /chunk/',
      `PUT /chunk/${absent} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc`,
    ]) {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(port), '127.0.0.1', () => socket.end(text));
        socket.resume().once('close', () => resolve());
      });
    }
    expect((await ask(node.url, { path: '/-/health' })).status).toBe(200);
  });

  it('gives status and code for each write of a pointer', async () => {
    const own = new PointerOwner(6);
    const answers = [];
    for (const bytes of [
      own.sign(5n, target),
      own.sign(5n, target),
      own.sign(5n, otherTarget),
      own.sign(4n, otherTarget),
      changed(own.sign(9n, target), 1_994),
      Buffer.alloc(5_304),
      own.sign(6n, otherTarget),
    ]) {
      const { status, body } = await ask(node.url, putPointer(bytes, own));
      answers.push(body.length > 0 ? [status, JSON.parse(body.toString()).code] : [status]);
    }
    const outdated = [409, 'OUTDATED'];
    const refused = [
      [422, 'BAD_POINTER'],
      [413, 'TOO_LARGE'],
    ];
    expect(answers).toEqual([[201], [200], outdated, outdated, ...refused, [201]]);
    expect((await ask(node.url, { path: `/pointer/${own.address.hex}` })).body.subarray(0, 1994)).toEqual(
      Buffer.from(own.sign(6n, otherTarget).subarray(0, 1994)),
    );
  });

  it('stores the largest of counters that arrive at once', async () => {
    const own = new PointerOwner(7);
    const records = [3n, 9n, 1n, 7n, 2n].map((counter) => own.sign(counter, target));
    const answers = await Promise.all(records.map((bytes) => ask(node.url, putPointer(bytes, own))));
    for (const { status } of answers) expect([201, 409]).toContain(status);
    expect((await ask(node.url, { path: `/pointer/${own.address.hex}` })).body).toEqual(
      Buffer.from(records[1]!),
    );
  });

  it('takes no pointers if it takes no chunks, and stores them in memory too', async () => {
    const store = new MemoryPeerStore(1_000);
    const own = new PointerOwner(8);
    const state = (counter: bigint) => parsePointer(own.sign(counter, target), own.address);
    expect(await store.writePointer(own.address, state(2n))).toBe('stored');
    expect(await store.writePointer(own.address, state(2n))).toBe('present');
    expect(await store.writePointer(own.address, state(1n))).toBe('outdated');
    expect(parsePointer(Uint8Array.from((await store.pointer(own.address))!), own.address).counter).toBe(2n);
    const closed = await NodePeerProcess.start(join(folder, 'closed'));
    const { status, body } = await ask(closed.url, putPointer(own.sign(1n, target), own));
    expect([status, JSON.parse(body.toString()).code]).toEqual([403, 'FORBIDDEN']);
    await closed.stop();
  });

  it('shares its folder with the peer in Rust, and quarantines a damaged chunk', async () => {
    const store = join(folder, 'shared');
    const bytes = randomBytes(100_000);
    const address = addressOf(bytes);
    let peer = await NodePeerProcess.start(store, '--allow-open-writes');
    expect((await ask(peer.url, put(bytes))).status).toBe(201);
    await peer.stop('SIGKILL');
    const other = await PeerProcess.start({ store });
    expect((await ask(other.url, { path: `/chunk/${address}` })).body.equals(bytes)).toBe(true);
    const more = randomBytes(1_000);
    await other.put(addressOf(more), more);
    await other.stop();
    peer = await NodePeerProcess.start(store);
    expect((await ask(peer.url, { path: `/chunk/${addressOf(more)}` })).body).toEqual(more);
    expect((await ask(peer.url, put(more))).status).toBe(403);
    const file = join(store, 'chunks', address.slice(0, 2), address.slice(2, 4), address);
    writeFileSync(file, 'damaged');
    expect((await ask(peer.url, { path: `/chunk/${address}` })).status).toBe(404);
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(join(store, 'quarantine'))).toHaveLength(1);
    await peer.stop();
  });

  it('passes requests on to its successor, while an answer that has begun ends with its own bytes', async () => {
    const store = join(folder, 'handover');
    const bytes = randomBytes(4_194_304);
    const peer = await NodePeerProcess.start(store, '--allow-open-writes');
    await ask(peer.url, put(bytes));
    const successor = await PeerProcess.start({ store });
    const slow = new Promise<Buffer>((resolve, reject) => {
      send(`${peer.url}/chunk/${addressOf(bytes)}`, async (response) => {
        const pieces: Buffer[] = [];
        for await (const piece of response) {
          pieces.push(piece);
          if (pieces.length === 1) peer.forwardTo(successor.url);
          if (pieces.length < 50) await new Promise((wait) => setTimeout(wait, 10));
        }
        resolve(Buffer.concat(pieces));
      })
        .on('error', reject)
        .end();
    });
    expect((await slow).equals(bytes)).toBe(true);
    const info = JSON.parse((await ask(peer.url, { path: '/-/info' })).body.toString());
    expect(info.name).toBe('antway-peer');
    expect(info.webTransport.port).toBeGreaterThan(0);
    expect((await ask(peer.url, { path: `/chunk/${addressOf(bytes)}` })).body.equals(bytes)).toBe(true);
    // The successor sees the host that the client used, so its rules for pages hold.
    expect((await ask(peer.url, put(otherChunk, { Origin: 'https://evil.example' }))).status).toBe(403);
    expect((await ask(peer.url, put(otherChunk, { Origin: peer.url }))).status).toBe(201);
    await successor.kill();
    const unreachable = await ask(peer.url, { path: `/chunk/${absent}` });
    expect([unreachable.status, JSON.parse(unreachable.body.toString()).code]).toEqual([503, 'BUSY']);
    await peer.stop();
  });

  describe.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PATCH'])('refuses a body of a %s request', (method) => {
    const smuggled = `PUT /chunk/${addressOf(chunk)} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n`;
    const framings = {
      chunked: `Transfer-Encoding: chunked\r\n\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`,
      long: `Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    };
    it.each(Object.entries(framings))(
      'with a %s body, before and after the handover',
      async (_name, rest) => {
        const seen: string[] = [];
        await using successor = await LoopbackServer.start((request, response) => {
          seen.push(`${request.method} ${request.url}`);
          response.end();
        });
        const peer = await NodePeerProcess.start(join(folder, 'smuggling'));
        for (const isForwarding of [false, true]) {
          if (isForwarding) peer.forwardTo(successor.url);
          const path = isForwarding ? '/seen' : '/-/health';
          await expect.poll(() => ask(peer.url, { path }).then(({ status }) => status)).toBe(200);
          const request = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${rest}`;
          expect(await sendRaw(peer.url, request)).toMatch(/^HTTP\/1\.1 400 /);
        }
        await peer.stop();
        expect([...new Set(seen)]).toEqual(['GET /seen']);
      },
    );
  });

  it('passes bodies on whole, and drops headers of the connection', async () => {
    const seen: { headers: IncomingHttpHeaders; body: string }[] = [];
    await using successor = await LoopbackServer.start(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      seen.push({ headers: request.headers, body });
      response.setHeader('X-Answer-Hop', '1').setHeader('Connection', 'close, X-Answer-Hop').end('done');
    });
    const peer = await NodePeerProcess.start(join(folder, 'hops'));
    peer.forwardTo(successor.url);
    await expect.poll(() => ask(peer.url, { path: '/' }).then(({ status }) => status)).toBe(200);
    const head =
      'PUT /x HTTP/1.1\r\nHost: evil.example\r\nOrigin: https://evil.example\r\nX-Hop: 1\r\nX-End: 1\r\n';
    const connection = 'Connection: close, X-Hop, Host, Origin\r\n';
    const body = 'Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n';
    const answer = await sendRaw(peer.url, head + connection + body);
    await peer.stop();
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).not.toMatch(/x-answer-hop/i);
    const last = seen.at(-1)!;
    expect(last.body).toBe('abcde');
    expect(last.headers).toMatchObject({
      host: 'evil.example',
      origin: 'https://evil.example',
      'x-end': '1',
    });
    expect(last.headers).not.toHaveProperty('x-hop');
  });

  it('answers concurrent uploads of one chunk with one 201', async () => {
    const store = join(folder, 'concurrent');
    const peer = await NodePeerProcess.start(store, '--allow-open-writes');
    const bytes = randomBytes(100_000);
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(peer.url, put(bytes))));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(11).fill(200), 201]);
    const info = async () => JSON.parse((await ask(peer.url, { path: '/-/info' })).body.toString());
    expect((await info()).store).toEqual({ chunks: 1, bytes: bytes.length });

    writeFileSync(fileOf(store, 'chunks', addressOf(bytes)), 'x'.repeat(bytes.length));
    const path = `/chunk/${addressOf(bytes)}`;
    const damaged = await Promise.all(Array.from({ length: 12 }, () => ask(peer.url, { path })));
    expect(damaged.map(({ status }) => status)).toEqual(Array(12).fill(404));
    expect((await info()).store).toEqual({ chunks: 0, bytes: 0 });
    expect(readdirSync(join(store, 'quarantine'))).toHaveLength(1);
    await peer.stop();
  });

  it('moves a chunk that the peer in Rust pulled to the written ones when a client writes it', async () => {
    const store = join(folder, 'pulled');
    const [pulled, written] = ['pulled', 'chunks'].map((name) => fileOf(store, name, addressOf(chunk)));
    mkdirSync(dirname(pulled!), { recursive: true });
    writeFileSync(pulled!, chunk);
    const peer = await NodePeerProcess.start(store, '--allow-open-writes');
    expect((await ask(peer.url, put(chunk))).status).toBe(200);
    expect(existsSync(pulled!)).toBe(false);
    expect(readFileSync(written!)).toEqual(chunk);
    const { body } = await ask(peer.url, { path: '/-/info' });
    expect(JSON.parse(body.toString()).store).toEqual({ chunks: 1, bytes: chunk.length });
    await peer.stop();
  });

  it.each([
    ['0.0.0.0:0', 'not an address of loopback'],
    ['192.168.0.1:80', 'not an address of loopback'],
  ])('refuses to listen on %s', async (http, message) => {
    await expect(NodePeerProcess.start(join(folder, 'x'), '--http', http)).rejects.toThrow(message);
  });
});

describe('the places for answers of a peer in Node', () => {
  const places = 16;
  const path = `/chunk/${addressOf(chunk)}`;
  const line = 'GET /-/info HTTP/1.1\r\nHost: localhost\r\n';
  const sockets: Socket[] = [];
  let peer: NodePeer;
  /** Opens the store. Until then, no read ends. */
  let openGate: () => void;
  /** The addresses of the reads, in their order. */
  let reads: string[];

  async function start(bytes: Uint8Array, options: Partial<NodePeerOptions> = {}) {
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    const store = new MemoryPeerStore(bytes.length);
    await store.write(Address.fromHex(addressOf(bytes)), bytes);
    reads = [];
    for (const kind of ['read', 'pointer'] as const) {
      const read = store[kind].bind(store);
      store[kind] = async (address) => {
        reads.push(address.hex);
        await gate;
        return read(address);
      };
    }
    peer = await NodePeer.start({
      ...{ listen: ['127.0.0.1:0'], store, blake3, write: 'none', version: '1' },
      ...options,
    });
  }

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await peer.close();
  });

  /** Requests a chunk on connections, some times on each, and reads no answers. The peer has the requests afterwards. */
  async function request(connections: number, times = 1, wanted = path, fields = ''): Promise<Socket[]> {
    const text = `GET ${wanted} HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`.repeat(times);
    const opened = await Promise.all(
      Array.from({ length: connections }, async () => {
        const socket = connect(Number(new URL(peer.url).port), '127.0.0.1').on('error', () => undefined);
        await once(socket, 'connect');
        await new Promise<void>((resolve) => socket.write(text, () => resolve()));
        return socket;
      }),
    );
    sockets.push(...opened);
    for (let i = 0; i < 3; i++) expect((await ask(peer.url, { path: '/-/health' })).status).toBe(200);
    return opened;
  }

  it.each([
    { flood: 'requests', text: `${line}\r\n`.repeat(10_000), most: 200 },
    { flood: 'fields', text: `${line}${'x:\r\n'.repeat(100_000)}\r\n`, most: 0 },
  ])('are not needed for the rest of a flood of $flood, which nothing parses', async ({ text, most }) => {
    await start(chunk);
    const parsed = vi.fn();
    subscribe('http.server.request.start', parsed);
    const socket = connect(Number(new URL(peer.url).port), '127.0.0.1').on('error', () => undefined);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.resume().write(text);
    await closed;
    unsubscribe('http.server.request.start', parsed);
    expect(parsed.mock.calls.length).toBeLessThanOrEqual(most);
  });

  it.each([1, 4])('are free again after clients with %i requests each stop waiting', async (times) => {
    await start(chunk, { answerWaitMs: 60_000 });
    const holders = await request(places);
    const waiters = await request(places, times);
    for (const socket of waiters) socket.destroy();
    expect((await ask(peer.url, { path: '/-/health' })).status).toBe(200);
    for (const socket of holders.slice(0, places / 2)) socket.destroy();
    const answers = Promise.all(Array.from({ length: 100 }, () => ask(peer.url, { path })));
    openGate();
    expect((await answers).map(({ status }) => status)).toEqual(Array(100).fill(200));
  });

  it('are free again after clients break off several requests on one connection', async () => {
    await start(chunk, { answerWaitMs: 60_000 });
    const holders = await request(places, 4);
    for (const socket of holders) socket.destroy();
    openGate();
    expect((await ask(peer.url, { path })).status).toBe(200);
  });

  it('are free again when clients read nothing of their answers', async () => {
    const bytes = randomBytes(4_194_304);
    await start(bytes, { answerWaitMs: 60_000, writeTimeoutMs: 1_000 });
    openGate();
    const wanted = `/chunk/${addressOf(bytes)}`;
    await request(2 * places, 8, wanted);
    expect((await ask(peer.url, { path: wanted })).body.equals(bytes)).toBe(true);
  });

  it('of uploads are free again when clients stop sending', async () => {
    await start(chunk, { uploadMs: 1_000, write: 'open' });
    const head = `PUT ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${chunk.length}\r\n\r\n`;
    const answers = Array.from({ length: 40 }, async () => {
      const socket = connect(Number(new URL(peer.url).port), '127.0.0.1');
      sockets.push(socket);
      socket.write(`${head}x`);
      const [answer] = await once(socket, 'data');
      return String(answer).split(' ')[1];
    });
    expect((await ask(peer.url, { path, method: 'PUT', body: chunk })).status).toBe(200);
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['408']));
  });

  it.each(['chunk', 'pointer'])('for a %s go to clients in turns', async (kind) => {
    await start(chunk, { answerWaitMs: 60_000 });
    await request(64, 1, `/${kind}/${addressOf(chunk)}`, 'Origin: http://greedy.localhost\r\n');
    const answer = ask(peer.url, { path: `/${kind}/${absent}` });
    await ask(peer.url, { path: '/-/health' });
    openGate();
    expect((await answer).status).toBe(404);
    expect(reads.indexOf(absent)).toBeLessThan(10);
  });

  it('are not needed for heads of chunks, which are not read', async () => {
    await start(chunk);
    const { status, headers } = await ask(peer.url, { path, method: 'HEAD' });
    expect([status, headers['content-length']]).toEqual([200, String(chunk.length)]);
  });

  it('are not waited for without an end', async () => {
    await start(chunk, { answerWaitMs: 50 });
    await request(places);
    const { status, headers, body } = await ask(peer.url, { path });
    expect([status, headers['retry-after'], JSON.parse(body.toString()).code]).toEqual([503, '1', 'BUSY']);
    openGate();
    await expect.poll(() => ask(peer.url, { path }).then((answer) => answer.status)).toBe(200);
  });
});

describe('the stores of a peer in Node', () => {
  it('count the chunks of an existing folder, and remove old partial files', async () => {
    const path = join(folder, 'counted');
    const store = await FolderPeerStore.open(path, blake3);
    const address = Address.fromHex(addressOf(chunk));
    expect(await store.write(address, chunk)).toBe('stored');
    expect(await store.write(address, chunk)).toBe('present');
    for (const name of ['old.partial', 'new.partial']) writeFileSync(join(path, name), 'x');
    const before = Date.now() / 1000 - 3_700;
    utimesSync(join(path, 'old.partial'), before, before);
    const again = await FolderPeerStore.open(path, blake3);
    expect(again.totals).toEqual({ chunks: 1, bytes: chunk.length });
    expect(readdirSync(path)).not.toContain('old.partial');
    // Another process may be writing this file.
    expect(readdirSync(path)).toContain('new.partial');
    expect(await again.size(address)).toBe(chunk.length);
    expect(
      readFileSync(join(path, 'chunks', address.hex.slice(0, 2), address.hex.slice(2, 4), address.hex)),
    ).toEqual(chunk);
  });

  it('say that memory is full', async () => {
    const store = new MemoryPeerStore(chunk.length);
    const address = Address.fromHex(addressOf(chunk));
    expect(await store.write(address, chunk)).toBe('stored');
    expect(await store.write(Address.fromHex(addressOf(otherChunk)), otherChunk)).toBe('full');
    expect(await store.write(address, chunk)).toBe('present');
    expect(store.totals).toEqual({ chunks: 1, bytes: chunk.length });
  });
});
