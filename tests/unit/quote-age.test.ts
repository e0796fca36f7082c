// @module-tag isolated
import '../support/fast-signatures.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { prepareBill } from '../../src/payment/bill.ts';
import type { PaymentJournal } from '../../src/payment/journal.ts';
import { KeyAccount } from '../../src/payment/key-account.ts';
import { pay } from '../../src/payment/pay.ts';
import { planBatches } from '../../src/payment/plan-batches.ts';
import { checkOffer, paidOf } from '../../src/payment/quotes.ts';
import { Relay } from '../../src/payment/relay.ts';
import { Vault } from '../../src/payment/vault.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { upTo } from '../support/payment-limits.ts';
import { problemOf } from '../support/payment-problem.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { richKey, TestChain } from '../support/test-chain.ts';
import { TestWallet } from '../support/test-wallet.ts';

const signal = new AbortController().signal;
const now = () => Math.floor(Date.now() / 1000);
const recordsOf = (count: number) =>
  Array.from({ length: count }, () => ({
    address: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex'),
    size: 100,
  }));

let chain: TestChain;
let relay: RelayDouble;
let vault: Vault;
let account: KeyAccount;
let journal: PaymentJournal;

beforeAll(async () => {
  chain = await TestChain.start();
  relay = await RelayDouble.start(chain);
  const { token, vault: contract } = chain;
  vault = new Vault({ chainId: TestChain.chainId, token, vault: contract }, new TestWallet(chain));
  account = new KeyAccount(Buffer.from(richKey.slice(2), 'hex'), vault);
});
afterAll(async () => {
  await relay.stop();
  await chain.stop();
});
beforeEach(() => {
  journal = memoryJournal();
});
afterEach(() => {
  relay.faults = {};
  vi.useRealTimers();
});

describe('a price that nodes have signed', () => {
  const bill = (records = recordsOf(1), relays = [new Relay(relay.url)]) =>
    prepareBill(records, { relays, journal, signal });

  it.each([
    ['over an hour ago', -3_700, 'QUOTE'],
    ['less than an hour ago', -3_500, undefined],
    ['in some minutes, by a clock that differs', 500, undefined],
    ['in the far future', 700, 'QUOTE'],
  ] as const)('%s is taken or refused (%s)', async (_, seconds, problem) => {
    relay.faults = { timestamp: now() + seconds };
    const asking = bill();
    if (problem) expect(await problemOf(asking)).toBe(problem);
    else expect((await asking).dueRecords).toBe(1);
  });

  it.each([1, 3, 4])('of %i of seven nodes that signed it long ago does not count', async (count) => {
    const [record] = recordsOf(1);
    relay.faults = { timestamp: now() - 10_000 };
    const old = checkOffer(relay.offer(record!), record!);
    relay.faults = {};
    const fresh = checkOffer(relay.offer(record!), record!);
    const quotes = fresh.plan.quotes.map((quote) =>
      fresh.plan.quotes.indexOf(quote) < count
        ? old.plan.quotes.find(({ peer }) => peer === quote.peer)!
        : quote,
    );
    relay.faults = { offer: (offer) => ({ ...offer, ...fresh, plan: { ...fresh.plan, quotes } }) };
    const asking = bill([record!]);
    if (count === 4) return expect(await problemOf(asking)).toBe('QUOTE');
    const [offer] = (await asking).due.offers;
    expect(offer!.plan.quotes).toEqual(fresh.plan.quotes.slice(count));
    expect(offer!.amount).toBe(`${3n * BigInt(paidOf(offer!.plan.quotes).price)}`);
  });

  it('is not paid a day later, unless a wallet may still pay it', async () => {
    const [record] = recordsOf(1);
    const due = await bill([record!]);
    vi.useFakeTimers({ now: Date.now() + 25 * 3_600_000, toFake: ['Date'] });
    const paying = pay(due, account, upTo(due.amount), { vault, journal, signal });
    expect(await problemOf(paying)).toBe('CHANGED');
    expect(await journal.pending()).toEqual([]);
    // The wallet has the transaction, and could send it after another one.
    await journal.putRecord({ offer: due.due.offers[0]! });
    await journal.putPending({ id: '1', account: account.address, addresses: [record!.address] });
    const again = await bill([record!]);
    expect(again.due.offers).toEqual(due.due.offers);
    const { transactions } = await pay(again, account, upTo(due.amount), { vault, journal, signal });
    expect(transactions).toHaveLength(2);
  });
});

it('a plan of batches says how many nodes only the first relay names', { timeout: 600_000 }, async () => {
  const { token, vault: contract } = chain;
  const other = await RelayDouble.start(chain);
  try {
    const relays = [new Relay(relay.url), new Relay(other.url)];
    for (const each of relays)
      await each.check({ chainId: TestChain.chainId, token, vault: contract }, signal);
    // The signatures of one offer take as long as the rest of this test, and a plan does not check them again.
    const [first, ...others] = recordsOf(64);
    const offer = checkOffer(relay.offer(first!), first!);
    const offers = [offer, ...others.map((record) => ({ ...offer, plan: { ...offer.plan, ...record } }))];
    const pools = 8;
    for (const [firstNode, unconfirmed] of [
      [0, 0],
      [3, 3],
    ] as const) {
      other.faults = { firstNode };
      const { batches, unconfirmedNodes } = await planBatches(offers, relays, signal);
      expect([batches.length, batches[0]!.pools.length, unconfirmedNodes]).toEqual([
        1,
        pools,
        pools * unconfirmed,
      ]);
    }
    expect((await planBatches(offers, relays.slice(0, 1), signal)).unconfirmedNodes).toBe(0);
  } finally {
    await other.stop();
  }
});
