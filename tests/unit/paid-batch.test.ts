// @module-tag slow
// @module-tag unix
import '../support/fast-signatures.ts';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type Batch,
  batchOf,
  comparePools,
  mostOf,
  poolPayments,
  proofOf,
  requestBatch,
} from '../../src/payment/batch.ts';
import { prepareBill } from '../../src/payment/bill.ts';
import { type JournalStore, PaymentJournal, unknownTransaction } from '../../src/payment/journal.ts';
import { MerkleTree } from '../../src/payment/merkle-tree.ts';
import { priceOf } from '../../src/payment/node-price.ts';
import { pay } from '../../src/payment/pay.ts';
import { gasOf } from '../../src/payment/payable.ts';
import { batchSizes, planBatches } from '../../src/payment/plan-batches.ts';
import type { RecordToStore } from '../../src/payment/quotes.ts';
import { receiptOf } from '../../src/payment/receipt.ts';
import { Relay } from '../../src/payment/relay.ts';
import { type PaymentParts, settlePending } from '../../src/payment/settle.ts';
import { confirmStored, storePaid } from '../../src/payment/upload.ts';
import { Vault } from '../../src/payment/vault.ts';
import { WalletAccount } from '../../src/payment/wallet-account.ts';
import { EndingPage } from '../support/ending-page.ts';
import { memoryJournal, memoryStore } from '../support/memory-journal.ts';
import { fromRoot } from '../support/paths.ts';
import { upTo } from '../support/payment-limits.ts';
import { problemOf } from '../support/payment-problem.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { TestChain } from '../support/test-chain.ts';
import { TestWallet } from '../support/test-wallet.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;
const limit = 100n * 10n ** 18n;

let chain: TestChain;
let relay: RelayDouble;
let wallet: TestWallet;
let journal: PaymentJournal;
let vault: Vault;
let parts: PaymentParts;
const { signal } = new AbortController();

beforeAll(async () => {
  chain = await TestChain.start();
  relay = await RelayDouble.start(chain);
});
afterAll(async () => {
  await relay.stop();
  await chain.stop();
});
beforeEach(async () => {
  vi.useRealTimers();
  relay.faults = {};
  wallet = new TestWallet(chain);
  journal = memoryJournal();
  vault = vaultOf(wallet);
  parts = { vault, journal, signal };
  await chain.execute(vault.approval(0n));
});

function vaultOf(provider: TestWallet): Vault {
  const { token, vault: contract } = chain;
  return new Vault({ chainId: TestChain.chainId, token, vault: contract }, provider);
}

const addressOf = (bytes: Uint8Array) => bytesToHex(blake3(bytes));
const newChunks = (count: number) => Array.from({ length: count }, () => new Uint8Array(randomBytes(100)));
const recordsOf = (chunks: readonly Uint8Array[]): RecordToStore[] =>
  chunks.map((bytes) => ({ address: addressOf(bytes), size: bytes.length }));
const balance = () => vault.balance(chain.accounts[0]!);
const connect = () => WalletAccount.connect(vault);

async function relayOf(double = relay): Promise<Relay> {
  const made = new Relay(double.url, 1);
  await made.check(vault.chain, signal);
  return made;
}

/** A batch as the relay offers it, of any number of chunks. */
async function batchFor(chunks: readonly Uint8Array[], nowMs = Date.now()): Promise<Batch> {
  const request = requestBatch(recordsOf(chunks), nowMs);
  return batchOf(request, (await (await relayOf()).pools(request, signal))!);
}

const dueOf = (...batches: Batch[]) => ({ due: { batches, offers: [] } });

/** @returns what the work cost, in atto. */
async function spentBy(work: () => Promise<unknown>): Promise<bigint> {
  const before = await balance();
  await work();
  return before - (await balance());
}

