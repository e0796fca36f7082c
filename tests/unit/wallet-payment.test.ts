// @module-tag slow
// @module-tag unix
import '../support/fast-signatures.ts';
import { randomBytes } from 'node:crypto';
import { blake3 } from '@noble/hashes/blake3.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { prepareBill } from '../../src/payment/bill.ts';
import { paymentProblemOf } from '../../src/payment/errors.ts';
import { type JournalStore, PaymentJournal, unknownTransaction } from '../../src/payment/journal.ts';
import { pay } from '../../src/payment/pay.ts';
import type { RecordToStore } from '../../src/payment/quotes.ts';
import { Relay } from '../../src/payment/relay.ts';
import { type PaymentParts, settlePending } from '../../src/payment/settle.ts';
import { confirmStored, storePaid } from '../../src/payment/upload.ts';
import { Vault } from '../../src/payment/vault.ts';
import { WalletAccount } from '../../src/payment/wallet-account.ts';
import { EndingPage } from '../support/ending-page.ts';
import { memoryJournal, memoryStore } from '../support/memory-journal.ts';
import { upTo } from '../support/payment-limits.ts';
import { problemOf } from '../support/payment-problem.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { TestChain } from '../support/test-chain.ts';
import { TestWallet, walletError } from '../support/test-wallet.ts';

/** The price of a record at nodes without records: three times 0.00390625 ANT. */
const recordPrice = 11_718_750_000_000_000n;
const limit = 10n ** 18n;

let chain: TestChain;
let relay: RelayDouble;
let wallet: TestWallet;
let journal: PaymentJournal;
let vault: Vault;
let stopping: AbortController;
let parts: PaymentParts;
let records: RecordToStore[];

beforeAll(async () => {
  chain = await TestChain.start();
  relay = await RelayDouble.start(chain);
});
afterAll(async () => {
  await relay.stop();
  await chain.stop();
});
beforeEach(async () => {
  wallet = new TestWallet(chain);
  journal = memoryJournal();
  const { token, vault: contract } = chain;
  vault = new Vault({ chainId: TestChain.chainId, token, vault: contract }, wallet);
  stopping = new AbortController();
  parts = { vault, journal, signal: stopping.signal };
  records = newRecords(2);
  await chain.execute(vault.approval(0n));
});

function newRecords(count: number): RecordToStore[] {
  return Array.from({ length: count }, () => ({ address: randomBytes(32).toString('hex'), size: 1000 }));
}

const bill = () => prepareBill(records, { relays: [new Relay(relay.url)], journal, signal: parts.signal });

async function standing() {
  const { paid, dueRecords: due } = await bill();
  return { paid, due };
}

const hashes = async () => (await bill()).due.offers.map(({ quoteHash }) => quoteHash);

async function payBill(by?: WalletAccount) {
  return pay(await bill(), by ?? (await WalletAccount.connect(vault)), upTo(limit), parts);
}

const balance = () => vault.balance(chain.accounts[0]!);

/** Waits until the wallet is asked to send the payment of records, and returns what sends it. */
function heldPayment(): Promise<() => Promise<unknown>> {
  return new Promise((resolve) => {
    let asked = 0;
    wallet.onSend = (send) => {
      // The first transaction is the approval.
      if (++asked === 1) return send();
      resolve(send);
      return new Promise(() => {});
    };
  });
}

/** A page that was closed while the wallet waited for the user. @returns what the user's late consent does. */
async function closedWhileWaiting(): Promise<() => Promise<string>> {
  const held = heldPayment();
  const paying = payBill();
  paying.catch(() => undefined);
  const send = await held;
  stopping.abort(new Error('the page was closed'));
  await expect(paying).rejects.toThrow('the page was closed');
  stopping = new AbortController();
  parts = { vault, journal, signal: stopping.signal };
  wallet.onSend = (next) => next();
  return async () => {
    const hash = (await send()) as string;
    await chain.mined(hash);
    return hash;
  };
}

