// @module-tag isolated
import 'fake-indexeddb/auto';
import { createStore } from 'idb-keyval';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { nodePlatform } from '../../src/cli/platform.ts';
import { createGateway, type Gateway, type GatewayStore } from '../../src/gateway/create-gateway.ts';
import { deploymentAt } from '../../src/gateway/deployment.ts';
import { RecordHandover } from '../../src/gateway/origins/record-handover.ts';
import { limits } from '../../src/limits.ts';
import type { PrefetchOptions } from '../../src/peers/chunk-peers.ts';
import { Stats } from '../../src/stats/stats.ts';
import { Trace } from '../../src/stats/trace.ts';
import { PointerOwner } from '../support/pointers.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { encryptedFile, noise, type Records } from './support/encrypted-file.ts';
import { MemoryStore } from './support/fake-network.ts';
import { contextOf, linkTo, Network, requestOf } from './support/gateway.ts';

const root = 'http://antway.localhost:8080';
const buildHash = 'build';
const nothing = () => undefined;

let states = 0;

/** A store in memory, with the parts of a whole store that these tests use. */
function memoryStore(): MemoryStore & GatewayStore {
  const pins = createStore(`pins-${states++}`, 'pins');
  const inventories = createStore(`inventories-${states}`, 'inventories');
  return Object.assign(new MemoryStore(), {
    pins,
    inventories,
    drained: async () => {},
    sizes: async () => new Map(),
    onChange: () => nothing,
    setMaxBytes: async () => {},
  }) as unknown as MemoryStore & GatewayStore;
}

function start(origin: string, network: Network) {
  const store = memoryStore();
  const gateway = createGateway(deploymentAt(origin), {
    stats: new Stats(),
    store,
    state: createStore(`state-${states}`, 'state'),
    platform: nodePlatform,
    serverConfig: { stored: async () => undefined, fetch: async () => ({}) },
    peers: () => network,
    notify: nothing,
    buildHash,
  });
  return { gateway, store, network };
}

const post = (gateway: Gateway, address: Address) => {
  const body = JSON.stringify({ address: address.hex });
  const request = requestOf(`${root}/-/handed-records`, { method: 'POST', body }, 'fetch');
  return gateway.handle(request, contextOf(root));
};

async function handed(gateway: Gateway, address: Address): Promise<Blob[]> {
  const form = await (await post(gateway, address))!.formData();
  return form.getAll('record') as unknown as Blob[];
}

const navigate = (gateway: Gateway, url: string) =>
  gateway.handle(linkTo(url), contextOf(new URL(url).origin));

/** The settings that the gateway's origin gives to a site. */
const settings = JSON.stringify({
  settings: {},
  deniedHashes: [],
  runsScripts: true,
  appearance: { language: null, theme: null },
});

function give(gateway: Gateway, origin: string, records: readonly (Blob | string)[]) {
  const body = new FormData();
  body.set('settings', settings);
  for (const record of records) body.append('record', record as Blob);
  return gateway.handle(requestOf(`${origin}/-/origin`, { method: 'PUT', body }, 'fetch'), contextOf(origin));
}

async function siteOf(files: Record<string, string | Uint8Array>) {
  const { address, map, records } = await encryptedFile(await makeTarchive(files));
  const origin = root.replace('//', `//${address.base32}.`);
  return { address, map, records, origin };
}

const small = { 'index.html': '<!doctype html><title>Small</title>', 'note.txt': 'a note' };

beforeEach(() => {
  // The host answers the probe for names of sites.
  vi.stubGlobal('fetch', async () => Response.json({ antway: buildHash }));
});
afterEach(() => vi.unstubAllGlobals());