describe('a batch', () => {
  it('costs what the bill says, and every chunk of it is stored', {
    tags: 'full',
    timeout: 600_000,
  }, async () => {
    const chunks = newChunks(70);
    const records = recordsOf(chunks);
    const relays = [await relayOf()];
    const bill = await prepareBill(records, { relays, journal, signal });
    expect(bill.due.batches.map((batch) => batch.chunks.length)).toEqual([64]);
    expect([bill.due.offers.length, bill.dueRecords]).toEqual([6, 70]);
    // The vault pays each of six nodes the same amount.
    expect(bill.amount).toBe(70n * recordPrice - ((64n * recordPrice) % 6n));

    const asked = wallet.asked.length;
    let payment!: Awaited<ReturnType<typeof pay>>;
    const spent = await spentBy(async () => {
      payment = await pay(bill, await connect(), upTo(bill.amount), parts);
    });
    expect([spent, payment.amount]).toEqual([bill.amount, bill.amount]);
    const sent = wallet.asked.slice(asked).filter((method) => method === 'eth_sendTransaction');
    // A permission and a payment for the batch, and for the others together.
    expect([sent.length, payment.transactions.length]).toEqual([4, 4]);
    expect(await vault.allowance(chain.accounts[0]!)).toBe(0n);

    for (const [i, record] of records.entries()) {
      expect(await storePaid(record, chunks[i]!, { relays, journal, signal })).toBe('stored');
    }
    await confirmStored(records, { relays, journal, signal });
    const names = records.map(({ address }) => address);
    const { batches, payments } = JSON.parse(
      await receiptOf('ab', names, { chain: vault.chain, journal, fees: 1n }),
    );
    expect(payments).toHaveLength(6);
    expect(batches).toMatchObject([
      {
        root: bill.due.batches[0]!.root,
        addresses: names.slice(0, 64),
        transaction: payment.transactions[1],
      },
    ]);
    expect(await prepareBill(records, { relays, journal, signal })).toMatchObject({
      stored: 70,
      dueRecords: 0,
      amount: 0n,
    });
  });

  it('costs no more gas than the estimate', { tags: 'full', timeout: 600_000 }, async () => {
    for (const count of [2, 40, 256]) {
      const batch = await batchFor(newChunks(count));
      const { fees } = await pay(dueOf(batch), await connect(), upTo(limit), parts);
      const estimate = await vault.feesOf(gasOf([{ batch }]));
      expect(estimate, `${count} chunks`).toBeGreaterThanOrEqual(fees);
      expect(estimate, `${count} chunks`).toBeLessThan(2n * fees);
    }
  });

  it('pays the pool that the vault chooses, and at most the dearest one', {
    tags: 'full',
    timeout: 600_000,
  }, async () => {
    const chosen = new Set<number>();
    for (let i = 0; i < 4; i++) {
      // The price of the middle node differs from pool to pool.
      relay.faults = {
        pools: (pools) =>
          pools.map(({ address }, pool) => {
            relay.faults.committed = Array.from({ length: 30 }, () => 1000 * (pool + 1));
            const made = relay.pool(address, timestampOf(pools));
            relay.faults.committed = [];
            return made;
          }),
      };
      const batch = await batchFor(newChunks(4));
      const charges = poolPayments(batch).map(({ charge }) => charge);
      expect(new Set(charges).size).toBe(2);
      let payment!: Awaited<ReturnType<typeof pay>>;
      const spent = await spentBy(async () => {
        payment = await pay(dueOf(batch), await connect(), upTo(mostOf(batch)), parts);
      });
      const { pool, amount } = (await journal.batchPayment(batch.root))!;
      expect([spent, BigInt(amount), payment.amount]).toEqual([charges[pool], charges[pool], charges[pool]]);
      chosen.add(pool);
      // The rest of the permission does not suffice for a second payment.
      expect(await vault.allowance(chain.accounts[0]!)).toBeLessThan(charges[0]!);
    }
    expect(chosen.size).toBeGreaterThan(0);
  });

  it('never costs so little in one pool that the permission suffices twice', async () => {
    relay.faults = {
      pools: (pools) =>
        pools.map(({ address }, pool) => {
          relay.faults.committed = Array.from({ length: 30 }, () => (pool === 0 ? 6000 : 0));
          const made = relay.pool(address, timestampOf(pools));
          relay.faults.committed = [];
          return made;
        }),
    };
    const batch = await batchFor(newChunks(4));
    const charges = poolPayments(batch).map(({ charge }) => charge);
    expect(charges[0]).toBe(4n * 3n * priceOf(6000));
    expect(2n * charges[1]!).toBeGreaterThan(charges[0]!);
    await pay(dueOf(batch), await connect(), upTo(limit), parts);
    // The chain refuses it, or executes nothing of it.
    const again = () => chain.execute(vault.batchPayment(batch)).catch(() => undefined);
    expect(await spentBy(again)).toBe(0n);
  });
});

