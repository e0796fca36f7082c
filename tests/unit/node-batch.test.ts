// @module-tag slow
import '../support/fast-signatures.ts';
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Batch,
  type BatchRequest,
  batchOf,
  checkPool,
  checkStoredBatch,
  poolPayments,
  requestBatch,
} from '../../src/payment/batch.ts';
import type { PaymentJournal } from '../../src/payment/journal.ts';
import { type NodePrice, priceOf } from '../../src/payment/node-price.ts';
import { NodeRoute } from '../../src/payment/node-route.ts';
import type { PaymentRoute } from '../../src/payment/payment-route.ts';
import { planBatches } from '../../src/payment/plan-batches.ts';
import type { RecordToStore } from '../../src/payment/quotes.ts';
import { storePaid } from '../../src/payment/upload.ts';
import { candidateOf } from '../support/batch-answers.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { type NodeFaults, PayingNodes } from '../support/paying-nodes.ts';
import { noise } from '../support/publish.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const chain = { chainId: 31337, token: `0x${'aa'.repeat(20)}`, vault: `0x${'bb'.repeat(20)}` };
const transaction = `0x${'cd'.repeat(32)}`;
const { signal } = new AbortController();
const chunks = [21, 22].map((seed) => new Uint8Array(noise(seed, 30_000)));
const records: RecordToStore[] = chunks.map((bytes) => ({
  address: bytesToHex(blake3(bytes)),
  size: bytes.length,
}));
const [record] = records as [RecordToStore];
const [bytes] = chunks as [Uint8Array<ArrayBuffer>];
const dayMs = 24 * 3_600_000;
/** All tests ask for pools of the same time, so that nodes sign the same prices. */
const startMs = 1_795_000_000_000;
vi.useFakeTimers({ toFake: ['Date'], now: startMs });

let clock: VirtualClock;
let network: PayingNodes;
let route: NodeRoute;
let journal: PaymentJournal;
let request: BatchRequest;

beforeEach(() => open(18));

function open(count: number): void {
  clock = new VirtualClock();
  network = new PayingNodes(count, clock, chain);
  route = new NodeRoute({ nodes: network.client(), chain, clock });
  journal = memoryJournal();
  request = requestBatch(records, startMs);
}

/** The nodes, closest to an address first. */
const around = (address: string) =>
  network.all.toSorted((a, b) =>
    distance(a.address.peerId, address) < distance(b.address.peerId, address) ? -1 : 1,
  );
const distance = (peerId: string, address: string) => BigInt(`0x${peerId}`) ^ BigInt(`0x${address}`);

function spoil(nodes: { faults: NodeFaults }[], faults: NodeFaults): void {
  for (const node of nodes) node.faults = faults;
}

const ask = (onProgress?: (asked: number) => void) => clock.run(route.pools(request, signal, onProgress));

async function offered(nowMs = startMs): Promise<Batch> {
  request = requestBatch(records, nowMs);
  const pools = await ask();
  if (!pools) throw new Error('There are no pools.');
  return batchOf(request, pools);
}

/** Notes a payment as the wallet and the chain do. */
async function paid(batch: Batch, pool = 1): Promise<Batch> {
  network.paidBatches.push({ batch, pool });
  await journal.putBatch(batch);
  for (const { address } of batch.chunks) await journal.putRecord({ address, batch: batch.root });
  await journal.putBatchPayment(batch, { pool, amount: 1n }, transaction);
  return batch;
}

const store = (relays: readonly PaymentRoute[] = [route], at = 0) =>
  clock.run(storePaid(records[at]!, chunks[at]!, { relays, journal, signal }));
const holders = ({ address } = record) => network.all.filter(({ stored }) => stored.has(address)).length;
const sent = () => network.all.reduce((sum, { puts }) => sum + puts, 0);
const problem = (payment: string) =>
  expect.objectContaining({ details: expect.objectContaining({ payment }) });

