// @module-tag isolated
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { type AntArchive, type AntError, type AntFile, createAntFetch } from '../../src/fetch/index.ts';
import { openStore } from '../../src/fetch/store.ts';
import { NodePeer } from '../../src/node-peer/node-peer.ts';
import { MemoryPeerStore } from '../../src/node-peer/peer-store.ts';
import { loadBlake3 } from '../../src/self-encryption/blake3.ts';
import { Stats } from '../../src/stats/stats.ts';
import { freePort } from '../support/loopback-server.ts';
import { linkOf, makePrivateManifest } from '../support/manifests.ts';
import { noise, publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';

const text = 'abcdefghijklmnopqrstuvwxyz';
const large = noise(7, 9_000_000);
const absent = 'ab'.repeat(32);

let peer: NodePeer;
const store = new MemoryPeerStore(100_000_000);
let file: string;
let film: string;
let site: string;
const sink = {
  put: async (hex: string, bytes: Uint8Array) => void (await store.write(Address.fromHex(hex), bytes)),
};
const clients: { close(): Promise<void> }[] = [];

function client(options: Partial<Parameters<typeof createAntFetch>[0]> = {}) {
  const antFetch = createAntFetch({ peers: [peer.url], ...options });
  clients.push(antFetch);
  return antFetch;
}

/** The error of a promise, without a result. */
async function errorOf(promise: Promise<unknown>): Promise<AntError> {
  return promise.then(
    () => expect.fail('It did not fail.'),
    (error) => error,
  );
}

beforeAll(async () => {
  const blake3 = await loadBlake3();
  peer = await NodePeer.start({ listen: ['127.0.0.1:0'], store, blake3, write: 'none', version: '0' });
  file = await publish(Buffer.from(text), sink);
  film = await publish(large, sink);
  site = await publish(
    await makeTarchive({
      'index.html': '<!doctype html><title>Home</title>',
      'docs/index.html': '<!doctype html><title>Docs</title>',
      'docs/100% a.txt': text,
      'folder/constructor': 'no prototype',
      ['__proto__']: 'own',
    }),
    sink,
  );
});

afterEach(() => Promise.all(clients.splice(0).map((each) => each.close())));
afterAll(() => peer.close());

describe('antFetch', () => {
  it('accepts an address in every printed form, a URL and a Request', async () => {
    const antFetch = client({ names: { letters: file } });
    const base32 = Address.fromHex(file).base32;
    const inputs = [
      ...[file, file.toUpperCase(), base32, `ant://${file}`, `autonomi://${file}`, `web+ant://${file}`],
      ...[
        `https://gateway.example/${file}`,
        `https://${base32}.gateway.example/`,
        'letters',
        'ant://letters',
        '~letters',
        'ant://~letters',
        'ant://~letters/',
        'web+ant:~letters',
        new URL('ant://~letters'),
      ],
      ...[new URL(`ant://${file}`), new Request(`ant://${file}`)],
    ];
    for (const input of inputs) expect(await (await antFetch(input)).text()).toBe(text);
  });

  it('accepts a manifest link, which may contain the only keys', async () => {
    const link = linkOf(
      await makePrivateManifest('both', { 'a.txt': 'first', 'folder/b.txt': 'second' }, sink),
    );
    const antFetch = client();
    expect(await (await antFetch(`${link}/folder/b.txt`)).text()).toBe('second');
    expect(((await antFetch.open(link)) as AntArchive).entries()).toHaveLength(2);
    expect(await errorOf(antFetch('ant://manifest/%%%'))).toMatchObject({ code: 'BAD_ADDRESS' });
    expect(await errorOf(antFetch(link.slice(0, -10)))).toMatchObject({
      code: 'BAD_ADDRESS',
      message: expect.stringContaining('incomplete'),
    });
  });

  it('answers with the headers of a gateway, and without its policy', async () => {
    const response = await client()(`ant://${site}/docs/`);
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('Content-Length')).toBe('34');
    expect(response.headers.get('ETag')).toContain(site);
    expect(response.headers.has('Content-Security-Policy')).toBe(false);
  });

  it('reads a range, honours a precondition, and answers HEAD without a body', async () => {
    const antFetch = client();
    const part = await antFetch(film, { headers: { Range: 'bytes=5000000-5000009' } });
    expect(part.status).toBe(206);
    expect(part.headers.get('Content-Range')).toBe('bytes 5000000-5000009/9000000');
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(new Uint8Array(large.subarray(5e6, 5e6 + 10)));
    const etag = part.headers.get('ETag')!;
    expect((await antFetch(film, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    const head = await antFetch(film, { method: 'HEAD' });
    expect(head.headers.get('Content-Length')).toBe('9000000');
    expect(head.body).toBe(null);
  });

  it('follows the redirects of a site', async () => {
    expect(await (await client()(site)).text()).toContain('Home');
    expect(await (await client()(`${site}/docs`)).text()).toContain('Docs');
  });

  it('streams with progress', async () => {
    const seen: number[] = [];
    const response = await client()(film, {
      onProgress: ({ loaded, total }) => {
        expect(total).toBe(large.length);
        seen.push(loaded);
      },
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(large)).toBe(true);
    expect(seen.length).toBeGreaterThan(3);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(large.length);
  });

  it('aborts before the answer, and in the middle of a body', async () => {
    const antFetch = client();
    await expect(antFetch(film, { signal: AbortSignal.abort('why') })).rejects.toBe('why');
    const controller = new AbortController();
    const reader = (await antFetch(film, { signal: controller.signal })).body!.getReader();
    expect((await reader.read()).done).toBe(false);
    controller.abort();
    await expect(reader.read()).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('ends a body whose progress cannot be told, with the error of that function', async () => {
    const onProgress = () => {
      throw new RangeError('no room for the bar');
    };
    const response = await client()(film, { onProgress });
    await expect(response.arrayBuffer()).rejects.toThrow('no room for the bar');
  });

  it('attaches nothing of unread answers to the client itself', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const antFetch = client();
    const unread = await Promise.all(Array.from({ length: 24 }, () => antFetch(film)));
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', note);
    expect(unread.map(({ status }) => status)).toEqual(unread.map(() => 200));
    expect(warnings).toEqual([]);
  });

  it('throws a TypeError for an input or a header of a wrong type', async () => {
    const antFetch = client();
    await expect(antFetch(5 as never)).rejects.toThrow(TypeError);
    await expect(antFetch(file, { headers: { 'a b': 'c' } })).rejects.toThrow(TypeError);
    await expect(antFetch.open(null as never)).rejects.toThrow(TypeError);
  });

  it('never lets a consumer change what others read', async () => {
    const antFetch = client();
    const opened = (await antFetch.open(film)) as AntFile;
    (await opened.read(0, 100)).fill(0);
    expect(Buffer.from(await opened.read(0, 100)).equals(large.subarray(0, 100))).toBe(true);
  });
});

describe('open', () => {
  it('opens a file, which has reads, streams and a Blob', async () => {
    const opened = (await client().open(`ant://${film}/film.mp4`)) as AntFile;
    expect(opened).toMatchObject({ kind: 'file', address: film, name: 'film.mp4', size: large.length });
    expect(opened.type).toBe('video/mp4');
    expect(
      Buffer.from(await opened.read(4_194_300, 4_194_310)).equals(large.subarray(4_194_300, 4_194_310)),
    ).toBe(true);
    const stream = opened.stream({ start: 8_999_990 });
    expect(Buffer.from(await new Response(stream).arrayBuffer()).equals(large.subarray(-10))).toBe(true);
    expect((await opened.blob()).size).toBe(large.length);
    expect((await errorOf(opened.read(0, large.length + 1))).code).toBe('BAD_RANGE');
    expect((await errorOf(opened.read(0.5, 1))).code).toBe('BAD_RANGE');
  });

  it('opens an archive, its members and its folders', async () => {
    const antFetch = client();
    const archive = (await antFetch.open(site)) as AntArchive;
    expect(archive.entries().map(({ path }) => path)).toContain('docs/100% a.txt');
    const member = await archive.get('docs/100% a.txt');
    expect(await (await member.blob()).text()).toBe(text);
    expect(member.type).toBe('text/plain; charset=utf-8');
    const folder = (await antFetch.open(`ant://${site}/docs`)) as AntArchive;
    expect(
      folder
        .entries()
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['100% a.txt', 'index.html']);
    expect((await folder.get('100% a.txt')).size).toBe(text.length);
    expect((await antFetch.open(`ant://${site}/docs/100%25%20a.txt`)).kind).toBe('file');
    expect((await antFetch.open(`${site}/docs/100% a.txt`)).kind).toBe('file');
    for (const path of ['toString', '../index.html', 'docs', '']) {
      expect((await errorOf(archive.get(path))).code).toBe('NOT_FOUND');
    }
    expect(await (await (await archive.get('__proto__')).blob()).text()).toBe('own');
  });

  it('honours the signal of a Request', async () => {
    const reason = new Error('no longer needed');
    const request = new Request(`https://gateway.example/${file}`, { signal: AbortSignal.abort(reason) });
    await expect(client().open(request)).rejects.toBe(reason);
  });

  it('stores what it fetched before close resolves, however often it is called', async () => {
    const begun: string[] = [];
    const stored: string[] = [];
    const slow = {
      get: async () => undefined,
      put: async (address: string) => {
        begun.push(address);
        await new Promise((resolve) => setTimeout(resolve, 100));
        stored.push(address);
      },
    };
    const antFetch = client({ store: slow });
    const response = await antFetch(film);
    await response.body!.getReader().read();
    const closing = antFetch.close();
    expect(antFetch.close()).toBe(closing);
    await closing;
    expect(begun.length).toBeGreaterThan(0);
    expect(stored).toEqual(begun);
  });

  it('fails with the reason after close', async () => {
    const antFetch = client();
    const opened = (await antFetch.open(film)) as AntFile;
    const reader = opened.stream().getReader();
    await reader.read();
    await antFetch.close();
    await expect(reader.read()).rejects.toMatchObject({ name: 'AbortError' });
    await expect(antFetch(film)).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('errors', () => {
  it('have a code, a status and the attempts', async () => {
    const error = await errorOf(client()(absent));
    expect(error).toMatchObject({ name: 'AntError', code: 'NOT_FOUND', status: 404 });
    expect(error.attempts).toMatchObject([{ peer: peer.url, transport: 'http', code: 'NOT_FOUND' }]);
    expect(await errorOf(client()(`${site}/none.txt`))).toMatchObject({ code: 'NOT_FOUND', status: 404 });
  });

  it.each([
    '',
    'https://example.com',
    'ftp://x/y',
    `0x${'1'.repeat(64)}`,
    '1'.repeat(63),
    `ant://${'x'.repeat(1e6)}`,
  ])('tell that the input is no address, in a short message', async (input) => {
    const error = await errorOf(client()(input));
    expect(error).toMatchObject({ name: 'AntError', code: 'BAD_ADDRESS', status: 400 });
    expect(error.message.length).toBeLessThan(400);
  });

  it.each(['toString', 'constructor', 'unknown'])('tell that %s is no name', async (name) => {
    expect(await errorOf(client({ names: { letters: file } })(name))).toMatchObject({ code: 'NOT_FOUND' });
    const own = client({ names: JSON.parse(`{"${name}":"${file}"}`) });
    expect(await (await own(`ant://${name}`)).text()).toBe(text);
  });

  it.each([
    '~unknown',
    'ant://~unknown/',
    'letters@list',
    '~',
    '~~letters',
    'ant://~..',
    'ant://~letters%2f',
  ])('tell that %s is neither an address nor a name', async (name) => {
    const error = await errorOf(client({ names: { letters: file } })(name));
    expect(['NOT_FOUND', 'BAD_ADDRESS']).toContain(error.code);
  });

  it('tell that no peer is reachable', async () => {
    const error = await errorOf(client({ peers: [`http://127.0.0.1:${await freePort()}`] })(file));
    expect(error).toMatchObject({ code: 'PEERS_UNREACHABLE', status: 504 });
    expect(error.attempts.length).toBeGreaterThan(0);
  });

  it('refuse a write, a range past the end and an unknown format', async () => {
    expect(await errorOf(client()(file, { method: 'PUT' }))).toMatchObject({ code: 'METHOD', status: 405 });
    const range = { headers: { Range: 'bytes=99-' } };
    expect(await errorOf(client()(file, range))).toMatchObject({ code: 'BAD_RANGE', status: 416 });
    expect(await errorOf(client()(`ant://${site}?format=x`))).toMatchObject({ code: 'UNSUPPORTED' });
  });

  it('survive a huge header', async () => {
    const headers = { Range: `bytes=${'9'.repeat(1e6)}-`, 'If-None-Match': '"'.repeat(1_000_001) };
    expect(await errorOf(client()(file, { headers }))).toMatchObject({ code: 'BAD_RANGE' });
  });

  describe('of peers that lie', () => {
    let liar: Server;
    beforeAll(async () => {
      // It changes one byte of every chunk.
      liar = createServer(async ({ url = '' }, response) => {
        const bytes = url.startsWith('/chunk/') ? await store.read(Address.fromHex(url.slice(7))) : undefined;
        if (!bytes) return void response.writeHead(404).end();
        const changed = Buffer.from(bytes);
        changed[0]! ^= 1;
        response.end(changed);
      }).listen(0, '127.0.0.1');
      await once(liar, 'listening');
    });
    afterAll(() => liar.close());
    const lies = () => `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;

    it('tell that the bytes are wrong, and store none of them', async () => {
      const puts: string[] = [];
      const kept = { get: async () => undefined, put: async (address: string) => void puts.push(address) };
      const error = await errorOf(client({ peers: [lies()], store: kept })(file));
      expect(error).toMatchObject({ code: 'CORRUPT', status: 502 });
      expect(error.attempts).toMatchObject([{ peer: lies(), stage: 'verify', code: 'CORRUPT' }]);
      expect(puts).toEqual([]);
    });

    it('do not appear if another peer is honest', async () => {
      const response = await client({ peers: [lies(), peer.url] })(film);
      expect(Buffer.from(await response.arrayBuffer()).equals(large)).toBe(true);
    });
  });
});

describe('the options', () => {
  it('are checked, so that none is ignored', async () => {
    const peers = ['http://127.0.0.1:1'];
    const create = (options: unknown) => () => createAntFetch(options as { peers: string[] });
    expect(create({ peers, nmaes: {} })).toThrow(/no option “nmaes”/);
    expect(create(undefined)).toThrow(TypeError);
    expect(create({ peers: [] })).toThrow(/at least one/);
    expect(create({ peers, store: 'disk' })).toThrow(TypeError);
    expect(create({ peers, store: 'indexeddb' })).toThrow(/does not have/);
    expect(create({ peers: ['/'] })).toThrow(/host of a page/);
    expect(create({ peers: ['http://peer.example'] })).toThrow(
      expect.objectContaining({ code: 'BAD_CONFIG' }),
    );
    expect(create({ peers, names: { a: 'b' } })).toThrow(expect.objectContaining({ code: 'BAD_CONFIG' }));
    await expect(client()(file, { body: 'x' } as object)).rejects.toThrow(/no option “body”/);
  });

  it('include a store, whose bytes are verified and whose failures are misses', async () => {
    const map = new Map<string, Uint8Array>();
    const kept = {
      get: async (address: string) => map.get(address),
      put: async (address: string, bytes: Uint8Array) => void map.set(address, bytes),
    };
    await (await client({ store: kept })(film)).arrayBuffer();
    expect(map.size).toBeGreaterThan(2);
    const unreachable = [`http://127.0.0.1:${await freePort()}`];
    const offline = await client({ peers: unreachable, store: kept })(film);
    expect(Buffer.from(await offline.arrayBuffer()).equals(large)).toBe(true);
    for (const bytes of map.values()) bytes[0]! ^= 1;
    const again = await client({ store: kept })(film);
    expect(Buffer.from(await again.arrayBuffer()).equals(large)).toBe(true);
    const broken = { get: () => Promise.reject(new Error('x')), put: () => Promise.reject(new Error('y')) };
    expect(await (await client({ store: broken })(file)).text()).toBe(text);
  });

  it('include a store that never answers, past which reads go', async () => {
    const asked: string[] = [];
    const never = new Promise<never>(() => undefined);
    const stuck = {
      get: (address: string) => {
        asked.push(address);
        return never;
      },
      put: () => never,
    };
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const antFetch = client({ store: stuck });
      const reading = antFetch(film).then((response) => response.arrayBuffer());
      let bytes: ArrayBuffer | undefined;
      void reading.then((all) => {
        bytes = all;
      });
      for (let ms = 0; !bytes && ms < 20_000; ms += 100) {
        await new Promise((resolve) => setImmediate(resolve));
        await vi.advanceTimersByTimeAsync(100);
      }
      expect(bytes && Buffer.from(bytes).equals(large)).toBe(true);
      // The other chunks did not wait for the first one.
      expect(asked).toEqual([film]);
      const closing = antFetch.close();
      await vi.advanceTimersByTimeAsync(11_000);
      await closing;
    } finally {
      vi.useRealTimers();
    }
  });

  it('include a store whose writes never end, for which reads wait once', async () => {
    const writes: string[] = [];
    const stuck = {
      get: async () => undefined,
      put: (address: string) => {
        writes.push(address);
        return new Promise<never>(() => undefined);
      },
    };
    vi.useFakeTimers();
    try {
      const adapted = openStore(stuck, new Stats());
      const put = (n: number) => {
        const address = Address.fromHex(n.toString(16).padStart(64, '0'));
        return adapted.put({ address, bytes: new Uint8Array(1) } as Parameters<typeof adapted.put>[0]);
      };
      for (let n = 0; n < 8; n++) await put(n);
      let isPast = false;
      const ninth = put(8).then(() => {
        isPast = true;
      });
      await vi.advanceTimersByTimeAsync(9_000);
      expect(isPast).toBe(false);
      await vi.advanceTimersByTimeAsync(2_000);
      await ninth;
      await put(9);
      expect(writes).toHaveLength(8);
      const flushed = adapted.flush();
      await vi.advanceTimersByTimeAsync(11_000);
      await flushed;
    } finally {
      vi.useRealTimers();
    }
  });
});
