// @module-tag isolated
import 'fake-indexeddb/auto';
import { createStore } from 'idb-keyval';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Address, equalBytes } from '../../src/address.ts';
import { IndexedDbStore } from '../../src/chunks/indexed-db-store.ts';
import { nodePlatform } from '../../src/cli/platform.ts';
import { AntwayError } from '../../src/errors.ts';
import { createGateway } from '../../src/gateway/create-gateway.ts';
import { deploymentAt } from '../../src/gateway/deployment.ts';
import type { FetchOptions, NodeSource } from '../../src/peers/chunk-peers.ts';
import { Stats } from '../../src/stats/stats.ts';
import { encryptedFile, noise, type Records } from './support/encrypted-file.ts';
import { contextOf, linkTo, requestOf } from './support/gateway.ts';

const origin = 'http://127.0.0.1:8080';
const absent = 'ab'.repeat(32);

/** Nodes that a page can reach, or none can. */
class MemoryNodes implements NodeSource {
  fetches = 0;
  problem: string | undefined;
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async fetch<T>(address: Address, { verify }: FetchOptions<T>): Promise<T> {
    this.fetches++;
    const { problem } = this;
    if (problem) throw new AntwayError('PEERS_UNREACHABLE', 'No page.', { problem });
    const record = this.#records.get(address.hex);
    if (!record) throw new AntwayError('NOT_FOUND', 'The network has no record of this address.');
    return verify(record.slice());
  }

  async pointers<T>(): Promise<T[]> {
    return [];
  }

  async status() {
    return this.problem ? undefined : { connected: 5, known: 9, lookups: 0 };
  }
}

let gateways = 0;

/** A gateway without a peer. @param useNodes the user's setting. */
async function start({ useNodes }: { useNodes: boolean }) {
  const records: Records = new Map();
  const nodes = new MemoryNodes(records);
  const stats = new Stats();
  const messages: object[] = [];
  const gateway = createGateway(deploymentAt(origin), {
    stats,
    store: new IndexedDbStore(stats),
    state: createStore(`antway-${++gateways}`, 'settings'),
    platform: nodePlatform,
    serverConfig: { stored: async () => undefined, fetch: async () => ({ peers: [] }) },
    nodes,
    notify: (message) => void messages.push(message),
  });
  onTestFinished(() => gateway.close());
  const handle = async (request: Request) => (await gateway.handle(request, contextOf(origin)))!;
  const ask = (path: string, as: Parameters<typeof requestOf>[2] = 'fetch', init: RequestInit = {}) =>
    handle(requestOf(origin + path, init, as));
  const follow = (path: string) => handle(linkTo(origin + path));
  const set = async (settings: object) =>
    expect(
      (await ask('/-/settings', 'fetch', { method: 'PUT', body: JSON.stringify(settings) })).status,
    ).toBe(200);
  if (useNodes) await set({ useNodes });
  return { records, nodes, stats, messages, ask, follow, set };
}

describe('a gateway without a peer', () => {
  it('reads from nodes, stores the chunks and reads them again without a node', async () => {
    const { records, nodes, stats, ask } = await start({ useNodes: true });
    const bytes = noise(3_000, 1);
    const { address } = await encryptedFile(bytes, records);
    const first = await ask(`/${address.hex}`);
    expect(first.status).toBe(200);
    expect(equalBytes(new Uint8Array(await first.arrayBuffer()), bytes)).toBe(true);
    expect(stats.snapshot().chunks.nodes.count).toBe(nodes.fetches);
    const { fetches } = nodes;
    nodes.problem = 'no-page';
    expect((await ask(`/${address.hex}`)).status).toBe(200);
    expect(nodes.fetches).toBe(fetches);
  });

  it('answers 404 for a record that the network does not have', async () => {
    const { ask } = await start({ useNodes: true });
    expect((await ask(`/${absent}`)).status).toBe(404);
  });

  it('asks no node without the permission of the user, and none after its end', async () => {
    const { nodes, ask, set, messages } = await start({ useNodes: false });
    expect((await ask(`/${absent}`)).status).toBe(504);
    expect((await ask(`/${absent}`, 'document')).status).toBe(504);
    await set({ useNodes: true });
    await set({});
    expect(messages.filter((message) => 'type' in message && message.type === 'settings')).toHaveLength(2);
    expect((await ask(`/${absent}`)).status).toBe(504);
    expect(nodes.fetches).toBe(0);
  });

  it('reports the connections to nodes only if the user allows them', async () => {
    const { ask, set } = await start({ useNodes: true });
    expect(await (await ask('/-/peers')).json()).toEqual({
      peers: [],
      nodes: { connected: 5, known: 9, lookups: 0 },
    });
    await set({});
    expect(await (await ask('/-/peers')).json()).toEqual({ peers: [], nodes: null });
  });

  it('opens a navigation in the viewer if no page can connect to nodes', async () => {
    const { nodes, follow } = await start({ useNodes: true });
    nodes.problem = 'no-page';
    const answer = await follow(`/${absent}/a%20b.html?q=1`);
    expect([answer.status, answer.headers.get('Location')]).toEqual([302, `/#view=${absent}/a%20b.html?q=1`]);
  });

  it('gives a URL that leads to the viewer again and again its error page', async () => {
    const { nodes, follow } = await start({ useNodes: true });
    nodes.problem = 'no-page';
    const statuses = async (paths: readonly string[]) => {
      const answers: number[] = [];
      for (const path of paths) answers.push((await follow(`/${absent}/${path}`)).status);
      return answers;
    };
    expect(await statuses(['a', 'a', 'a', 'a', 'a'])).toEqual([302, 302, 302, 504, 302]);
    expect(await statuses(['b', 'c', 'b', 'c', 'b', 'c', 'b', 'c'])).toEqual(Array(8).fill(302));
  });

  it.each([
    ['a subresource', 'fetch', 'no-page'],
    ['a frame', 'iframe', 'no-page'],
    // A page is open, so the viewer would not help: no loop of redirects.
    ['a navigation while a page is open', 'document', 'no-leader'],
    ['a navigation on a metered connection', 'document', 'metered'],
  ] as const)('answers %s with the error', async (_, as, problem) => {
    const { nodes, ask } = await start({ useNodes: true });
    nodes.problem = problem;
    expect((await ask(`/${absent}`, as)).status).toBe(504);
  });
});