/** The time that the nodes of a relay signed. */
const timestampOf = (pools: readonly { nodes: readonly { timestamp: number }[] }[]) =>
  pools[0]!.nodes[0]!.timestamp;

describe('a tree', () => {
  it('has the hashes of the network’s own code', async () => {
    const file = fromRoot('tests/fixtures/payments/batch.json');
    const { seed, chunks, poolAddress, poolHash, proof } = JSON.parse(await readFile(file, 'utf8'));
    const { root, timestamp, pool } = proof;
    const tree = new MerkleTree(
      chunks.map(({ address }: { address: string }) => address),
      seed,
    );
    expect([tree.root, tree.poolAddress(pool.index, timestamp)]).toEqual([root, poolAddress]);
    const pools = Array.from({ length: tree.pools }, () => pool.nodes);
    const batch: Batch = { root, timestamp, seed, chunks, pools };
    expect(proofOf(batch, pool.index, proof.address)).toEqual(proof);
    expect(bytesToHex(poolPayments(batch)[pool.index]!.hash)).toBe(poolHash);
    expect(proofOf(batch, 0, 'ab'.repeat(32))).toBe(undefined);
  });

  it.each([
    [2, 1, 2],
    [3, 2, 2],
    [64, 6, 8],
    [65, 7, 16],
    [256, 8, 16],
  ])('of %s addresses is %s deep and has %s pools', (addresses, depth, pools) => {
    const tree = new MerkleTree(
      Array.from({ length: addresses }, () => randomBytes(32).toString('hex')),
      'ab'.repeat(32),
    );
    expect([tree.depth, tree.pools]).toEqual([depth, pools]);
  });

  it.each([0, 1, 257])('has no %s addresses', (addresses) => {
    const make = () => new MerkleTree(Array(addresses).fill('ab'.repeat(32)), 'ab'.repeat(32));
    expect(make).toThrow(RangeError);
  });
});

