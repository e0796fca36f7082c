import { randomBytes } from 'node:crypto';
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../src/payment/account.ts';
import { batchOf, requestBatch } from '../../src/payment/batch.ts';
import { prepareBill } from '../../src/payment/bill.ts';
import type { PaymentJournal } from '../../src/payment/journal.ts';
import { KeyAccount } from '../../src/payment/key-account.ts';
import { pay } from '../../src/payment/pay.ts';
import type { Due } from '../../src/payment/payable.ts';
import { Relay } from '../../src/payment/relay.ts';
import { type PaymentParts, settlePending } from '../../src/payment/settle.ts';
import { storePaid } from '../../src/payment/upload.ts';
import { Vault } from '../../src/payment/vault.ts';
import { WalletAccount } from '../../src/payment/wallet-account.ts';
import { memoryJournal } from '../support/memory-journal.ts';
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
let vault: Vault;
let parts: PaymentParts;

// A chain whose time has jumped is of no use for the next test.
beforeEach(async () => {
  chain = await TestChain.start();
  relay = await RelayDouble.start(chain);
  journal = memoryJournal();
  const { token, vault: contract } = chain;
  vault = new Vault({ chainId: TestChain.chainId, token, vault: contract }, new TestWallet(chain));
  parts = { vault, journal, signal };
});
afterEach(async () => {
  await relay.stop();
  await chain.stop();
});

const chunks = [1, 2].map(() => new Uint8Array(randomBytes(100)));
const records = chunks.map((bytes) => ({ address: bytesToHex(blake3(bytes)), size: bytes.length }));
const names = records.map(({ address }) => address);

const store = () => ({ relays: [new Relay(relay.url, 1)], journal, signal });
const bill = () => prepareBill(records, store());

/** How many records are paid for, and how many are due. */
async function standing(): Promise<[number, number]> {
  await settlePending(parts);
  const { paid, dueRecords } = await bill();
  return [paid, dueRecords];
}

async function storeAll(): Promise<void> {
  for (const [i, record] of records.entries()) await storePaid(record, chunks[i]!, store());
}

/** Pays in blocks that the chain then loses. */
async function payInLostBlocks(account: Account, due: { due: Due }): Promise<void> {
  const before = await chain.request('evm_snapshot', []);
  await pay(due, account, limit, parts);
  expect(await standing()).toEqual([2, 0]);
  expect(await chain.request('evm_revert', [before])).toBe(true);
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
      expect(await problemOf(storeAll())).toBe('UNPAID');
      // The endpoint may be behind.
      expect(await standing()).toEqual([2, 0]);
      await passSeconds(700);
      expect(await standing()).toEqual([0, 2]);
      const again = await bill();
      expect(again.due.offers.map(({ quoteHash }) => quoteHash)).toEqual(
        due.due.offers.map(({ quoteHash }) => quoteHash),
      );
      const spent = await spentBy(() => pay(again, account, limit, parts));
      expect(spent).toBe(2n * recordPrice);
      await storeAll();
      expect(names.every((address) => relay.stored.has(address))).toBe(true);
    },
  );

  it('for a batch is due again, and then paid once', async () => {
    const account = await accounts['a wallet']!();
    const request = requestBatch(records);
    const batch = batchOf(request, (await store().relays[0]!.pools(request, signal))!);
    const due = { due: { batches: [batch], offers: [] } };
    await payInLostBlocks(account, due);
    await passSeconds(700);
    expect(await standing()).toEqual([0, 2]);
    const again = await bill();
    expect(again.due.batches.map(({ root }) => root)).toEqual([batch.root]);
    const spent = await spentBy(() => pay(again, account, limit, parts));
    expect(spent).toBe(2n * recordPrice);
    await storeAll();
    expect(names.every((address) => relay.stored.has(address))).toBe(true);
  });

  it('is not due again if the chain has it in a later block', async () => {
    const account = await accounts['a key']!();
    const due = await bill();
    const before = await chain.request('evm_snapshot', []);
    await pay(due, account, limit, parts);
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
  await pay(await bill(), await accounts['a wallet']!(), limit, parts);
  await passSeconds(700);
  expect(await standing()).toEqual([2, 0]);
  expect(await journal.settled()).toHaveLength(1);
  await storeAll();
  await settlePending(parts);
  expect(await journal.settled()).toEqual([]);
  expect((await bill()).stored).toBe(2);
});