describe('a payment by a wallet', () => {
  it('pays nothing if the user changes the amount that the vault may take, and the next attempt pays', async () => {
    const before = await balance();
    wallet.onSend = () =>
      chain.request('eth_sendTransaction', [{ ...vault.approval(1n), from: chain.accounts[0] }]);
    // The payment waits half a minute for the chain to show the permission that it asked for.
    const now = Date.now.bind(Date);
    const startMs = now();
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => startMs + 60 * (now() - startMs));
    const error = await payBill()
      .catch((caught) => caught)
      .finally(() => clock.mockRestore());
    expect(paymentProblemOf(error)).toBe('ALLOWANCE');
    expect(error.details).toMatchObject({ allowance: '1', amount: `${2n * recordPrice}` });
    expect(await balance()).toBe(before);
    wallet.onSend = (send) => send();
    await payBill();
    expect(before - (await balance())).toBe(2n * recordPrice);
    expect(await standing()).toEqual({ paid: 2, due: 0 });
  });

  it('costs what the bill says, and approves exactly that', async () => {
    const before = await balance();
    const payment = await payBill();
    expect(payment).toMatchObject({ amount: 2n * recordPrice });
    expect(payment.transactions).toHaveLength(2);
    expect(before - (await balance())).toBe(payment.amount);
    expect(await vault.allowance(chain.accounts[0]!)).toBe(0n);
    expect(await journal.pending()).toEqual([]);
    expect(await standing()).toEqual({ paid: 2, due: 0 });
  });

  it('is checked before each request to the wallet, and refused between them if the check fails', async () => {
    const before = await balance();
    const steps: string[] = [];
    wallet.onSend = (send) => {
      steps.push('request');
      return send();
    };
    const paying = async (fails: boolean) => {
      const check = async () => {
        steps.push('check');
        if (fails && steps.includes('request')) throw new Error('Another device was faster.');
      };
      const account = await WalletAccount.connect(vault);
      return pay(await bill(), account, upTo(limit), { ...parts, check });
    };
    await expect(paying(true)).rejects.toThrow('Another device was faster.');
    expect(steps.splice(0)).toEqual(['check', 'request', 'check']);
    expect([await balance(), await standing()]).toEqual([before, { paid: 0, due: 2 }]);
    await paying(false);
    // The permission is the one of before.
    expect(steps.splice(0)).toEqual(['check', 'request']);
    await paying(false);
    expect(steps).toEqual([]);
  });

  it('takes back a larger permission of an earlier program', async () => {
    await chain.execute(vault.approval(limit));
    await payBill();
    expect(await vault.allowance(chain.accounts[0]!)).toBe(0n);
  });

  it('that the user refuses costs nothing, and can be tried again', async () => {
    const before = await balance();
    wallet.onSend = async () => {
      throw walletError(4001, 'User rejected the request.');
    };
    expect(await problemOf(payBill())).toBe('REJECTED');
    expect(await journal.pending()).toEqual([]);
    expect(await balance()).toBe(before);
    wallet.onSend = (send) => send();
    expect((await payBill()).amount).toBe(2n * recordPrice);
  });

  it('above the limit asks the wallet for nothing', async () => {
    const account = await WalletAccount.connect(vault);
    expect(await problemOf(bill().then((due) => pay(due, account, upTo(recordPrice), parts)))).toBe(
      'OVER_LIMIT',
    );
    expect(wallet.asked).not.toContain('eth_sendTransaction');
  });
});