describe('a plan', () => {
  it.each([
    [63, []],
    [64, [64]],
    [80, [64]],
    [111, [64]],
    [112, [112]],
    [128, [128]],
    [200, [128, 64]],
    [224, [224]],
    [300, [256]],
    [320, [256, 64]],
    [513, [256, 256]],
  ])('of %s chunks has batches of %s', (chunks, sizes) => {
    expect(batchSizes(chunks)).toEqual(sizes);
  });

  const offersFor = (count: number) =>
    recordsOf(newChunks(count)).map(({ address, size }) => ({
      plan: { address, size, quotes: [] },
      quoteHash: `0x${address}`,
      rewardsAddress: `0x${'07'.repeat(20)}`,
      amount: `${recordPrice}`,
    }));

  it('has single payments if a relay finds no batches, or too few nodes', async () => {
    const offers = offersFor(64);
    for (const faults of [{ info: { merkle: false } }, { hasNoPools: true }]) {
      relay.faults = faults;
      expect(await planBatches(offers, [await relayOf()], signal)).toEqual({
        batches: [],
        offers,
        unconfirmedNodes: 0,
      });
    }
    relay.faults = { poolsStatus: [503, 'SHORTFALL'] };
    expect(await planBatches(offers, [await relayOf()], signal)).toEqual({
      batches: [],
      offers,
      unconfirmedNodes: 0,
    });
  });

  it('has single payments if they are cheaper', async () => {
    const offers = offersFor(64);
    relay.faults = { committed: Array.from({ length: 30 }, () => 1500) };
    expect(await planBatches(offers, [await relayOf()], signal)).toEqual({
      batches: [],
      offers,
      unconfirmedNodes: 0,
    });
  });

  // A relay that invents some of the nodes could have the payment refused after it was made.
  it.each([
    [16, 'same'],
    [12, 'same'],
    [11, 'similar'],
    [9, 'similar'],
    [8, 'different'],
    [0, 'different'],
  ] as const)('says of two pools with %s common nodes that they are %s', (common, compared) => {
    const pool = relay.pool('', 1).nodes;
    const invented = pool.map((one, i) => (i < common ? one : { ...one, peer: `invented ${i}` }));
    expect(comparePools(pool, invented)).toBe(compared);
  });

  it('compares the nodes of two relays', { tags: 'full', timeout: 600_000 }, async () => {
    const offers = offersFor(64);
    const other = await RelayDouble.start(chain);
    try {
      const relays = [await relayOf(), await relayOf(other)];
      expect((await planBatches(offers, relays, signal)).batches).toHaveLength(1);
      other.faults = { firstNode: 5 };
      expect(await planBatches(offers, relays, signal)).toEqual({ batches: [], offers, unconfirmedNodes: 0 });
      other.faults = { firstNode: 8 };
      expect(await problemOf(planBatches(offers, relays, signal))).toBe('RELAYS_DIFFER');
    } finally {
      await other.stop();
    }
  });
});

