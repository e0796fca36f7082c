import 'fake-indexeddb/auto';
import { createStore, set } from 'idb-keyval';
import { describe, expect, it } from 'vitest';
import { toHex } from '../../src/address.ts';
import type { NodeAddress } from '../../src/nodes/node-address.ts';
import type { NodeClient } from '../../src/nodes/node-client.ts';
import { nodeError } from '../../src/nodes/node-error.ts';
import { nodeLimits } from '../../src/nodes/node-limits.ts';
import { IndexedDbMemory } from '../../src/nodes/node-memory.ts';
import { type ConnectNode, NodePool } from '../../src/nodes/node-pool.ts';
import { HedgeState, RecordGate } from '../../src/nodes/record-gate.ts';
import { RoutingTable } from '../../src/nodes/routing-table.ts';
import { SimulatedNetwork } from '../support/simulated-nodes.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const never = new AbortController().signal;

function node(i: number, host = `9.9.${i >> 8}.${i & 255}`, port = 10_001): NodeAddress {
  const id = new Uint8Array(32);
  new DataView(id.buffer).setUint32(0, i * 2_654_435_761);
  return { peerId: toHex(id), host, port, certificateHash: new Uint8Array(32) };
}

type Opened = NodeClient & { isClosed: boolean; isBusy: boolean; isAwaited: boolean };

function client(address: NodeAddress): Opened {
  return {
    address,
    isClosed: false,
    isBusy: false,
    isAwaited: false,
    abilities: async () => ({ hasPointers: false, hasBatches: false, payment: undefined }),
    quoteChunk: () => Promise.reject(nodeError('refused', 'It takes no payments.')),
    putChunk: async () => undefined,
    quoteCandidate: () => Promise.reject(new Error('It gives no prices.')),
    putBatchedChunk: async () => undefined,
    putPointer: async () => 'stored',
    findNode: async () => ({ addresses: [], peerIds: new Set() }),
    getChunk: async () => undefined,
    getPointer: async () => undefined,
    close() {
      this.isClosed = true;
    },
  };
}

function pool(connect: ConnectNode = async (address) => client(address), isLocal = false) {
  const clock = new VirtualClock();
  const dialled: NodeAddress[] = [];
  const failed: NodeAddress[] = [];
  const answered: NodeAddress[] = [];
  const nodes = new NodePool({
    clock,
    isLocal,
    connect: (address, signal) => {
      dialled.push(address);
      return connect(address, signal);
    },
    onAnswered: (address) => answered.push(address),
    onFailed: (address) => failed.push(address),
  });
  return { clock, nodes, dialled, failed, answered };
}

