// @module-tag isolated
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Address } from '../../src/address.ts';
import { AntwayError } from '../../src/errors.ts';
import { PeerUrl } from '../../src/peer-url.ts';
import type { FetchOptions, NodeSource, PointerOptions } from '../../src/peers/chunk-peers.ts';
import { PeerPool } from '../../src/peers/selection/pool.ts';
import { Stats } from '../../src/stats/stats.ts';
import { raceAbort } from '../../src/util/watchdog.ts';
import { closedPort, startHttpPeer } from './support/http-peer.ts';

const address = Address.fromHex('ab'.repeat(32));
const right = new TextEncoder().encode('the right bytes');
const { signal } = new AbortController();

function verify(received: Uint8Array): string {
  const text = new TextDecoder().decode(received);
  if (text !== 'the right bytes') throw new AntwayError('CORRUPT', 'wrong bytes');
  return text;
}

const has = () => startHttpPeer((_, response) => response.end(right));
const hasNot = () => startHttpPeer((_, response) => response.writeHead(404).end());
const hangs = () => startHttpPeer(() => undefined);
const lies = () => startHttpPeer((_, response) => response.end('something else'));

/** Nodes that answer by a script, and count what they are asked. */
class ScriptedNodes implements NodeSource {
  fetches = 0;
  aborted = 0;
  readonly #answer: () => Promise<Uint8Array<ArrayBuffer>>;

  constructor(answer: () => Promise<Uint8Array<ArrayBuffer>> = async () => right.slice()) {
    this.#answer = answer;
  }

  async fetch<T>(_: Address, options: FetchOptions<T> & { onFirstByte?(): void }): Promise<T> {
    this.fetches++;
    options.signal.addEventListener('abort', () => this.aborted++);
    const bytes = await raceAbort(this.#answer(), options.signal);
    options.onFirstByte?.();
    return options.verify(bytes);
  }

  async pointers<T>(_: Address, options: PointerOptions<T>): Promise<T[]> {
    this.fetches++;
    const bytes = await raceAbort(this.#answer(), options.signal);
    return [options.verify(bytes)];
  }

  async status() {
    return { connected: 2, known: 3, lookups: 0 };
  }
}

const failing = (code: 'NOT_FOUND' | 'PEERS_UNREACHABLE', problem?: string) =>
  new ScriptedNodes(() =>
    Promise.reject(new AntwayError(code, 'The nodes say no.', problem ? { problem } : {})),
  );

function pool(nodes: NodeSource, ...urls: string[]) {
  const stats = new Stats();
  const peers = new PeerPool(
    urls.map((url) => PeerUrl.parse(url)),
    stats,
    { transport: 'http', nodes },
  );
  return { peers, stats, fetch: (own = signal) => peers.fetch(address, { signal: own, verify }) };
}

/** @returns the error's code, its problem, and the code of each attempt by the peer's name. */
async function failureOf(fetching: Promise<unknown>) {
  const error = (await fetching.then(
    () => expect.unreachable(),
    (error) => error,
  )) as AntwayError;
  const attempts = error.details.attempts ?? [];
  return {
    code: error.code,
    problem: error.details.problem,
    message: error.message,
    attempts: attempts.map(({ peer, code }) => [peer === 'nodes' ? peer : 'peer', code]),
  };
}

afterEach(() => void vi.unstubAllGlobals());

describe('peers and nodes', () => {
  it('ask no node for a record that a peer has', async () => {
    const nodes = new ScriptedNodes();
    const { fetch, stats } = pool(nodes, (await has()).url);
    expect(await fetch()).toBe('the right bytes');
    expect(nodes.fetches).toBe(0);
    expect(stats.snapshot().chunks.nodes).toEqual({ count: 0, bytes: 0 });
  });

  it.each([
    ['has not got it', hasNot],
    ['lies', lies],
  ])('ask the nodes if the only peer %s', async (_, start) => {
    const nodes = new ScriptedNodes();
    const { fetch, stats } = pool(nodes, (await start()).url);
    expect(await fetch()).toBe('the right bytes');
    expect(nodes.fetches).toBe(1);
    expect(stats.snapshot().chunks.nodes).toEqual({ count: 1, bytes: right.length });
  });

  it('ask the nodes if the only peer is down, or is silent for a second', async () => {
    expect(await pool(new ScriptedNodes(), await closedPort()).fetch()).toBe('the right bytes');
    const startedMs = performance.now();
    expect(await pool(new ScriptedNodes(), (await hangs()).url).fetch()).toBe('the right bytes');
    const milliseconds = performance.now() - startedMs;
    expect(milliseconds).toBeGreaterThan(950);
    expect(milliseconds).toBeLessThan(3_000);
  });

  it('ask the nodes alone without a peer', async () => {
    const nodes = new ScriptedNodes();
    expect(await pool(nodes).fetch()).toBe('the right bytes');
    expect(nodes.fetches).toBe(1);
  });

  it('cancel the request to nodes when the caller aborts', async () => {
    const nodes = new ScriptedNodes(() => new Promise(() => undefined));
    const controller = new AbortController();
    const fetching = pool(nodes).fetch(controller.signal);
    controller.abort(new Error('enough'));
    await expect(fetching).rejects.toThrow('enough');
    expect(nodes.aborted).toBe(1);
  });

  it('report an absence only if the peers and the nodes do', async () => {
    const peer = (await hasNot()).url;
    expect(await failureOf(pool(failing('NOT_FOUND'), peer).fetch())).toMatchObject({
      code: 'NOT_FOUND',
      attempts: [
        ['peer', 'NOT_FOUND'],
        ['nodes', 'NOT_FOUND'],
      ],
    });
    expect(await failureOf(pool(failing('PEERS_UNREACHABLE'), peer).fetch())).toMatchObject({
      code: 'PEERS_UNREACHABLE',
      message: expect.stringMatching(/^No peer that answered has this record, and nodes did not answer\./),
    });
    expect(await failureOf(pool(failing('NOT_FOUND'), await closedPort()).fetch())).toMatchObject({
      code: 'PEERS_UNREACHABLE',
    });
    expect(await failureOf(pool(failing('NOT_FOUND')).fetch())).toMatchObject({
      code: 'NOT_FOUND',
      message: 'The nodes say no.',
    });
  });

  it.each(['no-page', 'no-leader'])('count no node as asked while there is %s', async (problem) => {
    const nodes = failing('PEERS_UNREACHABLE', problem);
    expect(await failureOf(pool(nodes, (await hasNot()).url).fetch())).toMatchObject({
      code: 'NOT_FOUND',
      attempts: [['peer', 'NOT_FOUND']],
    });
    expect(await failureOf(pool(nodes).fetch())).toMatchObject({
      code: 'PEERS_UNREACHABLE',
      problem,
      attempts: [],
    });
  });

  it('are offline if the browser is', async () => {
    vi.stubGlobal('navigator', { onLine: false });
    expect(await failureOf(pool(failing('PEERS_UNREACHABLE', 'offline')).fetch())).toMatchObject({
      code: 'OFFLINE',
    });
  });

  it('collect the pointers of both', async () => {
    const found = await pool(new ScriptedNodes(), (await has()).url).peers.pointers(address, {
      signal,
      verify: (received) => received.length,
      isKnown: false,
    });
    expect(found).toEqual([right.length, right.length]);
  });

  it('report the connections to nodes', async () => {
    expect(await pool(new ScriptedNodes()).peers.nodesStatus()).toEqual({
      connected: 2,
      known: 3,
      lookups: 0,
    });
    expect(await new PeerPool([], new Stats()).nodesStatus()).toBeUndefined();
  });
});