describe('the pools of a batch without a relay', () => {
  it('have the sixteen nodes that are closest to their addresses', async () => {
    spoil(network.all.slice(0, 5), { committed: 700 });
    const asked: number[] = [];
    const pools = (await ask((count) => asked.push(count)))!;
    expect(asked).toEqual([1, 2]);
    for (const [i, nodes] of pools.entries()) {
      expect(nodes.map(({ peer }) => peer)).toEqual(
        around(request.poolAddresses[i]!)
          .slice(0, 16)
          .map(({ address }) => address.peerId),
      );
      // Relays and the journal accept them too.
      expect(checkPool(structuredClone(nodes), request.timestamp)).toEqual(nodes);
    }
    const batch = batchOf(request, pools);
    expect(checkStoredBatch(structuredClone(batch))).toEqual(batch);
    expect(poolPayments(batch).map(({ nodes }) => nodes.length)).toEqual([16, 16]);
  });

  const other = 'ef'.repeat(32);
  const change = (changed: Partial<NodePrice>) => (honest: NodePrice) => ({ ...honest, ...changed });
  const lies: [string, () => NodeFaults][] = [
    ['does not sign', () => ({ candidate: change({ rewardsAddress: `0x${'66'.repeat(20)}` }) })],
    [
      'signs another time',
      () => ({ candidate: (honest, node) => candidateOf(node, honest.timestamp - 1, 0) }),
    ],
    ['wants another price than the network', () => ({ candidate: change({ price: `${priceOf(5)}` }) })],
    ['wants an absurd price', () => ({ candidate: change({ price: `${2n ** 255n}` }) })],
    ['has committed to more records than there are', () => ({ committed: 1_000_001 })],
    ['hides its commitment', () => ({ committed: 9, candidate: change({ commitment: null }) })],
    [
      'has the commitment of another node',
      () => ({
        committed: 9,
        candidate: change({ commitment: candidateOf(network.all[1]!, 1, 9).commitment }),
      }),
    ],
    ['commits to other records', () => ({ committed: 9, candidate: change({ commitmentPin: other }) })],
    ['names no account', () => ({ candidate: change({ rewardsAddress: `0x${'00'.repeat(20)}` }) })],
    [
      'gives the price of another node',
      () => ({ candidate: ({ timestamp }) => candidateOf(network.all[1]!, timestamp, 0) }),
    ],
    ['cuts its answer', () => ({ batchAnswer: (honest) => honest.subarray(0, 4000) })],
    ['answers with nothing', () => ({ batchAnswer: () => new Uint8Array() })],
    ['answers with something else', () => ({ batchAnswer: (honest) => honest.slice().fill(1, 0, 1) })],
    ['gives no price', () => ({ batchAnswer: () => Uint8Array.of(7, 1, 8, 0) })],
    ['is silent', () => ({ putMs: 1_000_000 })],
    ['is of another chain', () => ({ payment: { chain_id: 1 } })],
    ['knows no batches', () => ({ lacksPointers: true })],
  ];

  it.each(lies)('have no node that %s', async (_, faults) => {
    const [liar] = network.all;
    liar!.faults = faults();
    for (const nodes of (await ask())!) {
      expect(new Set(nodes.map(({ peer }) => peer)).size).toBe(16);
      expect(nodes.map(({ peer }) => peer)).not.toContain(liar!.address.peerId);
    }
  });

  it('are missing if too few nodes are honest', async () => {
    spoil(network.all.slice(0, 3), { candidate: change({ rewardsAddress: `0x${'66'.repeat(20)}` }) });
    expect(await ask()).toBe(undefined);
  });

  it('are found although some nodes are away for a moment', async () => {
    spoil(network.all.slice(0, 3), { batchAnswer: () => Uint8Array.of(7, 1, 8, 0) });
    const asking = route.pools(request, signal);
    await clock.pass(500);
    spoil(network.all, {});
    expect(await clock.run(asking)).toHaveLength(2);
  });

  it('are missing in a small network', async () => {
    open(15);
    expect(await ask()).toBe(undefined);
  });

  it('are missing if most of the close nodes take no browsers, because nodes would refuse them', async () => {
    const [first] = request.poolAddresses;
    network.others = Array.from({ length: 14 }, (_, i) => `${first!.slice(0, 60)}${1000 + i}`);
    expect(await ask()).toBe(undefined);
  });

  it('have at most three nodes of one computer', async () => {
    open(20);
    const crowd = network.all.slice(0, 6);
    for (const node of crowd) node.address = { ...node.address, host: '8.8.4.4' };
    route = new NodeRoute({ nodes: network.client(), chain, clock });
    const names = new Set(crowd.map(({ address }) => address.peerId));
    for (const nodes of (await ask())!) {
      expect(nodes.filter(({ peer }) => names.has(peer)).length).toBeLessThanOrEqual(3);
    }
  });

  it('are asked for no longer once the caller aborts', async () => {
    const stop = new AbortController();
    let asked = 0;
    const candidate = (honest: NodePrice) => {
      asked++;
      return honest;
    };
    spoil(network.all, { putMs: 60_000, candidate });
    const asking = route.pools(request, stop.signal);
    await clock.pass(1_000);
    const before = asked;
    expect(before).toBeGreaterThan(0);
    stop.abort(new DOMException('Stopped.', 'AbortError'));
    await expect(clock.run(asking)).rejects.toMatchObject({ name: 'AbortError' });
    expect(clock.now()).toBe(1_000);
    await clock.pass(120_000);
    expect(asked).toBe(before);
  });

  it('leave out an honest node without its commitment for this time only', async () => {
    const [poor] = around(request.poolAddresses[0]!);
    poor!.faults = { committed: 9, candidate: change({ commitment: null }) };
    expect((await ask())!.flat().map(({ peer }) => peer)).not.toContain(poor!.address.peerId);
    poor!.faults = {};
    expect((await ask())!.flat().map(({ peer }) => peer)).toContain(poor!.address.peerId);
  });
});

