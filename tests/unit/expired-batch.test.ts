// @module-tag slow
// @module-tag unix
import { randomBytes } from 'node:crypto';
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Batch, batchOf, requestBatch } from '../../src/payment/batch.ts';
import { type Bill, prepareBill } from '../../src/payment/bill.ts';
import type { PaymentJournal } from '../../src/payment/journal.ts';
import { KeyAccount } from '../../src/payment/key-account.ts';
import { pay } from '../../src/payment/pay.ts';
import type { RecordToStore } from '../../src/payment/quotes.ts';
import { Relay } from '../../src/payment/relay.ts';
import { settlePending } from '../../src/payment/settle.ts';
import { storePaid } from '../../src/payment/upload.ts';
import { Vault } from '../../src/payment/vault.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { upTo } from '../support/payment-limits.ts';
import { problemOf } from '../support/payment-problem.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { richKey, TestChain } from '../support/test-chain.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;
const limit = 10n ** 18n;
const hour = 60 * 60;
const day = 24 * hour;
const { signal } = new AbortController();

let chain: TestChain;
let double: RelayDouble;
let relay: Relay;
let journal: PaymentJournal;
let vault: Vault;
let account: KeyAccount;
let chunks: Uint8Array<ArrayBuffer>[];
let records: RecordToStore[];
let batch: Batch;
/** Answers requests instead of the chain. */
let onRequest: (method: string) => void;

// The time of a chain cannot go back, so each test has its own.
beforeEach(async () => {
  chain = await TestChain.start();
  double = await RelayDouble.start(chain);
  relay = new Relay(double.url, 1);
  journal = memoryJournal();
  onRequest = () => undefined;
  const { token, vault: contract } = chain;
  const provider = {
    request: async ({ method, params }: { method: string; params?: readonly unknown[] }) => {
      onRequest(method);
      return chain.request(method, params);
    },
  };
  vault = new Vault({ chainId: TestChain.chainId, token, vault: contract }, provider);
  account = new KeyAccount(Buffer.from(richKey.slice(2), 'hex'), vault);
  chunks = Array.from({ length: 2 }, () => new Uint8Array(randomBytes(100)));
  records = chunks.map((bytes) => ({ address: bytesToHex(blake3(bytes)), size: bytes.length }));
  const request = requestBatch(records as { address: string; size: number }[]);
  batch = batchOf(request, (await relay.pools(request, signal))!);
});
afterEach(async () => {
  vi.useRealTimers();
  await double.stop();
  await chain.stop();
});

const payBatch = () =>
  pay({ due: { batches: [batch], offers: [] } }, account, upTo(limit), { vault, journal, signal });
const payBill = (bill: Bill) => pay(bill, account, upTo(limit), { vault, journal, signal });
const settleAll = () => settlePending({ vault, journal, signal });
const billFor = (some = records) => prepareBill(some, { relays: [relay], journal, signal });
const store = (i: number) => storePaid(records[i]!, chunks[i]!, { relays: [relay], journal, signal });

/** Moves the clocks of this machine, of the nodes and of the chain. */
async function passTime(seconds: number): Promise<void> {
  moveClock(seconds);
  quoteNow();
  await chain.request('evm_increaseTime', [seconds]);
  await chain.request('evm_mine');
}

function moveClock(seconds: number): void {
  vi.useFakeTimers({ now: Date.now() + seconds * 1000, toFake: ['Date'] });
}

/** From now on, prices have the present time of this machine's clock. */
function quoteNow(): void {
  double.faults = { ...double.faults, timestamp: Math.floor(Date.now() / 1000) };
}

/** @returns what the work cost, in atto. */
async function spentBy(work: () => Promise<unknown>): Promise<bigint> {
  const before = await vault.balance(account.address);
  await work();
  return before - (await vault.balance(account.address));
}

