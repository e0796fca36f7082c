// @module-tag slow
import { IDBFactory } from 'fake-indexeddb';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { Address, toHex } from '../../src/address.ts';
import { type AntArchive, type AntError, type AntFile, createAntFetch } from '../../src/fetch/index.ts';
import { concat } from '../../src/nodes/bytes.ts';
import { FakeWebRtc } from '../support/fake-webrtc.ts';
import { honestAnswer, type NodeAnswer } from '../support/node-server.ts';
import { PointerOwner } from '../support/pointers.ts';
import { noise, publish } from '../support/publish.ts';
import { makeTarchive } from '../support/tarchive.ts';
import { startHttpPeer } from './support/http-peer.ts';

const text = 'abcdefghijklmnopqrstuvwxyz';
const film = noise(7, 9_000_000);
const absent = 'ab'.repeat(32);
const owner = new PointerOwner(9);

const chunks = new Map<string, Uint8Array>();
const pointers = new Map<string, Uint8Array>();
const sink = { put: async (hex: string, bytes: Uint8Array) => void chunks.set(hex, bytes) };
const addresses = { file: '', film: '', site: '' };

let network: FakeWebRtc;
const clients: { close(): Promise<void> }[] = [];

/** Answers honestly, with pointers, and names all nodes. */
function honest(...[identity, , all]: Parameters<ConstructorParameters<typeof FakeWebRtc>[1]>): NodeAnswer {
  const withChunks = honestAnswer(identity, chunks);
  return (request, server) => {
    const { request_id, type, target, body } = request;
    if (type === 'find_node') {
      const nodes = all.map(({ identity, address }) => ({
        peer_id: toHex(identity.peerId),
        webrtc_direct: { multiaddr: address },
      }));
      server.respond({ request_id, status: 'ok', type: 'nodes', target, nodes });
    } else if (type === 'chunk_protocol') {
      const address = body.slice(-32);
      const record = pointers.get(toHex(address));
      const found = record && concat(new Uint8Array([0, 0xb7, 0x29]), record);
      const answer = found ?? concat(new Uint8Array([1]), address);
      const head = concat(body.slice(0, -33), new Uint8Array([13]));
      server.respond({ request_id, status: 'ok', type: 'chunk_protocol' }, concat(head, answer));
    } else withChunks(request, server);
  };
}

function startNodes(make = honest, count = 5) {
  network = new FakeWebRtc(count, make);
  vi.stubGlobal('RTCPeerConnection', network.connectionClass());
}

function client(options: Partial<Parameters<typeof createAntFetch>[0]> = {}) {
  const antFetch = createAntFetch({ nodes: network.addresses.slice(0, 2), ...options });
  clients.push(antFetch);
  return antFetch;
}

const errorOf = (promise: Promise<unknown>): Promise<AntError> =>
  promise.then(
    () => expect.fail('It did not fail.'),
    (error) => error,
  );

beforeAll(async () => {
  addresses.file = await publish(Buffer.from(text), sink);
  addresses.film = await publish(film, sink);
  addresses.site = await publish(await makeTarchive({ 'a.txt': text, 'folder/b.txt': 'b' }), sink);
  pointers.set(owner.address.hex, owner.sign(3n, Address.fromHex(addresses.file)));
});

beforeEach(() => startNodes());

afterEach(async () => {
  await Promise.all(clients.splice(0).map((each) => each.close()));
  vi.unstubAllGlobals();
});