describe('a payment in a page that is closed', () => {
  it('is found on the chain if the user agrees before the page returns', async () => {
    const before = await balance();
    const agree = await closedWhileWaiting();
    await agree();
    await settlePending(parts);
    expect(await standing()).toEqual({ paid: 2, due: 0 });
    expect((await journal.record(records[0]!.address))?.transaction).toBe(unknownTransaction);
    expect(await journal.pending()).toEqual([]);
    expect(await payBill()).toMatchObject({ amount: 0n, transactions: [] });
    expect(before - (await balance())).toBe(2n * recordPrice);
  });

  it('keeps its price until it is known to be paid or not', async () => {
    await closedWhileWaiting();
    await settlePending(parts);
    const tried = await hashes();
    expect(tried).toHaveLength(2);
    expect(await hashes()).toEqual(tried);
  });

  it('is executed once if the user agrees to it and to the new one', async () => {
    const before = await balance();
    const agree = await closedWhileWaiting();
    await settlePending(parts);
    expect((await payBill()).amount).toBe(2n * recordPrice);
    const hash = await agree();
    expect(await vault.receipt(hash)).toMatchObject({ isSuccess: false });
    expect(before - (await balance())).toBe(2n * recordPrice);
    await settlePending(parts);
    expect(await journal.pending()).toEqual([]);
  });

  it('is executed once if the user agrees to it while the new one waits', async () => {
    const before = await balance();
    const agree = await closedWhileWaiting();
    await settlePending(parts);
    wallet.onSend = async (send) => {
      await agree();
      return send();
    };
    expect(await payBill()).toMatchObject({ amount: 0n, transactions: [] });
    expect(await standing()).toEqual({ paid: 2, due: 0 });
    expect(before - (await balance())).toBe(2n * recordPrice);
  });

  it('is not repeated after the permission was given again', async () => {
    const before = await balance();
    const agree = await closedWhileWaiting();
    await chain.execute(vault.approval(0n));
    wallet.onSend = async (send) => {
      // The new permission.
      const hash = (await send()) as string;
      await chain.mined(hash);
      await agree();
      return hash;
    };
    expect((await payBill()).amount).toBe(0n);
    expect(before - (await balance())).toBe(2n * recordPrice);
  });

  it('is not paid again by a tab that has other prices', async () => {
    const before = await balance();
    const otherTab = await bill();
    const agree = await closedWhileWaiting();
    await agree();
    const account = await WalletAccount.connect(vault);
    expect(await problemOf(pay(otherTab, account, upTo(limit), parts))).toBe('CHANGED');
    await settlePending(parts);
    expect((await payBill()).amount).toBe(0n);
    expect(before - (await balance())).toBe(2n * recordPrice);
  });

  it('is not asked for after the user has stopped', async () => {
    const slow = memoryStore();
    const noted = new PaymentJournal({
      ...slow,
      async put(key, value) {
        await slow.put(key, value);
        // Before the wallet is asked for the first time.
        if (key.startsWith('transaction-')) stopping.abort(new Error('stopped'));
      },
    });
    const account = await WalletAccount.connect(vault);
    const paying = pay(await bill(), account, upTo(limit), { ...parts, journal: noted });
    await expect(paying).rejects.toThrow('stopped');
    await expect.poll(() => slow.keys('transaction-'), { timeout: 30_000 }).toEqual([]);
    expect(wallet.asked).not.toContain('eth_sendTransaction');
  });

  it('is not paid by another account as long as the first one may pay', async () => {
    const before = await balance();
    const agree = await closedWhileWaiting();
    wallet.accounts = [chain.accounts[1]!];
    const [, second] = chain.accounts as [string, string];
    const transfer = `0xa9059cbb${second.slice(2).padStart(64, '0')}${limit.toString(16).padStart(64, '0')}`;
    await chain.execute({ to: chain.token, data: transfer });
    expect(await problemOf(payBill())).toBe('ACCOUNT');
    await agree();
    await settlePending(parts);
    expect((await payBill()).amount).toBe(0n);
    expect(before - (await balance()) - limit).toBe(2n * recordPrice);
  });

  it('is found if the wallet sends it with higher fees in place of the first one', async () => {
    const before = await balance();
    const [from] = chain.accounts as [string];
    await chain.execute(vault.approval(2n * recordPrice));
    await chain.request('evm_setAutomine', [false]);
    try {
      let hash = '';
      wallet.onSend = async (send) => {
        hash = (await send()) as string;
        return hash;
      };
      const paying = payBill();
      await expect.poll(() => wallet.asked, { timeout: 30_000 }).toContain('eth_getTransactionByHash');
      const first = (await chain.request('eth_getTransactionByHash', [hash])) as Record<string, string>;
      const { nonce, input: data, gas } = first;
      const faster = { from, to: chain.vault, data, nonce, gas, gasPrice: '0x12a05f20000' };
      await chain.request('eth_sendTransaction', [faster]);
      await chain.request('evm_mine');
      await paying;
      expect(await standing()).toEqual({ paid: 2, due: 0 });
      expect(before - (await balance())).toBe(2n * recordPrice);
    } finally {
      await chain.request('evm_setAutomine', [true]);
    }
  });
});