describe('nothing is paid', () => {
  type Pools = Parameters<NonNullable<RelayDouble['faults']['pools']>>[0];
  const node = (change: (node: Pools[0]['nodes'][0]) => object) => (pools: Pools) => [
    ...pools.slice(0, -1),
    { ...pools.at(-1)!, nodes: pools.at(-1)!.nodes.map((one, i) => (i === 15 ? change(one) : one)) },
  ];
  const lies: [string, (pools: Pools) => unknown][] = [
    ['leaves a pool out', (pools) => pools.slice(1)],
    ['adds a pool', (pools) => [...pools, pools[0]]],
    ['changes the order of the pools', (pools) => pools.toReversed()],
    ['names another pool', ([first, ...rest]) => [{ ...first, address: 'ab'.repeat(32) }, ...rest]],
    ['leaves a node out', ([first, ...rest]) => [{ ...first, nodes: first!.nodes.slice(1) }, ...rest]],
    ['adds a node', ([first, ...rest]) => [{ ...first, nodes: [...first!.nodes, first!.nodes[0]] }, ...rest]],
    [
      'names a node twice',
      ([first, ...rest]) => [{ ...first, nodes: [...first!.nodes.slice(1), first!.nodes[1]] }, ...rest],
    ],
    ['has no nodes', ([first, ...rest]) => [{ ...first, nodes: undefined }, ...rest]],
    ['names another node', node((one) => ({ ...one, peer: 'ab'.repeat(32) }))],
    ['changes a price', node((one) => ({ ...one, price: `${2n * BigInt(one.price)}` }))],
    ['changes an account', node((one) => ({ ...one, rewardsAddress: `0x${'66'.repeat(20)}` }))],
    ['changes a time', node((one) => ({ ...one, timestamp: one.timestamp + 1 }))],
    ['changes the number of records', node((one) => ({ ...one, committedKeyCount: 1 }))],
    ['adds a commitment', node((one) => ({ ...one, commitmentPin: 'ab'.repeat(32) }))],
    ['adds something else', node((one) => ({ ...one, more: 1 }))],
  ];
  it.each(lies)('if the relay %s', async (_, pools) => {
    relay.faults = { pools };
    expect(await problemOf(batchFor(newChunks(4)))).toBe('QUOTE');
  });

  it('if the nodes signed at another time', async () => {
    relay.faults = {
      pools: (pools) => pools.map(({ address }) => relay.pool(address, timestampOf(pools) - 3600)),
    };
    expect(await problemOf(batchFor(newChunks(4)))).toBe('QUOTE');
  });

  it('to a pool with a node without an account, for which the token would refuse the transaction', async () => {
    relay.faults = { rewardsAddress: `0x${'0'.repeat(40)}` };
    expect(await problemOf(batchFor(newChunks(4)))).toBe('QUOTE');
  });

  it('if a commitment belongs to another node', async () => {
    relay.faults = {
      committed: Array.from({ length: 30 }, () => 7),
      pools: node((one) => ({ ...one, commitment: relay.pool('', one.timestamp).nodes[0]!.commitment })),
    };
    expect(await problemOf(batchFor(newChunks(4)))).toBe('QUOTE');
    relay.faults = {
      committed: Array.from({ length: 30 }, () => 7),
      pools: node((one) => ({ ...one, commitment: null })),
    };
    expect(await problemOf(batchFor(newChunks(4)))).toBe('QUOTE');
  });

  it('if the clock of this device is wrong', async () => {
    expect(await problemOf(batchFor(newChunks(4), Date.now() - 3_600_000))).toBe('CLOCK');
    const batch = await batchFor(newChunks(4));
    vi.useFakeTimers({ now: Date.now() - 30 * 24 * 3_600_000, toFake: ['Date'] });
    const late = { ...batch, timestamp: Math.floor(Date.now() / 1000) - 60 };
    const spent = await spentBy(async () => {
      expect(await problemOf(pay(dueOf(late), await connect(), upTo(limit), parts))).toBe('CLOCK');
    });
    expect(spent).toBe(0n);
  });

  it('for prices that are older than a day', async () => {
    const batch = await batchFor(newChunks(4));
    vi.useFakeTimers({ now: Date.now() + 25 * 3_600_000, toFake: ['Date'] });
    const spent = await spentBy(async () => {
      expect(await problemOf(pay(dueOf(batch), await connect(), upTo(limit), parts))).toBe('CHANGED');
    });
    expect(spent).toBe(0n);
  });

  it('above the limit, which counts the dearest pool', async () => {
    const batch = await batchFor(newChunks(4));
    const spent = await spentBy(async () => {
      const paying = pay(dueOf(batch), await connect(), upTo(mostOf(batch) - 1n), parts);
      expect(await problemOf(paying)).toBe('OVER_LIMIT');
    });
    expect(spent).toBe(0n);
  });

  it('if a stored batch is damaged', async () => {
    const chunks = newChunks(4);
    const batch = await batchFor(chunks);
    await journal.putBatch({ ...batch, seed: 'ab'.repeat(32) });
    for (const { address } of batch.chunks) await journal.putRecord({ address, batch: batch.root });
    const [account] = chain.accounts as [string];
    const addresses = batch.chunks.map(({ address }) => address);
    await journal.putPending({ id: '1', account, addresses, batch: batch.root });
    const relays = [await relayOf()];
    expect(await problemOf(prepareBill(recordsOf(chunks), { relays, journal, signal }))).toBe('QUOTE');
  });
});