describe('a chunk of a paid batch without a relay', () => {
  it('is brought to the close group', async () => {
    await paid(await offered());
    expect(await store()).toBe('stored');
    expect(await store([route], 1)).toBe('stored');
    expect(around(record.address).map(({ stored }) => stored.has(record.address))).toEqual(
      network.all.map((_, i) => i < 7),
    );
    expect(around(record.address)[0]!.stored.get(record.address)).toEqual(new Uint8Array(bytes));
    expect(holders(records[1])).toBe(7);
    // The journal knows that.
    expect(await store()).toBe('present');
    expect(sent()).toBe(14);
  });

  it('may have four megabytes', { tags: 'full' }, async () => {
    const large = new Uint8Array(noise(23, 4 << 20));
    const chunk = { address: bytesToHex(blake3(large)), size: large.length };
    request = requestBatch([chunk, record]);
    await paid(batchOf(request, (await ask())!));
    expect(await clock.run(storePaid(chunk, large, { relays: [route], journal, signal }))).toBe('stored');
    expect(holders(chunk)).toBe(7);
  });

  it('is sent to no node that would refuse it', async () => {
    await paid(await offered());
    const [first] = around(record.address);
    first!.faults = { unknown: [first!.address.peerId] };
    expect(await store()).toBe('stored');
    expect(first!.puts).toBe(0);
    expect(holders()).toBe(7);
  });

  it('is stored although nodes of the paid pool have died', async () => {
    const batch = await paid(await offered());
    const dead = new Set(batch.pools[1]!.slice(0, 6).map(({ peer }) => peer));
    spoil(
      network.all.filter(({ address }) => dead.has(address.peerId)),
      { isDead: true },
    );
    route = new NodeRoute({ nodes: network.client(), chain, clock });
    expect(await store()).toBe('stored');
    expect(holders()).toBe(7);
  });

  it.each<[string, NodeFaults]>([
    ['refuse it', { putCode: 'put_failed' }],
    ['say that another chunk is stored', { batchAnswer: (honest) => honest.slice().fill(7, 10) }],
    ['send the answer to another question', { batchAnswer: (honest) => honest.slice().fill(11, 0, 1) }],
    ['are silent', { putMs: 1_000_000 }],
  ])('is stored by other nodes if some %s', async (_, faults) => {
    await paid(await offered());
    spoil(around(record.address).slice(0, 3), faults);
    expect(await store()).toBe('stored');
    expect(holders()).toBeGreaterThanOrEqual(4);
  });

  it('needs four nodes that store it, and stays paid', { tags: 'full' }, async () => {
    await paid(await offered());
    spoil(network.all.slice(3), { putCode: 'put_failed' });
    await expect(store()).rejects.toEqual(problem('SHORTFALL'));
    expect(await journal.record(record.address)).toMatchObject({ transaction });
    spoil(network.all, {});
    expect(await store()).toBe('stored');
  });

  it('waits for nodes that are behind the chain, and stays paid', { tags: 'full' }, async () => {
    await paid(await offered());
    const known = network.paidBatches.splice(0);
    await expect(store()).rejects.toEqual(problem('UNPAID'));
    // Four nodes in each of five tries: the others see the same chain.
    expect(sent()).toBe(20);
    const storing = storePaid(record, bytes, { relays: [route], journal, signal });
    await clock.pass(500);
    network.paidBatches.push(...known);
    expect(await clock.run(storing)).toBe('stored');
  });

  it('is not sent after seven days, because no node accepts the payment', async () => {
    await paid(await offered(Date.now() - 7.1 * dayMs));
    await expect(store()).rejects.toEqual(problem('QUOTE_EXPIRED'));
    expect(sent()).toBe(0);
    await paid(await offered(Date.now() - 6.9 * dayMs));
    expect(await store()).toBe('stored');
  });

  it('says so if the paid nodes are no longer close to the address of their pool', {
    tags: 'full',
  }, async () => {
    await paidFar();
    crowd(40);
    await expect(store()).rejects.toEqual(problem('QUOTE_EXPIRED'));
    network.others = [];
    expect(await store()).toBe('stored');
  });

  it('waits for the chain before it says that', { tags: 'full' }, async () => {
    await paidFar();
    const known = network.paidBatches.splice(0);
    // Nodes accept a pool that is among more nodes than they tell.
    crowd(12);
    const storing = store();
    void clock.delay(1_500).then(() => network.paidBatches.push(...known));
    expect(await storing).toBe('stored');
  });

  /** Further nodes around a pool that is close to the chunk would be close to the chunk as well. */
  async function paidFar(): Promise<void> {
    const isFar = (address: string) => distance(address, record.address) >> 255n === 1n;
    do request = requestBatch(records);
    while (!isFar(request.poolAddresses[1]!));
    await paid(batchOf(request, (await ask())!));
  }

  function crowd(count: number): void {
    const prefix = request.poolAddresses[1]!.slice(0, 60);
    network.others = Array.from({ length: count }, (_, i) => `${prefix}${1000 + i}`);
  }

  it('goes by the nodes after a relay has stored others, and the other way round', {
    tags: 'full',
  }, async () => {
    await paid(await offered());
    const failing = relayThat(() => Promise.reject(new Error('It is away.')));
    const byRelay: string[] = [];
    const relay = relayThat(async (payment) => {
      byRelay.push('merkle' in payment ? payment.merkle.address : '');
    });
    expect(await store([relay])).toBe('stored');
    expect(await store([failing, route], 1)).toBe('stored');
    expect([byRelay, holders(), holders(records[1])]).toEqual([[record.address], 0, 7]);
    await journal.setMissing(record.address);
    spoil(network.all, { putCode: 'put_failed' });
    expect(await store([route, relay])).toBe('stored');
    expect(byRelay).toEqual([record.address, record.address]);
  });
});

