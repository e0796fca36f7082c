import { describe, expect, it } from 'vitest';
import { type ByteSource, memorySource, randomAccessSource } from '../../src/content/byte-source.ts';
import { AntwayError } from '../../src/errors.ts';
import { type Representation, respond } from '../../src/gateway/http/representation.ts';
import { LinkRewriter } from '../../src/gateway/links/link-rewriter.ts';
import { limits } from '../../src/limits.ts';
import { Trace } from '../../src/stats/trace.ts';
import { noise } from './support/encrypted-file.ts';

const etag = '"tag"';
const small = noise(1000);
const large = noise(5 * limits.streamPieceBytes);
const url = 'https://gateway.example/x';

function ask(
  source: ByteSource,
  headers: Record<string, string> = {},
  {
    method = 'GET',
    signal = new AbortController().signal,
    status = undefined as Representation['status'],
    rewriter = undefined as Representation['rewriter'],
  } = {},
) {
  const told = { sent: 0, ended: [] as unknown[] };
  const left: unknown[] = [];
  const observer = {
    sent: (bytes: number) => {
      told.sent += bytes;
    },
    left: (reason: unknown) => void left.push(reason),
    ended: (failure?: unknown) => void told.ended.push(failure ?? 'whole'),
  };
  const representation = {
    source,
    etag,
    headers: { 'Content-Type': 'text/plain', 'Cache-Control': 'max-age=60' },
    ...(status ? { status } : {}),
    ...(rewriter ? { rewriter, isRewritten: true } : {}),
  };
  const answer = respond(
    representation,
    new Request(url, { method, headers }),
    signal,
    observer,
    new Trace(),
  );
  return { answer, told, left };
}

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

/** Gives `large` in pieces; the one at `failAt` fails. */
function failing(failAt: number): ByteSource {
  let piece = 0;
  return randomAccessSource({
    size: large.length,
    async read(start, end) {
      if (piece++ === failAt) throw new AntwayError('NOT_FOUND', 'a chunk is missing');
      return large.subarray(start, end);
    },
  });
}

describe('an answer', () => {
  it.each([
    ['short', small],
    ['long', large],
  ])('with a %s body is whole, with its length, its tag and its headers', async (_, bytes) => {
    const { answer, told } = ask(memorySource(bytes));
    const response = await answer;
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/plain',
      'cache-control': 'max-age=60',
      'content-length': String(bytes.length),
      'accept-ranges': 'bytes',
      etag,
    });
    expect(response.headers.has('content-range')).toBe(false);
    expect(Buffer.compare(await bytesOf(response), bytes)).toBe(0);
    expect(told).toEqual({ sent: bytes.length, ended: ['whole'] });
  });

  it('to HEAD has the headers of GET and no body, and reads nothing', async () => {
    const source = { ...memorySource(small), read: async () => Promise.reject(new Error('was read')) };
    const { answer, told } = ask(source, { Range: 'bytes=0-1' }, { method: 'HEAD' });
    const response = await answer;
    expect([response.status, response.headers.get('Content-Length')]).toEqual([200, '1000']);
    expect(await bytesOf(response)).toHaveLength(0);
    expect(told.ended).toEqual(['whole']);
  });

  it.each([
    [{}, 200],
    [{ Range: 'bytes=-5' }, 200],
  ])('with nothing in it is empty, not an error (%j)', async (headers, status) => {
    const { answer, told } = ask(memorySource(new Uint8Array()), headers);
    const response = await answer;
    expect([response.status, response.headers.get('Content-Length')]).toEqual([status, '0']);
    expect(await bytesOf(response)).toHaveLength(0);
    expect(told.ended).toEqual(['whole']);
  });

  it('with links is rewritten while it streams, and the observer counts what is sent', async () => {
    const text = `${'<p>text</p>'.repeat(120_000)}<a href="ant://known/page">`;
    const rewriter = () => new LinkRewriter('html', { urlOf: () => '/at', version: '' });
    const { answer, told } = ask(memorySource(Buffer.from(text)), {}, { rewriter });
    const response = await answer;
    expect(response.headers.get('Content-Length')).toBeNull();
    const expected = Buffer.from(text.replace('ant://known', '/at'));
    expect((await bytesOf(response)).equals(expected)).toBe(true);
    expect(told).toEqual({ sent: expected.length, ended: ['whole'] });
  });
});

