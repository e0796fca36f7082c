// @module-tag slow
// @module-tag linux
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { buildCli } from '../../src/cli/setup.mjs';
import { s3Location } from '../../src/publish/s3-location.ts';
import { S3Target } from '../../src/publish/s3-target.ts';
import { uploadTo } from '../../src/publish/upload.ts';
import { createPublisher } from '../../src/publisher/index.ts';
import { type AntS3Options, s3Sink } from '../../src/publisher/s3.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { runCli } from '../support/cli-process.ts';
import { LoopbackServer } from '../support/loopback-server.ts';
import { NodePeerProcess } from '../support/node-peer-process.ts';
import { randomBytes } from '../support/random.ts';
import { S3Server } from '../support/s3-server.ts';

// A busy machine may leave the server without processor time for seconds. Then the upload is tried again.
vi.setConfig({ testTimeout: 300_000 });

const never = new AbortController().signal;
const text = new Blob(['abcdefghijklmnopqrstuvwxyz']);

let server: S3Server;
beforeAll(async () => {
  server = await S3Server.start();
}, 120_000);
afterAll(() => server?.stop());

const optionsFor = ({ url, credentials }: S3Server): AntS3Options => ({
  ...{ endpoint: url, credentials, region: 'eu-test-1' },
});

async function publishTo(store: string, options: AntS3Options, content: Blob | Uint8Array = text) {
  return createPublisher({ sink: s3Sink(store, options) }).publish(content);
}

describe('the store', () => {
  it.each([
    ['s3://bucket', 'https://s3.us-east-1.amazonaws.com/bucket/x'],
    ['s3://bucket/', 'https://s3.us-east-1.amazonaws.com/bucket/x'],
    ['s3://bucket/a/b/', 'https://s3.us-east-1.amazonaws.com/bucket/a/b/x'],
    ['s3://my.bucket-1/a%20b/ü+', 'https://s3.us-east-1.amazonaws.com/my.bucket-1/a%20b/%C3%BC%2B/x'],
  ])('%s has its objects at %s', (name, url) => {
    expect(s3Location(name, {}).urlOf('x')).toBe(url);
  });

  it('is at the endpoint, in the path or in the host', () => {
    const urlOf = (settings: object) => s3Location('s3://bucket/v1', settings).urlOf('x');
    expect(urlOf({ endpoint: 'https://s3.example:9000/' })).toBe('https://s3.example:9000/bucket/v1/x');
    expect(urlOf({ endpoint: 'https://bucket.s3.example', virtualHosted: true })).toBe(
      'https://bucket.s3.example/v1/x',
    );
    expect(urlOf({ region: 'eu-west-1', virtualHosted: true })).toBe(
      'https://bucket.s3.eu-west-1.amazonaws.com/v1/x',
    );
    expect(urlOf({ region: 'cn-north-1', virtualHosted: true })).toBe(
      'https://bucket.s3.cn-north-1.amazonaws.com.cn/v1/x',
    );
    expect(urlOf({ endpoint: 'http://10.0.0.1:9000', allowHttp: true })).toBe(
      'http://10.0.0.1:9000/bucket/v1/x',
    );
  });

  it.each([
    ['s3://', {}],
    ['s3:bucket', {}],
    ['https://bucket', {}],
    ['s3://b/x', {}],
    ['s3://user:word@bucket/x', {}],
    ['s3://bucket/a//b', {}],
    ['s3://bucket/../other', {}],
    ['s3://bucket/%2e%2e/other', {}],
    ['s3://bucket/a%2Fb', {}],
    ['s3://bucket/a%0Ab', {}],
    ['s3://bucket/%', {}],
    ['s3://bucket/a?versionId=1', {}],
    ['s3://bucket', { region: 'x.example/' }],
    ['s3://bucket', { endpoint: 'http://10.0.0.1:9000' }],
    ['s3://bucket', { endpoint: 'file:///etc' }],
    ['s3://bucket', { endpoint: 'https://user:word@s3.example' }],
    ['s3://bucket', { endpoint: 'https://s3.example/?x' }],
  ])('%s with %j is BAD_CONFIG, without passwords in the message', (name, settings) => {
    const message = expect.not.stringContaining('user:word');
    expect(() => s3Location(name, settings)).toThrow(
      expect.objectContaining({ code: 'BAD_CONFIG', message }),
    );
  });

  it('is checked by s3Sink, with its options', () => {
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
    const create = (store: unknown, options: unknown) => () =>
      s3Sink(store as string, options as AntS3Options);
    expect(create('s3://b/x', { credentials })).toThrow(
      expect.objectContaining({ name: 'AntError', code: 'BAD_CONFIG' }),
    );
    expect(create('s3://bucket', { credentials, regoin: 'x' })).toThrow(/no option “regoin”/);
    expect(create('s3://bucket', {})).toThrow(TypeError);
    expect(create('s3://bucket', { credentials: { ...credentials, secretAccessKey: '' } })).toThrow(
      TypeError,
    );
    expect(create(5, { credentials })).toThrow(TypeError);
    expect(create('s3://bucket', { credentials, allowHttp: 'false' })).toThrow(
      /“allowHttp” must be a boolean/,
    );
    expect(create('s3://bucket', { credentials, endpoint: null })).toThrow(/“endpoint” must be a string/);
  });
});