describe('a payment for a batch', () => {
  it('is found if the wallet sends it late, and is not sent again', { tags: 'full' }, async () => {
    const chunks = newChunks(4);
    const batch = await batchFor(chunks);
    let send!: () => Promise<unknown>;
    const stop = new AbortController();
    let asked = 0;
    wallet.onSend = (sending) => {
      if (++asked === 1) return sending();
      send = sending;
      stop.abort(new Error('the page was closed'));
      return new Promise(() => {});
    };
    const paying = pay(dueOf(batch), await connect(), upTo(limit), { ...parts, signal: stop.signal });
    await expect(paying).rejects.toThrow('the page was closed');
    wallet.onSend = (sending) => sending();
    const relays = [await relayOf()];
    const bill = () => prepareBill(recordsOf(chunks), { relays, journal, signal });
    // The same batch is due, so that the late payment counts.
    expect((await bill()).due.batches.map(({ root }) => root)).toEqual([batch.root]);
    const spent = await spentBy(async () => {
      await chain.mined((await send()) as string);
      await settlePending(parts);
      expect(await bill()).toMatchObject({ paid: 4, dueRecords: 0 });
      expect((await pay(dueOf(batch), await connect(), upTo(limit), parts)).transactions).toEqual([]);
    });
    expect(spent).toBe(mostOf(batch));
    expect(await journal.batchPayment(batch.root)).toMatchObject({ transaction: unknownTransaction });
    // Another tab that shows an older price would pay something else.
    const other = await batchFor(chunks);
    expect(other.root).not.toBe(batch.root);
  });

  it('is not made with other prices while an older one may still be sent', { tags: 'full' }, async () => {
    const chunks = newChunks(4);
    const [first, second] = [await batchFor(chunks), await batchFor(chunks)];
    const [account] = chain.accounts as [string];
    const addresses = first.chunks.map(({ address }) => address);
    await journal.putPending({ id: '1', account, addresses, batch: first.root });
    expect(await problemOf(pay(dueOf(second), await connect(), upTo(limit), parts))).toBe('CHANGED');
  });

  it('of others for the same pool does not count, and costs nothing', async () => {
    const batch = await batchFor(newChunks(4));
    // Others can pay less for the same pools, because the vault takes any amounts.
    const word = (value: bigint) => value.toString(16).padStart(64, '0');
    const data = vault.batchPayment(batch).data.replaceAll(word(recordPrice), word(1n));
    await chain.execute(vault.approval(100n));
    await chain.execute({ to: chain.vault, data });
    expect(await vault.allowance(chain.accounts[0]!)).toBeLessThan(100n);
    expect(await vault.paidPool(batch)).toBe(undefined);
  });

  it('stays in the journal if the relay takes it and stores nothing', async () => {
    const chunks = newChunks(4);
    const records = recordsOf(chunks);
    const honest = await RelayDouble.start(chain);
    try {
      const batch = await batchFor(chunks);
      await pay(dueOf(batch), await connect(), upTo(limit), parts);
      relay.faults = { forgets: true };
      const relays = [await relayOf(), await relayOf(honest)];
      for (const [i, record] of records.entries())
        await storePaid(record, chunks[i]!, { relays, journal, signal });
      expect(await problemOf(confirmStored(records, { relays, journal, signal }))).toBe('NOT_STORED');
      const store = { relays: [relays[1]!], journal, signal };
      const spent = await spentBy(async () => {
        expect(await prepareBill(records, store)).toMatchObject({ paid: 4, dueRecords: 0 });
        for (const [i, record] of records.entries()) await storePaid(record, chunks[i]!, store);
        await confirmStored(records, store);
      });
      expect(spent).toBe(0n);
    } finally {
      await honest.stop();
    }
  });

  it('is not made for chunks that another tab has paid for meanwhile', async () => {
    const chunks = newChunks(4);
    const more = newChunks(1);
    const [first, second] = [await batchFor(chunks), await batchFor(chunks)];
    const overlapping = await batchFor([...chunks.slice(0, 1), ...more]);
    await pay(dueOf(first), await connect(), upTo(limit), parts);
    const spent = await spentBy(async () => {
      const { transactions } = await pay(dueOf(second), await connect(), upTo(limit), parts);
      expect(transactions).toEqual([]);
      expect(await problemOf(pay(dueOf(overlapping), await connect(), upTo(limit), parts))).toBe('CHANGED');
    });
    expect(spent).toBe(0n);
    // The payment of the first tab is still the one of each chunk.
    for (const { address } of recordsOf(chunks))
      expect(await journal.record(address)).toMatchObject({ batch: first.root });
  });

  it('is not made for a chunk that another tab has paid for by itself', { tags: 'full' }, async () => {
    const chunks = newChunks(2);
    const [record] = recordsOf(chunks) as [RecordToStore];
    const batch = await batchFor(chunks);
    const relays = [await relayOf()];
    await pay(await prepareBill([record], { relays, journal, signal }), await connect(), upTo(limit), parts);
    const spent = await spentBy(async () => {
      expect(await problemOf(pay(dueOf(batch), await connect(), upTo(limit), parts))).toBe('CHANGED');
    });
    expect(spent).toBe(0n);
    expect(await journal.record(record.address)).toHaveProperty('offer');
  });

  it('says so if the nodes do not see it', { tags: 'full' }, async () => {
    const chunks = newChunks(2);
    const batch = await batchFor(chunks);
    await journal.putBatch(batch);
    await journal.putRecord({ address: batch.chunks[0]!.address, batch: batch.root });
    await journal.putBatchPayment(batch, { pool: 0, amount: 1n }, unknownTransaction);
    const [record] = recordsOf(chunks) as [RecordToStore];
    const storing = storePaid(record, chunks[0]!, { relays: [await relayOf()], journal, signal });
    expect(await problemOf(storing)).toBe('UNPAID');
  });
});

