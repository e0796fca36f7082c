// @module-tag isolated
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { encodeManifest } from '../../src/content/manifest.ts';
import { DropInError } from '../../src/drop-in/error.ts';
import { watchEvents } from '../../src/page/events.ts';
import { pageManifests } from '../../src/page/manifests.ts';
import { pagePeers } from '../../src/page/peers.ts';
import type { AntPeer } from '../../src/page/types.ts';
import { workerRequests } from '../../src/page/worker-requests.ts';
import { FakeLocks, LockTable } from '../support/fake-locks.ts';
import { Freezer } from '../support/freezer.ts';

const never = new AbortController().signal;
const isFinal = (error: unknown) => error instanceof DropInError;

const peerNamed = (url: string): AntPeer => ({
  ...{ url, kind: 'antway', state: 'idle', answers: null, namedBy: null },
});

/** Requests that a worker answers by the name of the endpoint. */
function requestsTo(answer: (name: string, init?: RequestInit) => Response | Promise<Response>) {
  vi.stubGlobal('fetch', async (url: string, init?: RequestInit) => answer(url.split('/-/')[1]!, init));
  return workerRequests(Promise.resolve(), () => ['https://site.example/ant/', {}], never);
}

afterEach(() => void vi.unstubAllGlobals());

describe('a listener of events', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('gets the present state, and then each change once', async () => {
    const looks = [['a'], ['a'], ['a', 'b'], ['a', 'b']].map((urls) => urls.map(peerNamed));
    const seen: string[][] = [];
    const read = async () => (looks.length > 1 ? looks.shift() : looks[0])!;
    void watchEvents<'peers'>(read, (peers) => void seen.push(peers.map(({ url }) => url)), never, isFinal);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(seen).toEqual([['a'], ['a', 'b']]);
  });

  it('goes on after a failed look, and after an error of its own, which is reported', async () => {
    const reported: unknown[] = [];
    vi.stubGlobal('reportError', (error: unknown) => reported.push(error));
    let look = 0;
    const read = async () => {
      if (++look === 1) throw new TypeError('Failed to fetch');
      return [peerNamed(`${look}`)];
    };
    const own = new RangeError('no room for the list');
    const listener = vi.fn(() => {
      throw own;
    });
    void watchEvents<'peers'>(read, listener, never, isFinal);
    await vi.advanceTimersByTimeAsync(3_500);
    expect(listener.mock.calls.length).toBe(3);
    expect(reported).toEqual([own, own, own]);
  });

  it('is never called once it was ended, nor without a worker', async () => {
    const ending = new AbortController();
    const read = vi.fn(async () => {
      ending.abort();
      return [];
    });
    const listener = vi.fn();
    await watchEvents<'peers'>(read, listener, ending.signal, isFinal);
    const failing = async () => {
      throw new DropInError('WORKERS_UNAVAILABLE', 'This page has no worker.');
    };
    await watchEvents<'peers'>(failing, listener, never, isFinal);
    expect([read.mock.calls.length, listener.mock.calls.length]).toEqual([1, 0]);
  });
});

describe('a request to the worker', () => {
  it.each([
    ['{"code":"NOT_FOUND","message":"a reason"}', 'NOT_FOUND', 'a reason'],
    ['{"code":"OF_ANOTHER_VERSION","message":"a reason"}', 'INTERNAL', 'a reason'],
    ['{"code":"constructor","message":7}', 'INTERNAL', '7'],
    ['<html>', 'INTERNAL', 'The worker answered with HTTP status 404.'],
    ['null', 'INTERNAL', 'The worker answered with HTTP status 404.'],
  ])('that fails with %s has the code %s', async (body, code, message) => {
    const { json } = requestsTo(() => new Response(body, { status: 404 }));
    await expect(json('stats')).rejects.toMatchObject({ name: 'AntError', code, message });
  });

  it('fails with a code in a page whose content comes from a gateway', async () => {
    const place = () => ['https://gateway.example/', undefined] as [string, undefined];
    const { json } = workerRequests(Promise.resolve(), place, never);
    await expect(json('stats')).rejects.toMatchObject({ code: 'WORKERS_UNAVAILABLE' });
  });

  it('ends with the reason of the caller’s signal, and with that of the page', async () => {
    vi.stubGlobal('fetch', (_: string, { signal }: RequestInit) => {
      return new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)));
    });
    const [closing, own] = [new AbortController(), new AbortController()];
    const place = () => ['https://site.example/ant/', {}] as [string, object];
    const { request } = workerRequests(Promise.resolve(), place, closing.signal);
    const asked = [request('stats', { signal: own.signal }), request('stats')];
    await Promise.resolve();
    own.abort('mine');
    closing.abort('closed');
    expect(await Promise.allSettled(asked)).toMatchObject([{ reason: 'mine' }, { reason: 'closed' }]);
    await expect(request('stats')).rejects.toBe('closed');
  });
});