describe('a server that checks signatures', () => {
  it('has each chunk as an object that is named by its address', async () => {
    const bytes = randomBytes(5_000_000);
    const published = await publishTo('s3://chunks/v1', optionsFor(server), bytes);
    expect(published).toMatchObject({ chunks: 4, presentChunks: 0 });
    const names = server.list('v1');
    expect(names).toHaveLength(4);
    expect(names).toContain(published.address);
    const blake3 = await loadBlake3();
    for (const name of names) {
      expect(Address.fromBytes(blake3(server.read(`v1/${name}`))).hex).toBe(name);
    }
  });

  it('gets what it has not, and what it has with another size', async () => {
    const options = optionsFor(server);
    const { address } = await publishTo('s3://chunks/again', options);
    const right = server.read(`again/${address}`);
    await server.write(`again/${address}`, right.subarray(1));
    expect(await publishTo('s3://chunks/again', options)).toMatchObject({
      presentChunks: 3,
      uploadedBytes: right.length,
    });
    expect(server.read(`again/${address}`).equals(right)).toBe(true);
  });

  it.each(['s3://chunks', 's3://chunks/a b', 's3://chunks/%C3%BC/1+1=2', "s3://chunks/(it's)*!~"])(
    'takes chunks at %s',
    async (store) => {
      const { address } = await publishTo(store.replaceAll(' ', '%20'), optionsFor(server));
      const prefix = decodeURIComponent(store.slice('s3://chunks'.length));
      expect(server.list(prefix)).toContain(address);
    },
  );

  it('refuses wrong credentials and a bucket that is not there, with a code', async () => {
    const options = optionsFor(server);
    const credentials = { ...server.credentials, secretAccessKey: 'wrong' };
    const wrong = await publishTo('s3://chunks/no', { ...options, credentials }).catch((error) => error);
    expect(wrong).toMatchObject({ name: 'AntError', code: 'REFUSED' });
    expect(wrong.message).toMatch(/^s3:\/\/chunks\/no did not take chunk .*SignatureDoesNotMatch/);
    expect(wrong.message).not.toContain('wrong');
    await expect(publishTo('s3://absent/no', options)).rejects.toMatchObject({
      code: 'BAD_CONFIG',
      message: expect.stringContaining('NoSuchBucket'),
    });
    expect(server.list('no')).toEqual([]);
  });

  it('is asked with the credentials of the moment', async () => {
    const all = [server.credentials, { ...server.credentials, accessKeyId: 'ROTATED' }];
    const seen: string[] = [];
    await using proxy = await LoopbackServer.start((request, response) => {
      seen.push(/Credential=(\w+)/.exec(request.headers.authorization ?? '')![1]!);
      response.writeHead(request.method === 'HEAD' ? 404 : 200).end();
    });
    let calls = 0;
    const credentials = async () => all[Math.min(1, Math.floor(calls++ / 4))]!;
    await publishTo('s3://chunks', { ...optionsFor(server), endpoint: proxy.url, credentials });
    expect(new Set(seen)).toEqual(new Set(['AKIDTEST', 'ROTATED']));
    const failing = async () => {
      throw new Error('the vault is locked');
    };
    await expect(
      publishTo('s3://chunks', { ...optionsFor(server), credentials: failing }),
    ).rejects.toMatchObject({ code: 'REFUSED', message: expect.stringContaining('the vault is locked') });
  });
});