describe('the records with which the gateway’s origin found that a site has an origin of its own', () => {
  it('open the site there, without any request to a peer', async () => {
    const { address, map, records, origin } = await siteOf(small);
    // The peer sends all of a small archive with its map, and its end first.
    const prefetch = async (_: Address, __: unknown, { onRecord }: PrefetchOptions) => {
      for (const of of [address, map.address(2), map.address(0), map.address(1)]) {
        await onRecord(of, records.get(of.hex)!);
      }
    };
    const { gateway } = start(root, Object.assign(new Network(records), { prefetch }));
    expect((await navigate(gateway, `${root}/${address}/`))!.headers.get('Location')).toBe(`${origin}/`);
    const files = await handed(gateway, address);
    expect(files).toHaveLength(4);

    const site = start(origin, new Network(new Map()));
    expect((await give(site.gateway, origin, files))!.status).toBe(204);
    const answer = (await navigate(site.gateway, `${origin}/`))!;
    expect([answer.status, await answer.text()]).toEqual([
      200,
      expect.stringContaining('<title>Small</title>'),
    ]);
    expect(site.network.asked).toEqual([]);
  });

  it('are the same if the site was resolved before, in this worker or in another one', async () => {
    const files = { ...small, 'noise.bin': noise(9_000_000) };
    const { address, map, records } = await siteOf(files);
    const first = start(root, new Network(records));
    const addressesOf = async ({ gateway }: { gateway: Gateway }) => {
      await navigate(gateway, `${root}/${address}/`);
      const bytes = await Promise.all((await handed(gateway, address)).map((file) => file.bytes()));
      return bytes.map((record) => [...records].find(([, each]) => Buffer.compare(each, record) === 0)![0]);
    };
    const cold = await addressesOf(first);
    // The map, the chunk with the first file, and the one with the index: not the chunk in between.
    expect(map.count).toBe(3);
    expect(cold).toEqual([address, map.address(0), map.address(2)].map(({ hex }) => hex).sort());
    expect(await addressesOf(first)).toEqual(cold);
    // A frame or a script has read everything.
    await first.gateway
      .handle(requestOf(`${root}/${address}/noise.bin`, {}, 'fetch'), contextOf(root))
      .then((answer) => answer!.arrayBuffer());
    expect(first.store.held.size).toBe(4);
    expect(await addressesOf(first)).toEqual(cold);
  });

  it('are given once, after a navigation only, and only to the site', async () => {
    const [one, other] = await Promise.all([siteOf(small), siteOf({ ...small, 'note.txt': 'another note' })]);
    const { gateway } = start(root, new Network(new Map([...one.records, ...other.records])));
    const isOpen = async (url: string) =>
      (await gateway.handle(requestOf(url, {}, 'fetch'), contextOf(root)))!.ok;
    expect(await isOpen(`${root}/${one.address}/`)).toBe(true);
    expect(await handed(gateway, one.address)).toEqual([]);
    await navigate(gateway, `${root}/${one.address}/`);
    expect(await handed(gateway, other.address)).toEqual([]);
    expect(await handed(gateway, one.address)).not.toEqual([]);
    expect(await handed(gateway, one.address)).toEqual([]);
  });

  it('are not given for a pointer, whose owner could learn which targets are stored', async () => {
    const { address, records } = await siteOf(small);
    const owner = new PointerOwner(1);
    const pointers = new Map([[owner.address.hex, owner.sign(1n, address)]]);
    const { gateway } = start(root, new Network(records, pointers));
    const answer = (await navigate(gateway, `${root}/${owner.address}/`))!;
    expect(answer.headers.get('Location')).toBe(`${root.replace('//', `//${owner.address.base32}.`)}/`);
    expect(await handed(gateway, owner.address)).toEqual([]);
    expect(await handed(gateway, address)).toEqual([]);
  });

  it('are not given for files that stay on the gateway’s origin', async () => {
    const { address, records } = await siteOf(small);
    const { gateway } = start(root, new Network(records));
    expect((await navigate(gateway, `${root}/${address}/note.txt`))!.status).toBe(200);
    expect(await handed(gateway, address)).toEqual([]);
  });

  it('are not asked for with an invalid address, or by a page of content', async () => {
    const { gateway } = start(root, new Network(new Map()));
    const body = '{"address":"7"}';
    const request = () => requestOf(`${root}/-/handed-records`, { method: 'POST', body }, 'fetch');
    expect((await gateway.handle(request(), contextOf(root)))!.status).toBe(400);
    const client = async () => ({ url: `${root}/${'ab'.repeat(32)}/`, isTopLevel: true });
    expect((await gateway.handle(request(), { ...contextOf(root), client }))!.status).toBe(403);
  });
});

describe('a site’s own origin', () => {
  const bytesOf = (records: Records, { hex }: Address) => records.get(hex)!;

  it('stores what it gets under its hash, so that wrong bytes replace no record', async () => {
    const { address, map, records, origin } = await siteOf(small);
    const site = start(origin, new Network(records));
    const wrong = bytesOf(records, map.address(0)).slice();
    wrong[0]! ^= 1;
    await give(site.gateway, origin, [new Blob([wrong]), new Blob([bytesOf(records, address)])]);
    expect(site.store.held.has(map.address(0).hex)).toBe(false);
    expect(site.store.held.get(address.hex)).toEqual(bytesOf(records, address));
    expect(await (await navigate(site.gateway, `${origin}/`))!.text()).toContain('Small');
    expect(site.network.asked).not.toContain(address.hex);
    expect(site.network.asked).toContain(map.address(0).hex);
  });

  it('takes the settings also with records that are no files, too large, or too many', async () => {
    const { origin } = await siteOf({ ...small, 'note.txt': 'of another' });
    const site = start(origin, new Network(new Map()));
    const large = new Blob([new Uint8Array(limits.chunkBytes + 1)]);
    const full = Array.from({ length: 5 }, (_, i) => new Blob([new Uint8Array(limits.chunkBytes).fill(i)]));
    expect((await give(site.gateway, origin, ['text', large, ...full]))!.status).toBe(204);
    expect(site.store.held.size).toBe(limits.handed.bytes / limits.chunkBytes);
    expect((await navigate(site.gateway, `${origin}/`))!.status).toBe(404);
  });
});

describe('RecordHandover', () => {
  const [site, other] = ['aa', 'bb'].map((hex) => Address.fromHex(hex.repeat(32))) as [Address, Address];
  const record = (n: number) => n.toString(16).padStart(64, '0');
  const size = 4 * 1024 * 1024;
  const stop = () => {};

  /** Notes a record of a site, with its bytes if it came from a peer. */
  function read(records: RecordHandover, of: Address, n: number, bytes?: Uint8Array<ArrayBuffer>): Trace {
    const trace = new Trace();
    records.note(of, trace);
    trace.records!.set(record(n), bytes);
    return trace;
  }
  const store = { get: async ({ hex }: Address) => (hex.endsWith('f') ? undefined : new Uint8Array(size)) };

  afterEach(() => vi.useRealTimers());

  it('ends what is still being loaded, when the origin asks', async () => {
    const records = new RecordHandover({ chunksByPeer: () => new Map() });
    const stop = vi.fn();
    read(records, site, 1);
    records.redirected(site, stop);
    // It arrived after the redirect.
    read(records, site, 2);
    expect(stop).not.toHaveBeenCalled();
    expect((await records.take(site, store)).records).toHaveLength(2);
    expect(stop).toHaveBeenCalledOnce();
  });

  it('names the peers that gave chunks meanwhile', async () => {
    const given = new Map([
      ['https://one.example', 3],
      ['https://two.example', 5],
    ]);
    const records = new RecordHandover({ chunksByPeer: () => new Map(given) });
    // Another request for the site resolves it, too, and reads nothing.
    const trace = read(records, site, 1);
    read(records, site, 1);
    trace.chunks.peer++;
    given.set('https://two.example', 6).set('https://three.example', 1);
    records.redirected(site, stop);
    expect((await records.take(site, store)).peers).toEqual(['https://two.example', 'https://three.example']);
  });

  it('leaves out what is not stored, and what would be too much', async () => {
    const records = new RecordHandover({ chunksByPeer: () => new Map() });
    for (const n of [1, 15, 2, 3, 4, 5]) read(records, site, n);
    records.redirected(site, stop);
    expect((await records.take(site, store)).records).toHaveLength(limits.handed.bytes / size);
  });

  it('forgets a navigation after half a minute', async () => {
    vi.useFakeTimers();
    const records = new RecordHandover({ chunksByPeer: () => new Map() });
    read(records, site, 1);
    records.redirected(site, stop);
    vi.advanceTimersByTime(30_001);
    expect((await records.take(site, store)).records).toEqual([]);
    expect(read(records, site, 2).records!.size).toBe(1);
  });

  it('remembers the last two sites', async () => {
    const records = new RecordHandover({ chunksByPeer: () => new Map() });
    for (const address of [site, other]) {
      read(records, address, 1);
      records.redirected(address, stop);
    }
    read(records, Address.fromHex('cc'.repeat(32)), 1);
    expect((await records.take(site, store)).records).toEqual([]);
    expect((await records.take(other, store)).records).toHaveLength(1);
  });

  it('gives what came from a peer although the store has no room, and names no peer if all was stored', async () => {
    const records = new RecordHandover({ chunksByPeer: () => new Map([['https://one.example', 1]]) });
    const empty = { get: async () => undefined };
    read(records, site, 1);
    read(records, site, 2, new Uint8Array(3));
    records.redirected(site, stop);
    expect(await records.take(site, empty)).toEqual({ records: [new Uint8Array(3)], peers: null });
  });
});