describe('a plan', () => {
  const offers = Array.from({ length: 64 }, (_, i) => {
    const address = bytesToHex(blake3(Uint8Array.of(i)));
    return {
      plan: { address, size: 100, quotes: [] },
      quoteHash: `0x${address}`,
      rewardsAddress: `0x${'07'.repeat(20)}`,
      amount: `${3n * priceOf(0)}`,
    };
  });
  const single = { batches: [], offers, unconfirmedNodes: 0 };

  it('has a batch if only nodes are asked, and reports its progress', async () => {
    const reports: [number, number][] = [];
    const planning = planBatches(offers, [route], signal, (...report) => reports.push(report));
    const planned = await clock.run(planning);
    expect([planned.batches.map(({ chunks }) => chunks.length), planned.offers]).toEqual([[64], []]);
    expect(reports).toEqual(Array.from({ length: 8 }, (_, i) => [i + 1, 8]));
  });

  it('has single payments if the batch would be dearer', { tags: 'full' }, async () => {
    spoil(network.all, { committed: 1500 });
    expect(await clock.run(planBatches(offers, [route], signal))).toEqual(single);
  });

  const named = (own: number): PaymentRoute => ({
    ...relayThat(async () => undefined),
    pools: async (request) =>
      (await route.pools(request, signal))?.map((nodes) =>
        nodes.map((node, i) => (i < own ? node : { ...node, peer: `${i}`.padStart(64, '0') })),
      ),
  });

  for (const [own, count, tags] of [
    [12, 1, []],
    [11, 0, ['full']],
    [8, 0, ['full']],
    [0, 0, ['full']],
  ] as const) {
    it(`of a relay that names ${own} of the sixteen nodes has ${count} batches`, {
      tags: [...tags],
    }, async () => {
      for (const routes of [
        [route, named(own)],
        [named(own), route],
      ]) {
        const planned = await clock.run(planBatches(offers, routes, signal));
        expect(planned.batches).toHaveLength(count);
        expect(planned.offers).toHaveLength(count === 1 ? 0 : 64);
      }
    });
  }

  it.each([
    ['first', [relayThat(async () => undefined), 'nodes']],
    ['second', ['nodes', relayThat(async () => undefined)]],
  ] as const)('has single payments if the %s of two routes finds no pools', async (_, routes) => {
    const asked = routes.map((one) => (one === 'nodes' ? route : one));
    expect(await clock.run(planBatches(offers, asked, signal))).toEqual(single);
  });

  it('of two relays that name other nodes has no price', { tags: 'full' }, async () => {
    const planning = planBatches(offers, [named(16), named(8)], signal);
    await expect(clock.run(planning)).rejects.toEqual(problem('RELAYS_DIFFER'));
  });
});

function relayThat(store: PaymentRoute['store']): PaymentRoute {
  return {
    url: 'https://relay.example',
    isDirect: false,
    hasBatches: true,
    check: async () => undefined,
    quotes: async () => [],
    pools: async () => undefined,
    store,
  };
}