describe('the pool of connections', () => {
  it('uses a connection again, and shares one that is being opened', async () => {
    const { nodes, dialled } = pool();
    const [a, b] = await Promise.all([nodes.client(node(1), never), nodes.client(node(1), never)]);
    expect(a).toBe(b);
    expect(await nodes.client(node(1), never)).toBe(a);
    expect(dialled).toHaveLength(1);
  });

  it('opens a new connection when the old one ended or was idle for long', async () => {
    const { nodes, dialled, clock } = pool();
    (await nodes.client(node(1), never)).close();
    await nodes.client(node(1), never);
    expect(dialled).toHaveLength(2);
    await clock.pass(nodeLimits.idleMs + 1);
    await nodes.client(node(1), never);
    expect(dialled).toHaveLength(3);
  });

  it('has a limited number of connections, and closes the one that is not used', async () => {
    const { nodes, clock } = pool();
    for (let i = 0; i < nodeLimits.connections + 5; i++) {
      await nodes.client(node(i), never);
      await clock.pass(1);
    }
    expect(nodes.connected).toBe(nodeLimits.connections);
    expect(nodes.isConnected(node(0))).toBe(false);
    expect(nodes.isConnected(node(nodeLimits.connections + 4))).toBe(true);
  });

  it('has at most four connections to one host', async () => {
    const { nodes } = pool();
    const same = Array.from({ length: 6 }, (_, i) => node(i, '9.9.9.9', 10_001 + i));
    const results = await Promise.allSettled(same.map((address) => nodes.client(address, never)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(
      nodeLimits.connectionsPerHost,
    );
  });

  it.each(['127.0.0.1', '192.168.0.1', '10.0.0.1', '169.254.169.254', '::1', 'fd00::1'])(
    'never dials %s, which a stranger named',
    async (host) => {
      const { nodes, dialled } = pool();
      await expect(nodes.client(node(1, host), never)).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
      expect(dialled).toEqual([]);
      expect(pool(undefined, true).nodes.isAllowed(node(1, host))).toBe(true);
    },
  );

  it('leaves out a node that failed, for longer each time', async () => {
    const { nodes, clock, dialled, failed } = pool(async () => {
      throw nodeError('unreachable', 'no answer');
    });
    await nodes.client(node(1), never).catch(() => undefined);
    expect(nodes.isAllowed(node(1))).toBe(false);
    await expect(nodes.client(node(1), never)).rejects.toThrow('excluded for a while');
    expect([dialled.length, failed.length]).toEqual([1, 1]);
    await clock.pass(nodeLimits.retryMs.first);
    expect(nodes.isAllowed(node(1))).toBe(true);
    await nodes.client(node(1), never).catch(() => undefined);
    await clock.pass(nodeLimits.retryMs.first);
    expect(nodes.isAllowed(node(1))).toBe(false);
    await clock.pass(nodeLimits.retryMs.first);
    expect(nodes.isAllowed(node(1))).toBe(true);
  });

  it('lets dead nodes delay other attempts only for a short time, up to a limit', async () => {
    const { nodes, clock, dialled } = pool(
      (_, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    for (let i = 0; i < 2 * nodeLimits.attemptsAtOnce; i++) {
      nodes.client(node(i), never).catch(() => undefined);
    }
    await clock.pass(nodeLimits.youngMs - 1);
    expect(dialled).toHaveLength(nodeLimits.connectsAtOnce);
    await clock.pass(2);
    expect(dialled).toHaveLength(2 * nodeLimits.connectsAtOnce);
    await clock.pass(2 * nodeLimits.youngMs);
    expect(dialled).toHaveLength(nodeLimits.attemptsAtOnce);
    await clock.pass(nodeLimits.connectMs + nodeLimits.handshakeMs);
    expect(dialled).toHaveLength(2 * nodeLimits.attemptsAtOnce);
  });

  it('leaves out a node that does not answer the hello, for longer each time', async () => {
    const { nodes, clock, dialled, failed } = pool(async (address) => ({
      ...client(address),
      abilities: () => Promise.reject(nodeError('refused', 'No.')),
    }));
    for (const retryMs of [nodeLimits.retryMs.first, 2 * nodeLimits.retryMs.first]) {
      await nodes.client(node(1), never);
      await clock.pass(1);
      expect([nodes.isAllowed(node(1)), nodes.connected]).toEqual([false, 0]);
      await clock.pass(retryMs - 2);
      expect(nodes.isAllowed(node(1))).toBe(false);
      await clock.pass(1);
      expect(nodes.isAllowed(node(1))).toBe(true);
    }
    expect([dialled.length, failed.length]).toEqual([2, 2]);
  });

  it.each([
    ['ends', nodeError('unreachable', 'closed')],
    ['is greeted', undefined],
  ])('leaves out a node for an hour that sent wrong bytes before it %s', async (_, error) => {
    let end: (error: Error | undefined) => void = () => undefined;
    const { nodes, clock } = pool(async (address) => ({
      ...client(address),
      abilities: () =>
        new Promise((resolve, reject) => {
          end = (error) =>
            error ? reject(error) : resolve({ hasPointers: false, hasBatches: false, payment: undefined });
        }),
    }));
    await nodes.client(node(1), never);
    nodes.failed(node(1), nodeError('wrong-bytes', 'wrong'));
    end(error);
    await clock.pass(nodeLimits.banMs - 1);
    expect(nodes.isAllowed(node(1))).toBe(false);
    await clock.pass(1);
    expect(nodes.isAllowed(node(1))).toBe(true);
  });

  it('closes idle connections once more than allowed have opened, and none for a dead node', async () => {
    const { nodes, clock } = pool(async (address) => {
      if (address.port === dead) throw nodeError('unreachable', 'no answer');
      await clock.delay(1);
      const opened = client(address);
      opened.isBusy = true;
      void clock.delay(10).then(() => {
        opened.isBusy = false;
      });
      return opened;
    });
    const dead = 7;
    const open = (from: number, port?: number) =>
      clock.run(
        Promise.allSettled(
          Array.from({ length: nodeLimits.connections }, (_, i) =>
            nodes.client(node(from + i, undefined, port), never),
          ),
        ),
      );
    await open(0);
    await clock.pass(20);
    await open(100, dead);
    expect(nodes.connected).toBe(nodeLimits.connections);
    expect(nodes.isConnected(node(0))).toBe(true);
    await open(200);
    expect(nodes.connected).toBe(nodeLimits.connections);
    expect([nodes.isConnected(node(0)), nodes.isConnected(node(223))]).toEqual([false, true]);
  });

  describe('while all connections are in use', () => {
    const { mostConnections, roomMs } = nodeLimits;

    /** A pool whose connections all have a request that callers wait for. */
    async function crowded() {
      const opened: Opened[] = [];
      const { nodes, clock } = pool(async (address) => {
        const one = { ...client(address), isBusy: true, isAwaited: true };
        opened.push(one);
        return one;
      });
      for (let i = 0; i < mostConnections; i++) await nodes.client(node(i), never);
      return { nodes, clock, opened };
    }

    it('ends the oldest one whose callers have left', async () => {
      const { nodes, clock, opened } = await crowded();
      for (const i of [5, 3]) opened[i]!.isAwaited = false;
      await clock.run(nodes.client(node(100), never));
      expect(opened.flatMap(({ isClosed }, i) => (isClosed ? [i] : []))).toEqual([3]);
      expect(nodes.isConnected(node(3))).toBe(false);
      expect(clock.now()).toBe(0);
      // It did not fail.
      expect(nodes.isAllowed(node(3))).toBe(true);
    });

    it('waits until one is idle', async () => {
      const { nodes, clock, opened } = await crowded();
      const connecting = nodes.client(node(100), never);
      await clock.pass(roomMs / 2);
      opened[7]!.isBusy = false;
      await clock.run(connecting);
      expect(nodes.isConnected(node(7))).toBe(false);
    });

    it('fails after a while, and when the caller aborts', async () => {
      const { nodes, clock } = await crowded();
      await expect(clock.run(nodes.client(node(100), never))).rejects.toMatchObject({
        code: 'PEERS_UNREACHABLE',
      });
      expect(clock.now()).toBeGreaterThanOrEqual(roomMs);
      expect(nodes.isAllowed(node(100))).toBe(true);
      const stop = new AbortController();
      const connecting = nodes.client(node(101), stop.signal);
      stop.abort(new DOMException('Stopped.', 'AbortError'));
      await expect(clock.run(connecting)).rejects.toMatchObject({ name: 'AbortError' });
    });
  });

  it('reports that a node answered once it has answered the hello', async () => {
    let greet: () => void = () => undefined;
    const { nodes, clock, answered } = pool(async (address) => ({
      ...client(address),
      abilities: () =>
        new Promise((resolve) => {
          greet = () => resolve({ hasPointers: false, hasBatches: false, payment: undefined });
        }),
    }));
    await nodes.client(node(1), never);
    expect(answered).toEqual([]);
    greet();
    await clock.pass(1);
    expect(answered).toEqual([node(1)]);
  });

  it('gives the place of a caller back that leaves while it waits', async () => {
    const { nodes, clock, dialled } = pool(async (address) => {
      await clock.delay(100);
      return client(address);
    });
    const first = Array.from({ length: nodeLimits.connectsAtOnce }, (_, i) => nodes.client(node(i), never));
    const leave = new AbortController();
    const left = Array.from({ length: nodeLimits.attemptsAtOnce }, (_, i) =>
      nodes.client(node(100 + i), leave.signal),
    );
    const ended = Promise.allSettled(left);
    await clock.pass(10);
    leave.abort(new Error('left'));
    expect((await ended).every(({ status }) => status === 'rejected')).toBe(true);
    await clock.run(Promise.all(first));
    await clock.run(Promise.all(first.map((_, i) => nodes.client(node(200 + i), never))));
    expect(dialled).toHaveLength(2 * nodeLimits.connectsAtOnce);
  });

  it('does not leave out an honest node because strangers named false nodes at its socket', async () => {
    const { nodes } = pool(async (address) => {
      if (address.peerId !== node(1).peerId) throw nodeError('identity', 'another node');
      return client(address);
    });
    await nodes.client(node(1), never);
    for (let i = 2; i < 12; i++) {
      await nodes.client(node(i, node(1).host), never).catch(() => undefined);
    }
    expect(nodes.isAllowed(node(1))).toBe(true);
    expect(nodes.isAllowed(node(50, node(1).host)), 'the next false name at the socket').toBe(false);
  });

  it('does not leave out an honest node because strangers named it at a wrong socket', async () => {
    const { nodes } = pool(async (address) => {
      if (address.host !== node(1).host) throw nodeError('unreachable', 'nothing there');
      return client(address);
    });
    await nodes.client(node(1, '8.8.8.8'), never).catch(() => undefined);
    expect(nodes.isAllowed(node(1))).toBe(true);
    expect(await nodes.client(node(1), never)).toBeDefined();
  });

  it('closes the connection to a node that sent wrong bytes, and leaves it out', async () => {
    const { nodes, clock, failed } = pool();
    const connected = await nodes.client(node(1), never);
    nodes.failed(node(1), nodeError('wrong-bytes', 'wrong'));
    expect(connected.isClosed).toBe(true);
    expect(failed).toHaveLength(1);
    await clock.pass(nodeLimits.retryMs.first * 2);
    nodes.wake();
    expect(nodes.isAllowed(node(1))).toBe(false);
  });

  it('tries nodes again that failed without a network', async () => {
    const { nodes } = pool(async () => {
      throw nodeError('unreachable', 'no answer');
    });
    await nodes.client(node(1), never).catch(() => undefined);
    nodes.wake();
    expect(nodes.isAllowed(node(1))).toBe(true);
  });

  it('gives up a node that does not answer, and lets a caller leave', async () => {
    const { nodes, clock } = pool(
      (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    const connecting = nodes.client(node(1), never);
    await expect(clock.run(connecting)).rejects.toMatchObject({ details: { problem: 'timeout' } });
    const abort = new AbortController();
    const left = nodes.client(node(2), abort.signal);
    abort.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    expect(nodes.isAllowed(node(2)), 'a caller that leaves is no failure').toBe(true);
  });
});

describe('the routing table', () => {
  it('returns the closest nodes', () => {
    const table = new RoutingTable();
    for (let i = 0; i < 100; i++) table.named(node(i));
    const [closest] = table.closest(new Uint8Array(32), 5);
    expect(closest!.peerId).toBe(node(0).peerId);
  });

  it('keeps nodes that answered when strangers name any number of others', () => {
    const table = new RoutingTable();
    const real = Array.from({ length: 50 }, (_, i) => node(i));
    for (const address of real) table.answered(address, 1);
    for (let i = 100; i < 50_000; i++) table.named(node(i));
    expect(table.size).toBeLessThanOrEqual(256 * nodeLimits.bucket);
    for (const { peerId } of real) expect(table.get(peerId)?.answeredAt).toBe(1);
    expect(table.recent(100)).toHaveLength(50);
  });

  it('keeps the address at which a node answered when a stranger names another', () => {
    const table = new RoutingTable();
    table.answered(node(1), 1);
    table.named(node(1, '6.6.6.6'));
    table.remove(node(1, '6.6.6.6'));
    expect(table.get(node(1).peerId)?.address.host).toBe(node(1).host);
    table.remove(node(1));
    expect(table.get(node(1).peerId)).toBeUndefined();
  });
});

describe('the gate for records', () => {
  it('asks the next node after a delay, at most three at once, and at once after a failure', async () => {
    const clock = new VirtualClock();
    const gate = new RecordGate(clock, new HedgeState());
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const work = () => {
      started.push(clock.now());
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    const all = Array.from({ length: 5 }, () => gate.run(never, work));
    await clock.pass(10_000);
    const { firstByte } = nodeLimits.hedgeMs;
    expect(started).toEqual([0, firstByte, 2 * firstByte]);
    ends[0]!();
    await clock.pass(0);
    expect(started).toHaveLength(4);
    for (const end of ends) end();
    await clock.pass(10_000);
    for (const end of ends) end();
    await clock.run(Promise.all(all));
  });

  it('waits longer when a record has begun to arrive', async () => {
    const clock = new VirtualClock();
    const gate = new RecordGate(clock, new HedgeState());
    const started: number[] = [];
    const work = (onBytes: (count: number) => void) => {
      started.push(clock.now());
      onBytes(1);
      return clock.delay(60_000);
    };
    const all = [gate.run(never, work), gate.run(never, work)];
    await clock.run(Promise.all(all));
    expect(started.map(Math.floor)).toEqual([0, nodeLimits.hedgeMs.rest]);
  });

  it('does not ask another node while one sends at an acceptable rate', async () => {
    const clock = new VirtualClock();
    const gate = new RecordGate(clock, new HedgeState());
    let started = 0;
    const work = async (onBytes: (count: number) => void) => {
      started++;
      for (let at = 0; at < 60; at++) {
        onBytes(1_000 * nodeLimits.hedgeBytesPerMs);
        await clock.delay(1_000);
      }
      throw new Error('It ends.');
    };
    const all = [gate.run(never, work), gate.run(never, work)].map((run) => run.catch(() => undefined));
    await clock.pass(59_000);
    expect(started).toBe(1);
    await clock.run(Promise.all(all));
    expect(started).toBe(2);
  });

  it('lets further nodes send only some of the records that arrive slowly', async () => {
    const clock = new VirtualClock();
    const hedgeState = new HedgeState();
    const reads = 5;
    let sending = 0;
    let most = 0;
    const work = async (onBytes: (count: number) => void) => {
      sending++;
      most = Math.max(most, sending);
      for (let at = 0; at < 30; at++) {
        onBytes(1);
        await clock.delay(1_000);
      }
      sending--;
    };
    const all = Array.from({ length: reads }, () => {
      const gate = new RecordGate(clock, hedgeState);
      return [gate.run(never, work), gate.run(never, work), gate.run(never, work)];
    }).flat();
    await clock.run(Promise.all(all));
    expect(most).toBe(reads + nodeLimits.hedgesAtOnce);
    expect(hedgeState.hedgesLeft).toBe(nodeLimits.hedgesAtOnce);
  });
});

describe('the memory of nodes', () => {
  it('returns what it stored, and nothing that others wrote in another form', async () => {
    const store = createStore('memory-test', 'nodes');
    const memory = new IndexedDbMemory(store);
    expect(await memory.load()).toEqual([]);
    await memory.save([node(1), node(2)]);
    expect(await memory.load()).toEqual([node(1), node(2)]);
    for (const wrong of ['text', { length: 2 }, [1, 2], Array.from({ length: 10_000 }, () => 'x'), null]) {
      await set('nodes', wrong, store);
      expect(await memory.load()).toEqual([]);
    }
    await set('nodes', ['/ip4/1.2.3.4/udp/1/quic'], store);
    expect(await memory.load()).toEqual([]);
  });

  it('lets the next start read without seeds', async () => {
    const clock = new VirtualClock();
    const simulated = new SimulatedNetwork({ nodes: 200, seed: 3, clock });
    let saved: readonly NodeAddress[] = [];
    const memory = {
      load: async () => [...saved],
      save: async (nodes: readonly NodeAddress[]) => {
        saved = nodes;
      },
    };
    const verify = (bytes: Uint8Array) => bytes.length;
    const first = simulated.client(simulated.seeds(3), memory);
    const address = simulated.store(new Uint8Array(5));
    expect(await clock.run(first.chunk(address, { verify }))).toBe(5);
    await clock.pass(nodeLimits.rememberMs + 1);
    expect(saved.length).toBeGreaterThan(3);
    const other = simulated.store(new Uint8Array(6));
    expect(await clock.run(simulated.client([], memory).chunk(other, { verify }))).toBe(6);
  });

  it('does not fail a read if it cannot be written', async () => {
    const clock = new VirtualClock();
    const simulated = new SimulatedNetwork({ nodes: 50, seed: 3, clock });
    const memory = {
      load: async () => [],
      save: async () => {
        throw new Error('full');
      },
    };
    const client = simulated.client(simulated.seeds(3), memory);
    const address = simulated.store(new Uint8Array(5));
    expect(await clock.run(client.chunk(address, { verify: ({ length }) => length }))).toBe(5);
    await clock.pass(2 * nodeLimits.rememberMs);
    client.close();
    await expect(client.chunk(address, { verify: ({ length }) => length })).rejects.toMatchObject({
      code: 'PEERS_UNREACHABLE',
    });
  });
});
