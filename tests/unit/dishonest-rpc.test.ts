// @module-tag unix
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Bill } from '../../src/payment/bill.ts';
import { arbitrumOne } from '../../src/payment/chain.ts';
import type { PaymentJournal } from '../../src/payment/journal.ts';
import { KeyAccount } from '../../src/payment/key-account.ts';
import { pay } from '../../src/payment/pay.ts';
import { checkOffer } from '../../src/payment/quotes.ts';
import { settlePending } from '../../src/payment/settle.ts';
import { type Provider, Vault } from '../../src/payment/vault.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { upTo } from '../support/payment-limits.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { richKey, TestChain } from '../support/test-chain.ts';

let chain: TestChain;
let relay: RelayDouble;
let journal: PaymentJournal;
let records = 0;

beforeAll(async () => {
  chain = await TestChain.start();
  relay = await RelayDouble.start(chain);
});
afterAll(async () => {
  await relay.stop();
  await chain.stop();
});
beforeEach(() => {
  journal = memoryJournal();
});

type Request = Parameters<Provider['request']>[0];

/** The chain, but `answer` answers first. `undefined` leaves the answer to the chain. */
function vaultWith(answer: (request: Request) => unknown = () => undefined): Vault {
  const request = async (request: Request) => {
    const own = await answer(request);
    return own === undefined ? chain.request(request.method, request.params) : own;
  };
  const { token, vault } = chain;
  return new Vault({ chainId: TestChain.chainId, token, vault }, { request });
}

/** A bill for one record that no other test has. */
function newBill(): { bill: Bill; name: string } {
  const name = (++records).toString(16).padStart(64, '0');
  const record = { address: name, size: 100 };
  const offer = checkOffer(relay.offer(record), record);
  const due = { batches: [], offers: [offer] };
  const bill = {
    records: 1,
    stored: 0,
    paid: 0,
    unseen: 0,
    due,
    unconfirmedNodes: 0,
    dueRecords: 1,
    amount: BigInt(offer.amount),
  };
  return { bill, name };
}

const signal = new AbortController().signal;

/** Makes the payment of a bill the first transaction. */
async function approve({ amount }: Bill): Promise<void> {
  await chain.execute(vaultWith().approval(amount));
}

/** Pays, but the endpoint fails at `method`, as often as it is asked. */
async function payUntil(method: string, { bill }: { bill: Bill }): Promise<void> {
  await approve(bill);
  const isPayment = ({ params }: Request) => method !== 'eth_sendRawTransaction' || params !== undefined;
  const vault = vaultWith((request) => {
    if (request.method === method && isPayment(request)) throw new Error('it is down');
  });
  const account = new KeyAccount(Buffer.from(richKey.slice(2), 'hex'), vault);
  const parts = { vault, journal, signal };
  await expect(pay(bill, account, upTo(10n ** 18n), parts)).rejects.toMatchObject({
    details: { payment: 'RPC' },
  });
}