describe('an upload of a batch in a page that ends', () => {
  const single = 1;

  /** Pays for a batch of two chunks and for another chunk, and stores them, as a page does it. */
  async function upload(
    chunks: readonly Uint8Array<ArrayBuffer>[],
    batch: Batch,
    store: JournalStore,
    page: EndingPage,
  ) {
    const noted = new PaymentJournal({
      ...store,
      put: (key, value) => page.step(() => store.put(key, value)),
      delete: (key) => page.step(() => store.delete(key)),
    });
    const own = new TestWallet(chain);
    own.onSend = (send) => page.step(send);
    const paying = vaultOf(own);
    const relays = [await relayOf()];
    const records = recordsOf(chunks);
    const account = await WalletAccount.connect(paying);
    await settlePending({ vault: paying, journal: noted, signal });
    const bill = await prepareBill(records, { relays, journal: noted, signal });
    // A bill has such small batches only after an interruption.
    const batched = new Set(batch.chunks.map(({ address }) => address));
    const offers = bill.due.offers.filter(({ plan }) => !batched.has(plan.address));
    const isDue = bill.due.batches.length > 0 || offers.length < bill.due.offers.length;
    const due = { batches: isDue ? [bill.due.batches[0] ?? batch] : [], offers };
    await pay({ due }, account, upTo(limit), { vault: paying, journal: noted, signal });
    for (const [i, record] of records.entries()) {
      await page.step(async () => undefined);
      await storePaid(record, chunks[i]!, { relays, journal: noted, signal });
    }
    await confirmStored(records, { relays, journal: noted, signal });
  }

  it('before or after any step is paid once, and stored', { tags: 'full', timeout: 600_000 }, async () => {
    let steps = 0;
    for (let isOver = false; !isOver; steps++) {
      const chunks = newChunks(2 + single);
      const batch = await batchFor(chunks.slice(0, 2));
      const store = memoryStore();
      await chain.execute(vault.approval(0n));
      const spent = await spentBy(async () => {
        const page = new EndingPage(steps);
        const first = upload(chunks, batch, store, page).then(() => true);
        isOver = await Promise.race([first, page.ended.then(() => false)]);
        await upload(chunks, batch, store, new EndingPage());
      });
      expect([steps, spent]).toEqual([steps, 3n * recordPrice]);
      expect(chunks.map(addressOf).every((address) => relay.stored.has(address))).toBe(true);
    }
    expect(steps).toBeGreaterThan(20);
  });
});