describe('credentials', () => {
  const endpoint = 'http://127.0.0.1:1';

  it.each([
    ['accessKeyId', 'AKID\r\nX-Injected: 1'],
    ['sessionToken', 'temporary\ntoken'],
    ['sessionToken', 'temporary tökén'],
  ])('with %s %j are refused before a request, and are in no message', async (key, value) => {
    const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret', [key]: value };
    const error = await publishTo('s3://chunks', { endpoint, credentials }).catch((error) => error);
    expect(error).toMatchObject({ name: 'AntError', code: 'REFUSED' });
    let shown = '';
    for (let cause = error; cause; cause = cause.cause) shown += `${cause.stack}${JSON.stringify(cause)}`;
    expect(shown).not.toMatch(/AKID|Injected|temporary|secret/);
  });

  it('that never come are left when the caller aborts', async () => {
    const controller = new AbortController();
    const credentials = () => {
      controller.abort('why');
      return new Promise<never>(() => undefined);
    };
    const publisher = createPublisher({ sink: s3Sink('s3://chunks', { endpoint, credentials }) });
    await expect(publisher.publish(text, { signal: controller.signal })).rejects.toBe('why');
  });
});

/** A store that answers `PUT` as told, and has nothing. */
async function storeThat(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: string[] = [];
  const store = await LoopbackServer.start((request, response) => {
    requests.push(request.method!);
    if (request.method === 'HEAD') return response.writeHead(404).end();
    request.resume().on('end', () => answer(request, response));
  });
  onTestFinished(() => store.stop());
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
  const target = new S3Target(s3Location('s3://chunks/v1', { endpoint: store.url }), async () => credentials);
  const sink = uploadTo([target], { firstRetryMs: 1 });
  const bytes = new TextEncoder().encode('a chunk');
  const chunk = { address: Address.fromBytes((await loadBlake3())(bytes)), bytes };
  return { requests, put: (signal: AbortSignal = never) => sink.store(chunk, signal) };
}

