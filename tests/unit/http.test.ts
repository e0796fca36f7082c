// @module-tag slow
// @module-tag unix
import { expect } from 'vitest';
import { Address } from '../../src/address.ts';
import { limits } from '../../src/limits.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { DataMap, encodeDataMap } from '../../src/self-encryption/data-map.ts';
import { errorCode } from '../support/gateway-client.ts';
import type { PeerProcess } from '../support/peer-process.ts';
import { noise, publish } from '../support/publish.ts';
import { makeTarchive, sha256 } from '../support/tar.ts';
import { type NodeGateway, test, textsOf } from './support/node-gateway.ts';

const denied = 'de'.repeat(32);
const text = 'Two thousand bytes of text. '.repeat(72).slice(0, 2_000);

let peer: PeerProcess;
let gateway: NodeGateway;
let site: string;

test.beforeEach(async ({ startPeer, openGateway, folder }) => {
  peer = await startPeer({ webTransport: 'none' });
  site = await publish(
    makeTarchive(folder, {
      'index.html': '<title>a page</title><p>front page</p>',
      'a.js': 'document.title = "a script"',
      'picture.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'text.txt': text,
      'style.css': 'p { color: red }',
      'data.json': '{"a": 1}',
      'folder/no-extension': '%PDF-1.7 and so on',
      'large.bin': noise(5, 3_000_000),
    }),
    peer,
  );
  gateway = await openGateway({ peers: [peer.url], denied: [denied] });
});

test('HEAD answers as GET does, without the body', async () => {
  for (const path of ['text.txt', 'large.bin', 'folder/', '']) {
    const get = await gateway.fetch(`/${site}/${path}`);
    const head = await gateway.fetch(`/${site}/${path}`, { method: 'HEAD' });
    expect([head.status, head.size]).toEqual([200, 0]);
    const { 'server-timing': _, ...expected } = get.headers;
    expect(head.headers).toMatchObject(expected);
    expect(head.headers['content-length']).toBe(String(get.size));
  }
});

test('every answer states its cost: whole, part, none, not changed, missing, refused', async () => {
  const { etag = '' } = (await gateway.fetch(`/${site}/text.txt`)).headers;
  const answers: [status: number, path: string, options?: RequestInit][] = [
    [200, 'text.txt'],
    [206, 'text.txt', { headers: { Range: 'bytes=0-0' } }],
    [200, 'text.txt', { method: 'HEAD' }],
    [304, 'text.txt', { headers: { 'If-None-Match': etag }, cache: 'no-store' }],
    [416, 'text.txt', { headers: { Range: 'bytes=9999-' } }],
    [404, 'none.txt'],
    [405, 'text.txt', { method: 'POST' }],
  ];
  for (const [status, path, options] of answers) {
    const answer = await gateway.fetch(`/${site}/${path}`, options);
    expect(answer.status).toBe(status);
    expect(answer.headers['server-timing']).toMatch(
      /^resolve;dur=.+, fetch;dur=.+, decrypt;dur=.+, total;dur=.+, chunks;desc=/,
    );
  }
});

test('a single byte range is answered with just those bytes', async () => {
  const whole = Buffer.from(text);
  const cases: [range: string, status: number, from: number, to: number][] = [
    ['bytes=0-0', 206, 0, 1],
    ['bytes=10-19', 206, 10, 20],
    ['bytes=1990-', 206, 1990, 2000],
    ['bytes=-7', 206, 1993, 2000],
    ['bytes=-5000', 206, 0, 2000],
    ['bytes=1999-9999', 206, 1999, 2000],
    ['bytes=0-0,5-9', 200, 0, 2000],
    ['lines=1-2', 200, 0, 2000],
  ];
  for (const [range, status, from, to] of cases) {
    const answer = await gateway.fetch(`/${site}/text.txt`, { headers: { Range: range } });
    expect([range, answer.status, answer.text]).toEqual([range, status, whole.subarray(from, to).toString()]);
    expect(answer.headers['content-length']).toBe(String(to - from));
    if (status === 206) expect(answer.headers['content-range']).toBe(`bytes ${from}-${to - 1}/2000`);
  }
  const past = await gateway.fetch(`/${site}/text.txt`, { headers: { Range: 'bytes=2000-' } });
  expect([past.status, past.headers['content-range'], errorCode(past)]).toEqual([
    416,
    'bytes */2000',
    'BAD_RANGE',
  ]);
});

