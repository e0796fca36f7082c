// @module-tag slow
import { describe, expect, it } from 'vitest';
import { Address, equalBytes } from '../../src/address.ts';
import { nodeLimits } from '../../src/nodes/node-limits.ts';
import { type Behaviour, SimulatedNetwork } from '../support/simulated-nodes.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const bytes = new Uint8Array([1, 2, 3]);

/** Accepts the bytes of these tests, as the hash of an address would. */
function verify(received: Uint8Array): Uint8Array {
  if (!equalBytes(received, bytes)) throw new Error('other bytes');
  return received;
}

function network(nodes: number, shares: Partial<Record<Behaviour, number>> = {}, seed = 7) {
  const clock = new VirtualClock();
  const simulated = new SimulatedNetwork({ nodes, seed, clock, shares });
  return { clock, simulated, client: simulated.client(simulated.seeds(7)) };
}

describe('a lookup', () => {
  const cases: [string, Partial<Record<Behaviour, number>>][] = [
    ['all nodes are honest', {}],
    ['30 % are dead', { dead: 0.3 }],
    ['60 % are dead', { dead: 0.6 }],
    ['a third is slow', { slow: 0.33 }],
    ['20 % send wrong bytes', { forger: 0.2 }],
    ['20 % invent nodes', { inventor: 0.2 }],
    ['20 % name only each other', { circle: 0.2 }],
    [
      'half of the nodes are dead, slow or lying',
      { dead: 0.2, slow: 0.1, forger: 0.07, inventor: 0.07, circle: 0.06 },
    ],
  ];

  /** The last one has all kinds of nodes. The full tier tests each kind alone. */
  const samples = ['all nodes are honest', 'half of the nodes are dead, slow or lying'];
  for (const [condition, shares] of cases) {
    const tags = samples.includes(condition) ? [] : ['full'];
    it(`reads every record of 10,000 nodes if ${condition}`, { tags }, async () => {
      const { clock, simulated, client } = network(10_000, shares);
      for (let i = 0; i < 10; i++) {
        const address = simulated.store(bytes);
        const honest =
          simulated.closeGroup(address, 'honest').length + simulated.closeGroup(address, 'slow').length;
        if (honest === 0) continue;
        expect(await clock.run(client.chunk(address, { verify }))).toEqual(bytes);
      }
    });
  }

  it.each(cases)('does not call a record absent that honest nodes have, if %s', async (_, shares) => {
    for (const seed of [1, 2, 3]) {
      const { clock, simulated, client } = network(1_000, shares, seed);
      const address = simulated.store(bytes);
      const read = clock.run(client.chunk(address, { verify }));
      await expect(read).resolves.toEqual(bytes);
    }
  });

  it.each<[string, Partial<Record<Behaviour, number>>]>([
    ['all nodes are honest', {}],
    ['30 % are dead', { dead: 0.3 }],
    ['30 % take no browsers', { browserless: 0.3 }],
  ])(
    'finds enough nodes for a pool of a batch in 10,000 nodes if %s',
    { tags: 'full' },
    async (_, shares) => {
      const { clock, simulated, client } = network(10_000, shares);
      for (let i = 0; i < 3; i++) {
        const address = simulated.randomAddress();
        const { signal } = new AbortController();
        const found = await clock.run(client.closest(address, 32, signal, nodeLimits.bucket));
        // Nodes accept a pool with nine of the 32 that are closest.
        const living = simulated.closestOfAll(address).filter(({ behaviour }) => behaviour !== 'dead');
        const close = new Set(living.slice(0, 32).map(({ address }) => address.peerId));
        const pool = found.slice(0, 16).filter(({ node }) => close.has(node.peerId));
        expect(pool.length).toBeGreaterThanOrEqual(12);
      }
    },
  );

  it('does not wait long for nodes that are busy, once enough others have answered', async () => {
    const { clock, simulated, client } = network(1_000, { silent: 0.2 });
    const { signal } = new AbortController();
    for (let i = 0; i < 5; i++) {
      const address = simulated.randomAddress();
      const start = clock.now();
      const found = await clock.run(client.closest(address, nodeLimits.closeGroup, signal));
      expect(found).toHaveLength(nodeLimits.closeGroup);
      expect(clock.now() - start).toBeLessThan(4 * nodeLimits.lateMs);
      await clock.run(client.pointerVotes(address, { signal, verify }).catch(() => undefined));
    }
  });

  it('reports an absent record after a finished lookup', async () => {
    const { clock, simulated, client } = network(10_000, { dead: 0.3 });
    const address = simulated.randomAddress();
    await expect(clock.run(client.chunk(address, { verify }))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(simulated.counts.getChunk).toBeGreaterThanOrEqual(nodeLimits.majority);
  });

  it('asks the true close group before it reports an absent record', async () => {
    const { clock, simulated, client } = network(1_000, { dead: 0.3 });
    for (let i = 0; i < 20; i++) {
      // Only the node that is the farthest of the close group has it.
      const address = simulated.store(bytes);
      const last = simulated.closeGroup(address).at(-1)!;
      simulated.records.get(address.hex)!.holders = new Set([last.address.peerId]);
      expect(await clock.run(client.chunk(address, { verify }))).toEqual(bytes);
    }
  });

  it('finds a node behind many that take no browsers', async () => {
    const { clock, simulated } = network(15);
    const address = simulated.store(bytes);
    const [seed] = simulated.seeds(1);
    const others = simulated.closestOfAll(address).filter(({ address }) => address !== seed);
    for (const node of others) node.behaviour = 'browserless';
    const last = others.at(-1)!;
    last.behaviour = 'honest';
    simulated.records.get(address.hex)!.holders = new Set([last.address.peerId]);
    expect(await clock.run(simulated.client([seed!]).chunk(address, { verify }))).toEqual(bytes);
  });

  it('does not report absence if too few nodes answer', async () => {
    const { clock, simulated } = network(1_000);
    const seeds = simulated.seeds(3);
    for (const node of simulated.nodes) if (!seeds.includes(node.address)) node.behaviour = 'dead';
    const read = clock.run(simulated.client(seeds).chunk(simulated.randomAddress(), { verify }));
    await expect(read).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
  });

  it('reports that no node is reachable if all are dead', async () => {
    const { clock, simulated } = network(100);
    const seeds = simulated.seeds(3);
    for (const node of simulated.nodes) node.behaviour = 'dead';
    const read = clock.run(simulated.client(seeds).chunk(simulated.randomAddress(), { verify }));
    await expect(read).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
  });

  it('asks a limited number of nodes even if all others name inventions', async () => {
    const { clock, simulated } = network(300, { inventor: 0.95 });
    const client = simulated.client(simulated.seeds(3));
    await clock.run(client.chunk(simulated.randomAddress(), { verify })).catch(() => undefined);
    expect(simulated.counts.connects).toBeLessThanOrEqual(nodeLimits.asked + nodeLimits.closeGroup);
  });

  it('ends at once when the caller aborts', async () => {
    const { clock, simulated, client } = network(1_000, { dead: 0.9 });
    const abort = new AbortController();
    const read = client.chunk(simulated.randomAddress(), { verify, signal: abort.signal });
    const before = clock.now();
    await clock.pass(100);
    abort.abort(new Error('left'));
    await expect(clock.run(read)).rejects.toThrow('left');
    expect(clock.now() - before).toBe(100);
    expect(client.status.lookups).toBe(0);
  });

  it('is not delayed much by dead nodes once it knows living ones', async () => {
    const { clock, simulated, client } = network(1_000, { dead: 0.3 });
    for (let i = 0; i < 30; i++) await clock.run(client.chunk(simulated.store(bytes), { verify }));
    const before = clock.now();
    for (let i = 0; i < 10; i++) await clock.run(client.chunk(simulated.store(bytes), { verify }));
    expect((clock.now() - before) / 10).toBeLessThan(4_000);
  });

  it('reads many records at the same time, although idle connections are closed meanwhile', async () => {
    const { clock, simulated, client } = network(1_000, { dead: 0.3, slow: 0.2 });
    const reads = Array.from({ length: 40 }, () => client.chunk(simulated.store(bytes), { verify }));
    expect(await clock.run(Promise.all(reads))).toHaveLength(40);
    expect(client.status.connected).toBeLessThanOrEqual(nodeLimits.connections);
  });

  it('does not ask a node again that sent wrong bytes', async () => {
    const { clock, simulated, client } = network(20, { forger: 0.6 });
    const forgers = simulated.nodes.filter(({ behaviour }) => behaviour === 'forger').length;
    expect(forgers).toBeGreaterThan(0);
    let wrong = 0;
    for (let i = 0; i < 10; i++) {
      const read = client.chunk(simulated.store(bytes), {
        verify: (sent) => {
          if (!equalBytes(sent, bytes)) wrong++;
          return verify(sent);
        },
      });
      expect(await clock.run(read)).toEqual(bytes);
    }
    expect(wrong).toBeGreaterThan(0);
    expect(wrong).toBeLessThanOrEqual(forgers);
  });
});

describe('pointers of the close group', () => {
  it('are returned by every node that has one', async () => {
    const { clock, simulated, client } = network(100);
    const address = simulated.store(bytes);
    const records = await clock.run(client.pointers(address, { verify }));
    expect(records).toHaveLength(nodeLimits.closeGroup);
  });

  it('are left out if they do not verify', async () => {
    const { clock, simulated, client } = network(100, { forger: 0.3 });
    const address = simulated.store(bytes);
    const forgers = simulated.closeGroup(address, 'forger').length;
    const records = await clock.run(client.pointers(address, { verify }));
    expect(records).toHaveLength(nodeLimits.closeGroup - forgers);
  });

  it('are absent if a majority has none', async () => {
    const { clock, simulated, client } = network(100);
    const read = clock.run(client.pointers(simulated.randomAddress(), { verify }));
    await expect(read).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('are not known if only a minority of the close group answers', async () => {
    const { clock, simulated, client } = network(100, { forger: 0.8 });
    const address = Address.fromBytes(simulated.nodes.find(({ behaviour }) => behaviour === 'forger')!.id);
    simulated.store(bytes, address);
    const answering = simulated.closeGroup(address, 'honest').length;
    expect(answering).toBeLessThan(nodeLimits.majority);
    const read = clock.run(client.pointers(address, { verify }));
    await expect(read).rejects.toMatchObject({ code: 'PEERS_UNREACHABLE' });
  });
});