const xml = (code: string) =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>A reason</Message></Error>`;

describe('a store that fails', () => {
  it.each([
    [403, 'AccessDenied', 'REFUSED'],
    [403, 'RequestTimeTooSkewed', 'REFUSED'],
    [400, 'ExpiredToken', 'REFUSED'],
    [404, 'NoSuchBucket', 'BAD_CONFIG'],
    [400, 'AuthorizationHeaderMalformed', 'BAD_CONFIG'],
    [301, 'PermanentRedirect', 'BAD_CONFIG'],
    [307, 'TemporaryRedirect', 'BAD_CONFIG'],
    [400, 'EntityTooLarge', 'TOO_LARGE'],
    [507, 'InsufficientStorage', 'TOO_LARGE'],
    [501, 'NotImplemented', 'UNSUPPORTED'],
  ])('with %i and %s ends the upload with %s', async (status, code, expected) => {
    const store = await storeThat((_, response) => response.writeHead(status).end(xml(code)));
    await expect(store.put()).rejects.toMatchObject({
      code: expected,
      message: expect.stringContaining(`${code}: A reason`),
    });
    expect(store.requests).toEqual(['HEAD', 'PUT']);
  });

  it.each([
    ['SlowDown', (response: ServerResponse) => response.writeHead(503).end(xml('SlowDown'))],
    ['RequestTimeout', (response: ServerResponse) => response.writeHead(400).end(xml('RequestTimeout'))],
    ['a full queue', (response: ServerResponse) => response.writeHead(429).end()],
    ['a broken connection', (response: ServerResponse) => response.socket!.destroy()],
  ])('with %s is tried again', async (_, fail) => {
    let failures = 2;
    const store = await storeThat((_, response) => {
      if (failures-- > 0) fail(response);
      else response.writeHead(200).end();
    });
    expect(await store.put()).toBe('stored');
    expect(store.requests.filter((method) => method === 'PUT')).toHaveLength(3);
  });

  it('for good is given up after some tries', async () => {
    const store = await storeThat((_, response) => response.writeHead(500).end('<html>'));
    await expect(store.put()).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
      message: expect.stringMatching(/after 5 tries: .*HTTP status 500/),
    });
  });

  it('never is followed to another host, which would get the signature', async () => {
    let isAsked = false;
    await using other = await LoopbackServer.start((_, response) => {
      isAsked = true;
      response.writeHead(200).end();
    });
    const store = await storeThat((_, response) =>
      response.writeHead(307, { Location: `${other.url}/chunks/x` }).end(),
    );
    await expect(store.put()).rejects.toMatchObject({ code: 'BAD_CONFIG' });
    expect(isAsked).toBe(false);
  });

  it('with an endless answer is cut off', async () => {
    const store = await storeThat((_, response) => {
      response.writeHead(403);
      const more = () =>
        response.destroyed || response.write('<Code>'.repeat(10_000), () => setImmediate(more));
      more();
    });
    await expect(store.put()).rejects.toMatchObject({ code: 'REFUSED' });
  });

  it('without an answer is left at once when the caller aborts', async () => {
    const controller = new AbortController();
    const store = await storeThat(() => controller.abort('why'));
    await expect(store.put(controller.signal)).rejects.toBe('why');
  });

  it('gets a hash of the bytes with the signature', async () => {
    const headers: IncomingMessage['headers'][] = [];
    const store = await storeThat((request, response) => {
      headers.push(request.headers);
      response.writeHead(200).end();
    });
    await store.put();
    expect(headers[0]!['x-amz-content-sha256']).toMatch(/^[0-9a-f]{64}$/);
    expect(headers[0]!.authorization).toMatch(/SignedHeaders=host;x-amz-content-sha256;x-amz-date/);
  });
});

describe('the command', () => {
  const folder = mkdtempSync(join(tmpdir(), 'antway-s3-'));
  const file = join(folder, 'file.txt');
  beforeAll(async () => {
    await buildCli();
    writeFileSync(file, 'from the command');
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('publish --to stores in a bucket', async () => {
    const to = 's3://chunks/cli';
    const first = await runCli(['publish', file, '--to', to, '--json'], { env: server.env });
    expect([first.code, first.stderr]).toEqual([0, '']);
    const { address, chunks, ...rest } = JSON.parse(first.stdout);
    expect(rest).toMatchObject({ to: [to], presentChunks: 0 });
    expect(rest).not.toHaveProperty('peers');
    expect(server.list('cli')).toHaveLength(chunks);
    const env = { ...server.env, ANTWAY_GATEWAY: 'https://gateway.example' };
    const again = await runCli(['publish', file, '--to', to], { env });
    expect(again.stdout).toBe(`${address}\nhttps://gateway.example/${address}/file.txt\n`);
    expect(again.stderr).toContain('4 of them already there; 0 bytes written to s3://chunks/cli.');
  });

  it('pin --to copies to a bucket', async () => {
    const peer = await NodePeerProcess.start(join(folder, 'store'), '--allow-open-writes');
    onTestFinished(() => peer.stop());
    const { address } = JSON.parse((await runCli(['publish', file, '--peer', peer.url, '--json'])).stdout);
    const args = ['pin', address, '--peer', peer.url, '--to', 's3://chunks/pinned', '--json'];
    const { code, stdout } = await runCli(args, { env: server.env });
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      expect.objectContaining({ to: ['s3://chunks/pinned'], chunks: 4, uploaded: 4 }),
    ]);
    expect(server.list('pinned')).toContain(address);
  });

  it.each<[string, string[], Record<string, string>, number, RegExp]>([
    [
      'no credentials',
      ['--to', 's3://chunks'],
      { AWS_SECRET_ACCESS_KEY: '' },
      2,
      /^USAGE: .*AWS_ACCESS_KEY_ID/,
    ],
    ['wrong ones', ['--to', 's3://chunks'], { AWS_ACCESS_KEY_ID: 'WRONG' }, 6, /^REFUSED: s3:\/\/chunks /],
    ['no bucket', ['--to', 's3://'], {}, 2, /^BAD_CONFIG: /],
    ['no such bucket', ['--to', 's3://absent'], {}, 2, /^BAD_CONFIG: .*NoSuchBucket/],
    ['a peer', ['--to', 'https://peer.example'], {}, 2, /^USAGE: .*--peer/],
    ['two places', ['--to', 's3://chunks', '--out', 'x'], {}, 2, /^USAGE: Give --out or --to/],
    [
      'a bad endpoint',
      ['--to', 's3://chunks'],
      { AWS_ENDPOINT_URL: 'http://10.0.0.1' },
      2,
      /^BAD_CONFIG: .*endpoint/,
    ],
  ])('ends with a code for %s', async (_, args, env, code, message) => {
    const result = await runCli(['publish', file, ...args], { env: { ...server.env, ...env } });
    expect([result.code, result.stdout]).toEqual([code, '']);
    expect(result.stderr).toMatch(message);
    expect(result.stderr).not.toContain(server.credentials.secretAccessKey);
  });
});
