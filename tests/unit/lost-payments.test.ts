// @module-tag slow
// @module-tag unix
import { randomBytes } from 'node:crypto';
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Account } from '../../src/payment/account.ts';
import { batchOf, requestBatch } from '../../src/payment/batch.ts';
import { prepareBill } from '../../src/payment/bill.ts';
import { type JournalStore, PaymentJournal, type SettledTransaction } from '../../src/payment/journal.ts';
import { KeyAccount } from '../../src/payment/key-account.ts';
import { pay } from '../../src/payment/pay.ts';
import type { Due } from '../../src/payment/payable.ts';
import { Relay } from '../../src/payment/relay.ts';
import { type PaymentParts, settlePending } from '../../src/payment/settle.ts';
import { storePaid } from '../../src/payment/upload.ts';
import { Vault } from '../../src/payment/vault.ts';
import { WalletAccount } from '../../src/payment/wallet-account.ts';
import { memoryJournal, memoryStore } from '../support/memory-journal.ts';
import { upTo } from '../support/payment-limits.ts';
import { problemOf } from '../support/payment-problem.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { richKey, TestChain } from '../support/test-chain.ts';
import { TestWallet } from '../support/test-wallet.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;
const limit = 10n ** 18n;
const { signal } = new AbortController();

let chain: TestChain;
let relay: RelayDouble;
let journal: PaymentJournal;
let journalStore: JournalStore;
let vault: Vault;
let parts: PaymentParts;

// A chain whose time has jumped is of no use for the next test.
beforeEach(async () => {
  chain = await TestChain.start();
  relay = await RelayDouble.start(chain);
  journalStore = memoryStore();
  journal = new PaymentJournal(journalStore);
  const { token, vault: contract } = chain;
  vault = new Vault({ chainId: TestChain.chainId, token, vault: contract }, new TestWallet(chain));
  parts = { vault, journal, signal };
});
afterEach(async () => {
  vi.useRealTimers();
  await relay.stop();
  await chain.stop();
});

const chunks = [1, 2].map(() => new Uint8Array(randomBytes(100)));
const records = chunks.map((bytes) => ({ address: bytesToHex(blake3(bytes)), size: bytes.length }));
const names = records.map(({ address }) => address);

const store = () => ({ relays: [new Relay(relay.url, 1)], journal, signal });
const bill = () => prepareBill(records, store());

async function newBatch() {
  const request = requestBatch(records);
  return batchOf(request, (await store().relays[0]!.pools(request, signal))!);
}

/** How many records are paid for, and how many are due. */
async function standing(): Promise<[number, number]> {
  await settlePending(parts);
  const { paid, dueRecords } = await bill();
  return [paid, dueRecords];
}

async function storeAll(): Promise<void> {
  for (const [i, record] of records.entries()) await storePaid(record, chunks[i]!, store());
}

/** Does work in blocks that the chain then loses. */
async function inLostBlocks(work: () => Promise<unknown>): Promise<void> {
  const before = await chain.request('evm_snapshot', []);
  await work();
  expect(await chain.request('evm_revert', [before])).toBe(true);
}

function payInLostBlocks(account: Account, due: { due: Due }): Promise<void> {
  return inLostBlocks(async () => {
    await pay(due, account, upTo(limit), parts);
    expect(await standing()).toEqual([2, 0]);
  });
}

/** Pays what is due once, and stores it. */
async function payAndStore(account: Account): Promise<void> {
  const due = await bill();
  expect(await spentBy(() => pay(due, account, upTo(limit), parts))).toBe(2n * recordPrice);
  await storeAll();
  expect(names.every((address) => relay.stored.has(address))).toBe(true);
}

async function passSeconds(seconds: number): Promise<void> {
  await chain.request('evm_increaseTime', [seconds]);
  await chain.request('evm_mine', []);
}

/** @returns what the work cost, in atto. */
async function spentBy(work: () => Promise<unknown>): Promise<bigint> {
  const [account] = chain.accounts as [string];
  const before = await vault.balance(account);
  await work();
  return before - (await vault.balance(account));
}

const accounts: Record<string, () => Promise<Account>> = {
  'a wallet': () => WalletAccount.connect(vault),
  'a key': async () => new KeyAccount(hexToBytes(richKey.replace(/^0x/, '')), vault),
};