describe('antFetch with nodes and no peer', () => {
  it('reads a file, a range of a film, an archive and a pointer', async () => {
    const antFetch = client();
    expect(await (await antFetch(addresses.file)).text()).toBe(text);
    const part = await antFetch(addresses.film, { headers: { Range: 'bytes=5000000-5000009' } });
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer()).equals(film.subarray(5e6, 5e6 + 10))).toBe(true);
    const opened = (await antFetch.open(addresses.film)) as AntFile;
    expect(Buffer.from(await opened.read()).equals(film)).toBe(true);
    const site = (await antFetch.open(addresses.site)) as AntArchive;
    expect(site.entries().map(({ path }) => path)).toEqual(['a.txt', 'folder/b.txt']);
    expect(await (await antFetch(`ant://${owner.address.hex}`)).text()).toBe(text);
  });

  it('reports an address that the close group does not have as not found', async () => {
    const error = await errorOf(client()(absent));
    expect(error).toMatchObject({ code: 'NOT_FOUND', status: 404 });
    expect(error.attempts).toMatchObject([{ peer: 'nodes', transport: 'webrtc', code: 'NOT_FOUND' }]);
  });

  it('reads the right bytes although some nodes send wrong ones', async () => {
    startNodes((identity, i, all) => {
      const answer = honest(identity, i, all);
      return (request, server) => {
        if (request.type !== 'get_chunk' || i >= 3) return answer(request, server);
        const { request_id, address } = request;
        server.respond({ request_id, status: 'ok', type: 'chunk', address, size: 5 }, new Uint8Array(5));
      };
    });
    const opened = (await client().open(addresses.film)) as AntFile;
    expect(Buffer.from(await opened.read()).equals(film)).toBe(true);
  });

  it('reports nodes that cannot be reached, and reads once they can be', async () => {
    for (const node of network.nodes) node.isGone = true;
    const antFetch = client();
    const error = await errorOf(antFetch(addresses.file));
    expect(error).toMatchObject({ code: 'PEERS_UNREACHABLE', status: 504 });
    expect(error.attempts).toMatchObject([{ peer: 'nodes', transport: 'webrtc' }]);
    expect(network.open.size).toBe(0);
    for (const node of network.nodes) node.isGone = false;
    expect(await (await client()(addresses.file)).text()).toBe(text);
  });

  it('connects to no node before the first read, and closes all connections', async () => {
    const antFetch = client();
    expect(network.connects).toBe(0);
    await antFetch(addresses.file);
    expect(network.open.size).toBeGreaterThan(0);
    const body = (await antFetch(addresses.film)).body!.getReader();
    await body.read();
    await antFetch.close();
    expect(network.open.size).toBe(0);
    await expect(body.read()).rejects.toMatchObject({ name: 'AbortError' });
    const { connects } = network;
    await expect(antFetch(addresses.film)).rejects.toMatchObject({ name: 'AbortError' });
    expect(network.connects).toBe(connects);
  });

  it('connects to no node if it is closed while the client loads', async () => {
    const antFetch = client();
    const reading = errorOf(antFetch(addresses.file));
    await antFetch.close();
    expect(await reading).toMatchObject({ name: 'AbortError' });
    await vi.dynamicImportSettled();
    expect(network.connects).toBe(0);
  });

  it('reads after an abort of another read', async () => {
    const antFetch = client();
    const controller = new AbortController();
    const reading = errorOf(antFetch(addresses.film, { signal: controller.signal }));
    controller.abort('why');
    expect(await reading).toBe('why');
    expect(await (await antFetch(addresses.file)).text()).toBe(text);
  });

  it('remembers nodes in IndexedDB only if chunks are stored there', async () => {
    vi.stubGlobal('indexedDB', new IDBFactory());
    const databases = async () => (await indexedDB.databases()).map(({ name }) => name);
    await client({ store: 'memory' })(addresses.file);
    expect(await databases()).not.toContain('antway-nodes');
    await client({ store: 'indexeddb' })(addresses.file);
    expect(await databases()).toContain('antway-nodes');
  });
});

describe('antFetch with peers and nodes', () => {
  it('asks no node for what a peer has', async () => {
    const peer = await startHttpPeer((request, response) => {
      const bytes = chunks.get(request.url!.split('/').at(-1)!);
      if (bytes) response.end(bytes);
      else response.writeHead(404).end();
    });
    expect(await (await client({ peers: [peer.url] })(addresses.file)).text()).toBe(text);
    expect(network.connects).toBe(0);
  });

  it('asks nodes for what no peer has', async () => {
    const peer = await startHttpPeer((_, response) => response.writeHead(404).end());
    expect(await (await client({ peers: [peer.url] })(addresses.file)).text()).toBe(text);
    expect(network.connects).toBeGreaterThan(0);
  });
});

describe('the option “nodes”', () => {
  const create = (nodes: unknown, peers?: string[]) => () => {
    clients.push(createAntFetch({ nodes, ...(peers && { peers }) } as never));
  };

  it('accepts the main network, and connects to nothing', () => {
    create('mainnet')();
    create('mainnet', [])();
    expect(network.connects).toBe(0);
  });

  it('must be a network, and its addresses must be those of nodes for browsers', () => {
    for (const nodes of ['testnet', 5, null, {}]) expect(create(nodes)).toThrow(TypeError);
    const [good] = network.addresses as [string];
    const badHash = good.replace(/certhash\/u.{46}/, `certhash/u${'A'.repeat(46)}`);
    for (const nodes of [[], ['/ip4/127.0.0.1/udp/1/quic'], [badHash], Array(33).fill(good), [5]]) {
      expect(create(nodes)).toThrow(expect.objectContaining({ name: 'AntError', code: 'BAD_CONFIG' }));
    }
  });

  it('is unsupported without WebRTC, also beside peers', () => {
    vi.stubGlobal('RTCPeerConnection', undefined);
    const unsupported = expect.objectContaining({ name: 'AntError', code: 'UNSUPPORTED', status: 501 });
    expect(create('mainnet')).toThrow(unsupported);
    expect(create(network.addresses, ['http://127.0.0.1:1'])).toThrow(unsupported);
  });
});