describe('an upload in a page that ends', () => {
  /** Pays for two chunks and stores them, as a page does it. */
  async function upload(chunks: readonly Uint8Array<ArrayBuffer>[], store: JournalStore, page: EndingPage) {
    const noted = new PaymentJournal({
      ...store,
      put: (key, value) => page.step(() => store.put(key, value)),
      delete: (key) => page.step(() => store.delete(key)),
    });
    wallet = new TestWallet(chain);
    wallet.onSend = (send) => page.step(send);
    const { token, vault: contract } = chain;
    const paying = new Vault({ chainId: TestChain.chainId, token, vault: contract }, wallet);
    const { signal } = new AbortController();
    const relays = [new Relay(relay.url)];
    const named = chunks.map((bytes) => ({ address: addressOf(bytes), size: bytes.length }));
    const account = await WalletAccount.connect(paying);
    await settlePending({ vault: paying, journal: noted, signal });
    const due = await prepareBill(named, { relays, journal: noted, signal });
    await pay(due, account, upTo(limit), { vault: paying, journal: noted, signal });
    for (const [i, record] of named.entries()) {
      await page.step(async () => undefined);
      await storePaid(record, chunks[i]!, { relays, journal: noted, signal });
    }
    await confirmStored(named, { relays, journal: noted, signal });
  }

  const addressOf = (bytes: Uint8Array) => bytesToHex(blake3(bytes));

  it.each([['one of every four steps', 4]])(
    'before or after %s is paid once, and stored',
    endAtSteps,
    600_000,
  );

  it.each([['any step', 1]])(
    'before or after %s is paid once, and stored',
    { tags: 'full', timeout: 600_000 },
    endAtSteps,
  );

  /** Ends the page after 0 steps, after `stride` steps, and so on, until the upload is over before that. */
  async function endAtSteps(_: string, stride: number): Promise<void> {
    let steps = 0;
    for (let isOver = false; !isOver; steps += stride) {
      const chunks = [randomBytes(1000), randomBytes(1000)].map((bytes) => new Uint8Array(bytes));
      const store = memoryStore();
      const before = await balance();
      const page = new EndingPage(steps);
      const first = upload(chunks, store, page).then(() => true);
      isOver = await Promise.race([first, page.ended.then(() => false)]);
      await upload(chunks, store, new EndingPage());
      expect([steps, before - (await balance())]).toEqual([steps, 2n * recordPrice]);
      expect(chunks.map(addressOf).every((address) => relay.stored.has(address))).toBe(true);
    }
    expect(steps).toBeGreaterThan(12);
  }
});

describe('a wallet', () => {
  it('changes to the chain', async () => {
    wallet.chainId = '0x1';
    wallet.answers.set('wallet_switchEthereumChain', () => {
      wallet.chainId = '0x7a69';
      return null;
    });
    expect((await WalletAccount.connect(vault)).address).toBe(chain.accounts[0]);
  });

  it.each([
    ['stays on another chain', () => null, 'CHAIN'],
    [
      'does not know the chain',
      () => {
        throw walletError(4902, 'Unrecognized chain ID.');
      },
      'CHAIN',
    ],
    [
      'may not change the chain',
      () => {
        throw walletError(4001, 'User rejected the request.');
      },
      'REJECTED',
    ],
  ])('that %s pays nothing', async (_, answer, problem) => {
    wallet.chainId = '0x1';
    wallet.answers.set('wallet_switchEthereumChain', answer);
    expect(await problemOf(WalletAccount.connect(vault))).toBe(problem);
  });

  it('learns the chain of the network if it does not know it', async () => {
    const { token, vault: contract } = chain;
    const real = new Vault({ chainId: 42161, token, vault: contract }, wallet);
    wallet.answers.set('wallet_switchEthereumChain', () => {
      throw walletError(4902, 'Unrecognized chain ID.');
    });
    wallet.answers.set('wallet_addEthereumChain', () => {
      wallet.chainId = '0xa4b1';
      return null;
    });
    await WalletAccount.connect(real);
    expect(wallet.asked).toContain('wallet_addEthereumChain');
  });

  it.each([
    ['gives access to no account', () => [], 'REJECTED'],
    ['answers with something else', () => 'yes', 'REJECTED'],
  ])('that %s is not connected', async (_, answer, problem) => {
    wallet.answers.set('eth_requestAccounts', answer);
    expect(await problemOf(WalletAccount.connect(vault))).toBe(problem);
  });

  it('whose user chooses another account or chain meanwhile pays nothing', async () => {
    const before = await balance();
    const account = await WalletAccount.connect(vault);
    wallet.accounts = [chain.accounts[1]!];
    expect(await problemOf(payBill(account))).toBe('ACCOUNT');
    wallet.accounts = [chain.accounts[0]!];
    wallet.chainId = '0x1';
    expect(await problemOf(payBill(account))).toBe('CHAIN');
    expect(await balance()).toBe(before);
  });

  it('that tells no hash leaves the payment to be found on the chain', async () => {
    wallet.onSend = async (send) => {
      await chain.mined((await send()) as string);
      return 'sent';
    };
    expect(await problemOf(payBill())).toBe('RPC');
    // The approval was sent, and is seen now.
    expect(await problemOf(payBill())).toBe('RPC');
    await settlePending(parts);
    expect(await standing()).toEqual({ paid: 2, due: 0 });
  });
});