test('the type comes from the name, or from the bytes if the name has no known extension', async () => {
  const types = {
    'text.txt': 'text/plain; charset=utf-8',
    'style.css': 'text/css; charset=utf-8',
    'a.js': 'text/javascript; charset=utf-8',
    'data.json': 'application/json; charset=utf-8',
    'picture.svg': 'image/svg+xml; charset=utf-8',
    'index.html': 'text/html; charset=utf-8',
    'folder/no-extension': 'application/pdf',
    'large.bin': 'application/octet-stream',
  };
  for (const [path, type] of Object.entries(types)) {
    const { headers } = await gateway.fetch(`/${site}/${path}`);
    expect([path, headers['content-type'], headers['x-content-type-options']]).toEqual([
      path,
      type,
      'nosniff',
    ]);
  }
});

test('?format=raw returns a record’s own bytes', async () => {
  const raw = await gateway.fetch(`/${site}?format=raw`);
  const record = await (await fetch(`${peer.url}/chunk/${site}`)).arrayBuffer();
  expect(raw.sha256).toBe(sha256(new Uint8Array(record)));
  expect(raw.headers['content-type']).toBe('application/octet-stream');
});

test('every error is a page for users and JSON for programs, with its status and code', async () => {
  const unknownVersion = encodeDataMap(mapOf(3, 100)).with(1, 2);
  const tooLarge = encodeDataMap(mapOf(20, limits.plaintextChunkBytes, 1));
  const wrongKeys = encodeDataMap(await mapWithWrongKeys());
  const cases: [path: string, status: number, code: string][] = [
    [`/${'0'.repeat(63)}`, 400, 'BAD_ADDRESS'],
    [`/${site}/a%2Fb`, 400, 'BAD_ADDRESS'],
    [`/${'cd'.repeat(32)}`, 404, 'NOT_FOUND'],
    [`/${site}/no/such/member`, 404, 'NOT_FOUND'],
    [`/${denied}/`, 451, 'DENIED'],
    [`/${await putRecord(unknownVersion)}`, 501, 'UNSUPPORTED'],
    [`/${site}?format=pdf`, 501, 'UNSUPPORTED'],
    [`/${await putRecord(wrongKeys)}`, 502, 'CORRUPT'],
    [`/${await putRecord(tooLarge)}`, 507, 'TOO_LARGE'],
  ];
  for (const [path, status, code] of cases) {
    const answer = await gateway.fetch(path);
    expect([path, answer.status, errorCode(answer)]).toEqual([path, status, code]);
    expect(answer.headers['content-type']).toContain('application/json');
    expect(answer.headers['cache-control']).toBe('no-store');

    const page = await gateway.open(path);
    expect([path, page.status]).toEqual([path, status]);
    expect(page.headers['content-type']).toContain('text/html');
    expect(textsOf(page.text, 'main')[0]).toContain(`Code ${code}`);
  }
});

test('content can only be read', async () => {
  for (const method of ['POST', 'PUT', 'DELETE']) {
    const answer = await gateway.fetch(`/${site}/text.txt`, { method });
    expect([answer.status, errorCode(answer)]).toEqual([405, 'METHOD']);
    expect(answer.headers.allow).toContain('GET, HEAD');
  }
});

/** A data map of `count` parts that exist nowhere. */
function mapOf(count: number, partBytes: number, childLevel = 0): DataMap {
  return new DataMap(
    noise(3, 32 * count),
    noise(4, 32 * count),
    new Uint32Array(count).fill(partBytes),
    childLevel,
  );
}

/** A data map whose chunks exist, but do not open with its keys. */
async function mapWithWrongKeys(): Promise<DataMap> {
  const { bytes } = Address.fromHex(await putRecord(noise(6, 1_000)));
  return new DataMap(Buffer.concat([bytes, bytes, bytes]), noise(4, 96), Uint32Array.of(1_000, 1_000, 1_000));
}

async function putRecord(bytes: Uint8Array): Promise<string> {
  const address = Buffer.from((await loadBlake3())(bytes)).toString('hex');
  await peer.put(address, bytes);
  return address;
}