describe('an endpoint with machines that are behind', () => {
  it('does not make the command forget a payment', async () => {
    const { bill, name } = newBill();
    const before = await chain.request('eth_blockNumber');
    await payUntil('eth_getTransactionReceipt', { bill });
    // Only the count is of the newest block.
    const behind = vaultWith(({ method, params = [] }) => {
      if (method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash') return null;
      if (method !== 'eth_call') return undefined;
      if (params[1] !== 'latest') throw new Error('header not found');
      return chain.request(method, [params[0], before]);
    });
    const settling = settlePending({ vault: behind, journal, signal });
    await expect(settling).rejects.toMatchObject({ details: { payment: 'RPC' } });
    expect(await journal.pending()).toHaveLength(1);

    await settlePending({ vault: vaultWith(), journal, signal });
    expect(await journal.pending()).toHaveLength(0);
    expect((await journal.record(name))!.transaction).toBeDefined();
  });

  it('still lets the command forget a transaction whose number another one took', async () => {
    const { bill, name } = newBill();
    await payUntil('eth_sendRawTransaction', { bill });
    await chain.execute({ to: chain.accounts[0] });
    await settlePending({ vault: vaultWith(), journal, signal });
    expect(await journal.pending()).toHaveLength(0);
    expect((await journal.record(name))!.transaction).toBeUndefined();
  });
});

describe('an endpoint with answers of another form', () => {
  const hash = `0x${'ab'.repeat(32)}`;
  const account = `0x${'cd'.repeat(20)}`;
  const call = { to: account, data: '0x' };
  const key = Buffer.from(richKey.slice(2), 'hex');
  const asked: [string, (vault: Vault) => Promise<unknown>][] = [
    ['eth_chainId', (vault) => vault.checkChain()],
    ['eth_getBalance', (vault) => vault.ether(account)],
    ['eth_gasPrice', (vault) => vault.feesOf(1n)],
    ['eth_blockNumber', (vault) => vault.newestBlock()],
    ['eth_getTransactionCount', (vault) => vault.transactionCount(account, 'latest')],
    ['eth_getBlockByNumber', (vault) => vault.fingerprint()],
    ['eth_call', (vault) => vault.balance(account)],
    ['eth_getTransactionByHash', (vault) => vault.nonceOf(hash)],
    ['eth_estimateGas', (vault) => new KeyAccount(key, vault).send(call, unsent, 10n ** 18n)],
    ['eth_gasPrice', (vault) => new KeyAccount(key, vault).send(call, unsent, 10n ** 18n)],
    ['eth_getTransactionCount', (vault) => new KeyAccount(key, vault).send(call, unsent, 10n ** 18n)],
  ];
  const unsent = async () => expect.fail('a transaction was signed');
  const values = ['', '0x', '0xzz', 'x', '-0x1', -1, 1.5, `0x${'1'.repeat(65)}`, {}, [], true];

  it.each(asked)('is refused for %s', async (method, ask) => {
    for (const value of method === 'eth_getTransactionByHash' ? values.filter(Boolean) : [null, ...values]) {
      const vault = vaultWith((request) => (request.method === method ? value : undefined));
      await expect(ask(vault), JSON.stringify(value)).rejects.toMatchObject({
        details: { payment: expect.stringMatching(/^(RPC|CHAIN)$/) },
      });
    }
  });

  it.each([
    {},
    [],
    '0x',
    { transactionHash: hash, status: '0x1', gasUsed: null },
    { transactionHash: hash, status: 'ok', gasUsed: '0x1', effectiveGasPrice: '0x1' },
    { transactionHash: account, status: '0x1', gasUsed: '0x1', effectiveGasPrice: '0x1' },
  ])('is refused for the receipt %j', async (receipt) => {
    const vault = vaultWith(() => receipt);
    await expect(vault.receipt(hash)).rejects.toMatchObject({ details: { payment: 'RPC' } });
  });

  it('is refused for a first block that could be the path of a folder', async () => {
    const vault = vaultWith(() => ({ hash: '0x/../../../../../../../..' }));
    await expect(vault.fingerprint()).rejects.toMatchObject({ details: { payment: 'RPC' } });
  });

  it('cannot give the payments of the real network another journal', async () => {
    const answers = ['0x11', '0x22'].map((byte) => ({ hash: byte.padEnd(66, '0') }));
    const names = answers.map((block) =>
      new Vault(arbitrumOne, { request: async () => block }).fingerprint(),
    );
    expect(await Promise.all(names)).toEqual(['42161', '42161']);
  });
});

it('a transaction may need more gas than a block of the layer below has', async () => {
  const answers: Record<string, string> = { eth_estimateGas: '0x4c4b400', eth_sendRawTransaction: '0x' };
  const vault = vaultWith(({ method }) => answers[method]);
  const account = new KeyAccount(Buffer.from(richKey.slice(2), 'hex'), vault);
  const hash = await account.send(vault.approval(1n), async () => undefined, 10n ** 18n);
  expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
});

describe('a user who stops', () => {
  const key = Buffer.from(richKey.slice(2), 'hex');

  it.each(['eth_estimateGas', 'eth_gasPrice'])(
    'before the transaction is written down pays nothing (%s)',
    async (method) => {
      const { bill, name } = newBill();
      await approve(bill);
      const stopping = new AbortController();
      const asked: string[] = [];
      const vault = vaultWith((request) => {
        asked.push(request.method);
        // Not the price for the check of the funds.
        const isSigning = request.method === method && asked.includes('eth_estimateGas');
        if (isSigning) stopping.abort(new Error('the user stopped'));
        return undefined;
      });
      const paying = pay(bill, new KeyAccount(key, vault), upTo(bill.amount), {
        vault,
        journal,
        signal: stopping.signal,
      });
      await expect(paying).rejects.toThrow('the user stopped');
      // Nothing goes on afterwards.
      await chain.request('eth_blockNumber');
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(asked).not.toContain('eth_sendRawTransaction');
      expect([await journal.pending(), await journal.record(name)]).toEqual([[], undefined]);
    },
  );

  it('while it is written down leaves a journal that knows it', async () => {
    const { bill, name } = newBill();
    await approve(bill);
    const stopping = new AbortController();
    const { putRecord } = journal;
    journal.putRecord = async (entry) => {
      stopping.abort(new Error('the user stopped'));
      // A disk takes a while.
      await new Promise((resolve) => setTimeout(resolve, 50));
      return putRecord.call(journal, entry);
    };
    const vault = vaultWith();
    const paying = pay(bill, new KeyAccount(key, vault), upTo(bill.amount), {
      vault,
      journal,
      signal: stopping.signal,
    });
    await Promise.allSettled([paying]);
    // The next command may start now.
    journal.putRecord = putRecord;
    await settlePending({ vault, journal, signal });
    const isKnown = (await journal.record(name))?.transaction !== undefined;
    expect([isKnown, (await journal.pending()).length]).toEqual([await vault.isPaid(bill.due.offers[0]!), 0]);
  });
});