describe('the peers of a page', () => {
  beforeEach(() => void vi.stubGlobal('navigator', { locks: new FakeLocks(new LockTable(), new Freezer()) }));

  it('keep both changes of two pages at once', async () => {
    let settings: Record<string, unknown> = {};
    const peers = pagePeers(
      requestsTo(async (name, init) => {
        await new Promise((resolve) => setTimeout(resolve));
        if (name === 'settings' && init?.method === 'PUT') settings = JSON.parse(String(init.body));
        return Response.json(name === 'config' ? { peers: settings.peers ?? [] } : settings);
      }),
    );
    await Promise.all([peers.add('https://one.example'), peers.add('https://two.example')]);
    expect(settings.peers).toEqual(['https://one.example', 'https://two.example']);
    await expect(peers.remove('https://three.example')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await peers.remove('https://one.example');
    await expect(peers.remove('https://two.example')).rejects.toMatchObject({ code: 'BAD_CONFIG' });
  });

  it('are changed without a change of other settings', async () => {
    let settings: Record<string, unknown> = { transport: 'http' };
    const own = ['https://site.example', 'https://pinned.example:4433#sha-256=ab'];
    const peers = pagePeers(
      requestsTo((name, init) => {
        if (name === 'settings' && init?.method === 'PUT') settings = JSON.parse(String(init.body));
        if (name === 'config') return Response.json({ peers: settings.peers ?? own });
        return Response.json(settings);
      }),
    );
    await peers.add('https://PINNED.example:4433/#sha-256=cd');
    expect(settings).toEqual({
      transport: 'http',
      peers: [own[0], 'https://PINNED.example:4433/#sha-256=cd'],
    });
    await peers.remove('https://pinned.example:4433');
    expect(settings.peers).toEqual([own[0]]);
    await peers.reset();
    expect(settings).toEqual({ transport: 'http' });
  });
});

describe('a manifest', () => {
  it.each(['', 'ant://', 'ant://manifest/', 'ant://manifest/!', `ant://${'ab'.repeat(32)}`, 'javascript:x'])(
    'is no link in %j, and the worker is not asked',
    async (text) => {
      const manifests = pageManifests(requestsTo(() => Promise.reject(new Error('asked'))));
      await expect(manifests.add(text)).rejects.toMatchObject({ name: 'DropInError', code: 'BAD_ADDRESS' });
    },
  );

  it('is in no message and no URL', async () => {
    const urls: string[] = [];
    const manifests = pageManifests(
      requestsTo((name) => {
        urls.push(name);
        return Response.json({ code: 'CORRUPT', message: 'This is not a valid manifest.' }, { status: 502 });
      }),
    );
    const text = Buffer.from(encodeManifest({ name: 'secret', entries: [] })).toString('base64url');
    const failureOf = (text: string) =>
      manifests.add(`https://gateway.example/#manifest/${text}`).catch((error) => error);
    const errors = [await failureOf(text), await failureOf(text.slice(0, -4))];
    expect(errors).toMatchObject([{ code: 'CORRUPT' }, { name: 'DropInError', code: 'BAD_ADDRESS' }]);
    expect(errors[1].message).toContain('Copy the whole link');
    expect(`${errors} ${urls}`).not.toMatch(new RegExp(`${text.slice(0, 12)}|secret`));
    expect(urls).toEqual(['manifests']);
  });

  it.each([5, null, {}, ['a']])('is no value such as %j', async (value) => {
    const manifests = pageManifests(requestsTo(() => Response.json({})));
    await expect(manifests.add(value as never)).rejects.toMatchObject({ code: 'BAD_ADDRESS' });
  });
});