describe('a payment for a batch that is older than seven days', () => {
  it('is refused by nodes, and its chunks are paid for again', async () => {
    await payBatch();
    await passTime(7 * day);
    expect(await problemOf(store(0))).toBe('QUOTE_EXPIRED');
    const spent = await spentBy(async () => {
      const bill = await billFor();
      expect(bill).toMatchObject({ paid: 0, stored: 0, dueRecords: 2, amount: 2n * recordPrice });
      await payBill(bill);
    });
    expect(spent).toBe(2n * recordPrice);
    expect([await store(0), await store(1)]).toEqual(['stored', 'stored']);
    expect(await billFor()).toMatchObject({ stored: 2, dueRecords: 0, amount: 0n });
  });

  it('costs nothing again for the chunks that were stored in time', { tags: 'full' }, async () => {
    await payBatch();
    await store(0);
    await passTime(8 * day);
    const bill = await billFor();
    expect(bill).toMatchObject({ stored: 1, paid: 0, dueRecords: 1, amount: recordPrice });
  });

  it('is not used for chunks that the network has meanwhile', async () => {
    await payBatch();
    for (const i of [0, 1]) double.stored.set(records[i]!.address, chunks[i]!);
    await passTime(8 * day);
    expect(await billFor()).toMatchObject({ dueRecords: 0, amount: 0n });
    expect([await store(0), await store(1)]).toEqual(['present', 'present']);
  });

  it('is not repeated if only the clock of this device says so', async () => {
    await payBatch();
    moveClock(8 * day);
    expect(await problemOf(billFor())).toBe('QUOTE');
    // Nodes whose clocks are as wrong.
    quoteNow();
    const bill = await billFor();
    const spent = await spentBy(async () => {
      expect(await problemOf(payBill(bill))).toBe('CLOCK');
    });
    expect(spent).toBe(0n);
    vi.useRealTimers();
    expect(await billFor()).toMatchObject({ paid: 2, dueRecords: 0 });
    expect([await store(0), await store(1)]).toEqual(['stored', 'stored']);
  });
});

describe('a signed payment for a batch that did not reach the chain', () => {
  let raw: string;

  /** Signs the payment, and fails before it is sent. */
  beforeEach(async () => {
    await chain.execute(vault.approval(2n * recordPrice));
    onRequest = (method) => {
      if (method === 'eth_sendRawTransaction') throw new Error('it is down');
    };
    expect(await problemOf(payBatch())).toBe('RPC');
    onRequest = () => undefined;
    raw = (await journal.pending())[0]!.raw!;
  });

  it('is sent while nodes accept it for a day or more', { tags: 'full' }, async () => {
    await passTime(6 * day - hour);
    expect(await spentBy(settleAll)).toBe(2n * recordPrice);
    expect(await billFor()).toMatchObject({ paid: 2, dueRecords: 0 });
    expect([await store(0), await store(1)]).toEqual(['stored', 'stored']);
  });

  it.each(['this device', 'the chain'])('is not sent if it is too late by the clock of %s', async (clock) => {
    if (clock === 'the chain') {
      await passTime(6 * day);
      vi.useRealTimers();
    } else moveClock(6 * day);
    expect(await spentBy(settleAll)).toBe(0n);
    expect([await journal.pending(), await journal.batches()]).toEqual([[], []]);
  });

  it('cannot be executed any more after the chunks are paid for again', { tags: 'full' }, async () => {
    await passTime(6 * day);
    const spent = await spentBy(async () => {
      await settleAll();
      await payBill(await billFor());
      await expect(chain.request('eth_sendRawTransaction', [raw])).rejects.toThrow('nonce');
    });
    expect(spent).toBe(2n * recordPrice);
  });

  it('is not sent without the nodes of its batch, which prove it', { tags: 'full' }, async () => {
    await journal.removeBatch(batch.root);
    expect(await spentBy(settleAll)).toBe(0n);
    expect(await journal.pending()).toEqual([]);
  });
});