describe('a part', () => {
  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=10-19', 10, 20],
    ['bytes=-7', large.length - 7, large.length],
    [`bytes=5-${large.length - 2}`, 5, large.length - 1],
    ['bytes=5-', 5, large.length],
  ])('%s is sent as 206 with its place and its length', async (range, start, end) => {
    const { answer, told } = ask(memorySource(large), { Range: range });
    const response = await answer;
    expect(response.status).toBe(206);
    expect(response.headers.get('Content-Range')).toBe(`bytes ${start}-${end - 1}/${large.length}`);
    expect(response.headers.get('Content-Length')).toBe(String(end - start));
    expect(Buffer.compare(await bytesOf(response), large.subarray(start, end))).toBe(0);
    expect(told).toEqual({ sent: end - start, ended: ['whole'] });
  });

  it('that lies past the end is BAD_RANGE with the size', async () => {
    const { answer } = ask(memorySource(small), { Range: 'bytes=1000-' });
    await expect(answer).rejects.toMatchObject({ code: 'BAD_RANGE', details: { size: 1000 } });
  });

  it.each([
    ['several ranges', { Range: 'bytes=0-1,5-6' }],
    ['another unit', { Range: 'lines=0-1' }],
    ['another version', { Range: 'bytes=0-1', 'If-Range': '"other"' }],
    ['a weak tag', { Range: 'bytes=0-1', 'If-Range': `W/${etag}` }],
    ['a date', { Range: 'bytes=0-1', 'If-Range': 'Wed, 21 Oct 2015 07:28:00 GMT' }],
    ['another version, past the end', { Range: 'bytes=9999-', 'If-Range': '"other"' }],
  ])('of %s is the whole', async (_, headers) => {
    const response = await ask(memorySource(small), headers).answer;
    expect(response.status).toBe(200);
    expect(await bytesOf(response)).toHaveLength(1000);
  });

  it('of this very version is sent', async () => {
    const response = await ask(memorySource(small), { Range: 'bytes=0-1', 'If-Range': etag }).answer;
    expect(response.status).toBe(206);
  });
});

describe('a condition', () => {
  it.each([
    ['If-None-Match', etag, 304],
    ['If-None-Match', `W/${etag}`, 304],
    ['If-None-Match', '*', 304],
    ['If-Match', '"other"', 412],
  ])('%s: %s is answered without reading: %i', async (name, value, status) => {
    const source = { ...memorySource(small), read: async () => Promise.reject(new Error('was read')) };
    const { answer, told } = ask(source, { [name]: value, Range: 'bytes=0-1' });
    const response = await answer;
    expect(response.status).toBe(status);
    expect(response.headers.get('ETag')).toBe(etag);
    if (status === 304) expect(response.headers.get('Cache-Control')).toBe('max-age=60');
    expect(response.body).toBeNull();
    expect(told.ended).toEqual(['whole']);
  });

  it('that fails comes before a range that cannot be satisfied', async () => {
    const headers = { 'If-None-Match': etag, Range: 'bytes=99999-' };
    expect((await ask(memorySource(small), headers).answer).status).toBe(304);
  });

  it('and a range are ignored for an error document', async () => {
    const headers = { 'If-None-Match': etag, Range: 'bytes=0-1' };
    const response = await ask(memorySource(small), headers, { status: 404 }).answer;
    expect(response.status).toBe(404);
    expect(response.headers.get('Cache-Control')).toBe('no-store');
    expect(response.headers.has('ETag')).toBe(false);
    expect(await bytesOf(response)).toHaveLength(1000);
  });
});

describe('an error', () => {
  it('before the first byte is thrown, so that it becomes a status', async () => {
    await expect(ask(failing(0)).answer).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const source = {
      ...memorySource(small),
      read: async () => Promise.reject(new AntwayError('OFFLINE', 'no')),
    };
    await expect(ask(source).answer).rejects.toMatchObject({ code: 'OFFLINE' });
  });

  it('after the first byte makes the body fail instead of ending early', async () => {
    const { answer, told } = ask(failing(2));
    const response = await answer;
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(told).toEqual({ sent: 2 * limits.streamPieceBytes, ended: ['NOT_FOUND'] });
  });

  it('because the page aborted is not a failure', async () => {
    const controller = new AbortController();
    const { answer, told } = ask(memorySourceInPieces(), {}, { signal: controller.signal });
    const reader = (await answer).body!.getReader();
    await reader.read();
    controller.abort(new Error('gone'));
    await expect(reader.read()).rejects.toThrow('gone');
    expect(told.ended).toEqual(['whole']);
  });

  it('and a body that is cancelled are each reported once', async () => {
    const { answer, told, left } = ask(memorySourceInPieces());
    const reader = (await answer).body!.getReader();
    await reader.read();
    await reader.cancel('a seek');
    expect(left).toEqual(['a seek']);
    expect(told.ended).toEqual(['whole']);
  });
});

function memorySourceInPieces(): ByteSource {
  return randomAccessSource({ size: large.length, read: async (start, end) => large.subarray(start, end) });
}