describe('a payment whose blocks the chain has lost', () => {
  it.each(Object.keys(accounts))(
    'by %s is due again at the same prices, and then paid once',
    async (name) => {
      const account = await accounts[name]!();
      const due = await bill();
      await payInLostBlocks(account, due);
      expect((await bill()).unseen).toBe(0);
      expect(await problemOf(storeAll())).toBe('UNPAID');
      expect((await bill()).unseen).toBe(2);
      // The endpoint may be behind.
      expect(await standing()).toEqual([2, 0]);
      await passSeconds(700);
      expect(await standing()).toEqual([0, 2]);
      const again = await bill();
      expect(again.due.offers.map(({ quoteHash }) => quoteHash)).toEqual(
        due.due.offers.map(({ quoteHash }) => quoteHash),
      );
      const spent = await spentBy(() => pay(again, account, upTo(limit), parts));
      expect(spent).toBe(2n * recordPrice);
      await storeAll();
      expect(names.every((address) => relay.stored.has(address))).toBe(true);
    },
  );

  it('for a batch is due again, and then paid once', { tags: 'full' }, async () => {
    const account = await accounts['a wallet']!();
    const batch = await newBatch();
    const due = { due: { batches: [batch], offers: [] } };
    await payInLostBlocks(account, due);
    await passSeconds(700);
    expect(await standing()).toEqual([0, 2]);
    const again = await bill();
    expect(again.due.batches.map(({ root }) => root)).toEqual([batch.root]);
    await payAndStore(account);
  });

  it('for a batch of yesterday is due at new prices', { tags: 'full' }, async () => {
    const account = await accounts['a wallet']!();
    await payInLostBlocks(account, { due: { batches: [await newBatch()], offers: [] } });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * 60 * 60 * 1000 });
    await passSeconds(25 * 60 * 60 + 700);
    relay.faults = { timestamp: Math.floor(Date.now() / 1000) };
    expect(await standing()).toEqual([0, 2]);
    expect(await journal.pending()).toEqual([]);
    expect((await bill()).due).toMatchObject({ batches: [], offers: [{}, {}] });
    await payAndStore(account);
  });

  it('is due again if the command was killed before it wrote down all of it', async () => {
    const account = await accounts['a key']!();
    const due = await bill();
    const killed = new PaymentJournal({
      ...journalStore,
      put: (key, value) =>
        key.startsWith('record-') && (value as { transaction?: string }).transaction !== undefined
          ? Promise.reject(new Error('killed'))
          : journalStore.put(key, value),
    });
    await inLostBlocks(async () => {
      const paying = pay(due, account, upTo(limit), { ...parts, journal: killed });
      await expect(paying).rejects.toThrow('killed');
      expect(await standing()).toEqual([2, 0]);
    });
    await passSeconds(700);
    expect(await standing()).toEqual([0, 2]);
    await payAndStore(account);
  });

  it('is due again if it comes back and fails', { tags: 'full' }, async () => {
    const account = await accounts['a key']!();
    const due = await bill();
    await payInLostBlocks(account, due);
    const [{ raw, hash }] = (await journal.settled()) as [SettledTransaction];
    // It takes the place of the permission.
    await chain.execute(vault.approval(0n));
    await chain.request('eth_sendRawTransaction', [raw]);
    await chain.request('evm_mine', []);
    expect(await vault.receipt(hash)).toMatchObject({ isSuccess: false });
    await passSeconds(700);
    expect(await standing()).toEqual([0, 2]);
    await payAndStore(account);
  });

  it('is due again if a wallet never told its hash', { tags: 'full' }, async () => {
    const account = await accounts['a wallet']!();
    const { due } = await bill();
    const pending = { id: 'untold', account: account.address, addresses: names };
    await inLostBlocks(async () => {
      await pay({ due }, account, upTo(limit), { ...parts, journal: memoryJournal() });
      for (const offer of due.offers) await journal.putRecord({ offer });
      await journal.putPending(pending);
      expect(await standing()).toEqual([2, 0]);
    });
    await passSeconds(700);
    expect(await standing()).toEqual([0, 2]);
    expect(await journal.pending()).toEqual([pending]);
    await payAndStore(account);
  });

  it('does not hold up other payments while the permission before it is lost, too', {
    tags: 'full',
  }, async () => {
    const account = await accounts['a key']!();
    const due = await bill();
    await inLostBlocks(async () => {
      await pay(due, account, upTo(limit), parts);
      // The command was killed while it waited for the confirmation.
      const [settled] = (await journal.settled()) as [SettledTransaction];
      await journal.putPending(settled);
      await journal.removeSettled(settled);
      for (const offer of due.due.offers) await journal.putRecord({ offer });
    });
    expect(await standing()).toEqual([0, 2]);
    await payAndStore(account);
  });

  it('is not due again if the chain has it in a later block', async () => {
    const account = await accounts['a key']!();
    const due = await bill();
    const before = await chain.request('evm_snapshot', []);
    await pay(due, account, upTo(limit), parts);
    const settled = await journal.settled();
    expect(settled.map(({ addresses }) => addresses.length)).toEqual([2]);
    const approval = await chain.request('evm_revert', [before]);
    expect(approval).toBe(true);
    await chain.execute(vault.approval(2n * recordPrice));
    await chain.request('eth_sendRawTransaction', [settled[0]!.raw]);
    await passSeconds(700);
    expect(await standing()).toEqual([2, 0]);
    await storeAll();
  });
});

it('a payment that the chain keeps is not due again, and is forgotten once everything is stored', async () => {
  await pay(await bill(), await accounts['a wallet']!(), upTo(limit), parts);
  await passSeconds(700);
  expect(await standing()).toEqual([2, 0]);
  expect(await journal.settled()).toHaveLength(1);
  await storeAll();
  await settlePending(parts);
  expect(await journal.settled()).toEqual([]);
  expect((await bill()).stored).toBe(2);
});
