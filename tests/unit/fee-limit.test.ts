// @module-tag slow
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { prepareBill } from '../../src/payment/bill.ts';
import { feeLimit } from '../../src/payment/fee-limit.ts';
import { KeyAccount } from '../../src/payment/key-account.ts';
import { pay } from '../../src/payment/pay.ts';
import { gasOf, unpaid } from '../../src/payment/payable.ts';
import { Relay } from '../../src/payment/relay.ts';
import { rpcProvider } from '../../src/payment/rpc.ts';
import { Vault } from '../../src/payment/vault.ts';
import { WalletAccount } from '../../src/payment/wallet-account.ts';
import { createPublisher } from '../../src/publisher/create-publisher.ts';
import { networkSink } from '../../src/publisher/network.ts';
import { runCli } from '../support/cli-process.ts';
import { memoryJournal } from '../support/memory-journal.ts';
import { problemOf } from '../support/payment-problem.ts';
import { RelayDouble } from '../support/relay-double.ts';
import { richKey, TestChain } from '../support/test-chain.ts';
import { TestWallet } from '../support/test-wallet.ts';

/** The largest that the client takes for a number of this kind. */
const huge = '0xfffffffffffff';
const signal = new AbortController().signal;
const key = Buffer.from(richKey.slice(2), 'hex');

let chain: TestChain;
let relay: RelayDouble;
let folder: string;
let endpoint: Server;
let rpc: string;
/** Methods that were asked for, and what the endpoint answers in place of the chain. */
let asked: string[];
let answerOf: (method: string, times: number) => string | undefined;
let files = 0;

/** An endpoint that tells the chain's answers, unless a test says else. */
async function startEndpoint(): Promise<void> {
  endpoint = createServer(async (request, response) => {
    const { id, method, params } = (await json(request)) as { id: number; method: string; params: unknown[] };
    asked.push(method);
    const own = answerOf(method, asked.filter((other) => other === method).length);
    try {
      const result = own ?? (await chain.request(method, params));
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    } catch (error) {
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { message: (error as Error).message } }));
    }
  });
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  rpc = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  chain = await TestChain.start();
  relay = await RelayDouble.start(chain);
  await startEndpoint();
});
afterAll(async () => {
  endpoint.closeAllConnections();
  endpoint.close();
  await relay.stop();
  await chain.stop();
});
beforeEach(async () => {
  asked = [];
  answerOf = () => undefined;
  folder = await mkdtemp(join(tmpdir(), 'antway-fees-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const contracts = () => ({ chainId: TestChain.chainId, token: chain.token, vault: chain.vault });
const newRecord = () => ({ address: (++files).toString(16).padStart(64, 'f'), size: 100 });

/** The ether of the paying account, in wei. */
const ether = async () =>
  BigInt((await chain.request('eth_getBalance', [chain.accounts[0]!, 'latest'])) as string);

/** Raises what the endpoint says about gas after the price was shown. */
const raised: [what: string, answer: typeof answerOf][] = [
  ['the price of gas', (method, times) => (method === 'eth_gasPrice' && times > 1 ? huge : undefined)],
  [
    'the price of gas for the second transaction',
    (method, times) => (method === 'eth_gasPrice' && times > 5 ? huge : undefined),
  ],
  ['the gas', (method) => (method === 'eth_estimateGas' ? huge : undefined)],
];

describe('an endpoint that raises the fees after the user agreed gets no signature', () => {
  it.each(raised)('of a key, for %s', async (what, answer) => {
    const vault = new Vault(contracts(), rpcProvider(rpc));
    const journal = memoryJournal();
    const bill = await prepareBill([newRecord()], { relays: [new Relay(relay.url)], journal, signal });
    const fees = await vault.feesOf(gasOf(await unpaid(bill.due, journal)));
    answerOf = answer;
    const limits = { amount: bill.amount, fees: feeLimit(fees, true) };
    expect(await problemOf(pay(bill, new KeyAccount(key, vault), limits, { vault, journal, signal }))).toBe(
      'FEES',
    );
    expect(await journal.pending()).toEqual([]);
    const sent = asked.filter((method) => method === 'eth_sendRawTransaction');
    expect(sent).toHaveLength(what.includes('second') ? 1 : 0);
  });

  it('of a key over the limit, if it also says that the transactions before cost nothing', async () => {
    const vault = new Vault(contracts(), rpcProvider(rpc));
    const journal = memoryJournal();
    const bill = await prepareBill([newRecord(), newRecord()], {
      relays: [new Relay(relay.url)],
      journal,
      signal,
    });
    const fees = await vault.feesOf(gasOf(await unpaid(bill.due, journal)));
    const limits = { amount: bill.amount, fees: feeLimit(fees, true) };
    const account = new KeyAccount(key, vault);
    const allowed: bigint[] = [];
    const sendWithin = account.send.bind(account);
    account.send = (call, note, maxFee) => {
      allowed.push(maxFee);
      return sendWithin(call, note, maxFee);
    };
    const confirm = vault.confirmed.bind(vault);
    vault.confirmed = async (...sent) => ({ ...(await confirm(...sent)), fee: 0n });
    await pay(bill, account, limits, { vault, journal, signal });
    expect(allowed).toHaveLength(2);
    expect(allowed[0]! + allowed[1]!).toBeLessThanOrEqual(limits.fees);
  });

  it('and no question to a wallet', async () => {
    const wallet = new TestWallet(chain);
    const vault = new Vault(contracts(), wallet);
    const journal = memoryJournal();
    const bill = await prepareBill([newRecord()], { relays: [new Relay(relay.url)], journal, signal });
    const fees = await vault.feesOf(gasOf(await unpaid(bill.due, journal)));
    const account = await WalletAccount.connect(vault);
    wallet.answers.set('eth_gasPrice', () => huge);
    const limits = { amount: bill.amount, fees: feeLimit(fees, true) };
    expect(await problemOf(pay(bill, account, limits, { vault, journal, signal }))).toBe('FEES');
    expect(wallet.asked).not.toContain('eth_sendTransaction');
  });

  // The tests above try all of them with a key.
  const [, second, ...rest] = raised;
  it.each([second!])('of the command, for %s', ofCommand);
  it.each([raised[0]!, ...rest])('of the command, for %s', { tags: 'full' }, ofCommand);

  async function ofCommand(_: string, answer: typeof answerOf): Promise<void> {
    answerOf = answer;
    const path = join(folder, 'file');
    await writeFile(path, `content ${++files}`);
    const before = await ether();
    const { code, stderr } = await publish(path, '--max-cost', '1');
    expect([code, JSON.parse(stderr).details.payment]).toEqual([6, 'FEES']);
    if (!asked.includes('eth_sendRawTransaction')) expect(await ether()).toBe(before);
    // A signature that waits in the journal would be sent by the next run.
    answerOf = () => undefined;
    expect((await publish(path, '--max-cost', '1')).code).toBe(0);
  }

  it.each([second!])('of the package, for %s', ofPackage);
  it.each([raised[0]!, ...rest])('of the package, for %s', { tags: 'full' }, ofPackage);

  async function ofPackage(_: string, answer: typeof answerOf): Promise<void> {
    answerOf = answer;
    const sink = networkSink({ ...options(), onPrice: () => true });
    const publisher = createPublisher({ sink });
    const publishing = publisher.publish(new File([`content ${++files}`], 'file'));
    await expect(publishing).rejects.toMatchObject({ cause: { details: { payment: 'FEES' } } });
    publisher.close();
  }
});

function publish(path: string, ...more: string[]) {
  const { token, vault } = chain;
  const args = [
    ...['publish', path, '--network', '--json', '--journal', join(folder, 'journal'), '--relay', relay.url],
    ...['--chain', `${TestChain.chainId},${token},${vault}`, '--rpc', rpc],
  ];
  return runCli([...args, ...more], { env: { ANTWAY_PRIVATE_KEY: richKey } });
}

function options() {
  const store = new Map<string, unknown>();
  return {
    relays: [relay.url],
    key: Uint8Array.from(key),
    rpc,
    maxCost: '1',
    chain: contracts(),
    journal: {
      open: async () => ({
        get: async (name: string) => store.get(name),
        put: async (name: string, value: unknown) => void store.set(name, value),
        delete: async (name: string) => void store.delete(name),
        keys: async (prefix: string) => [...store.keys()].filter((name) => name.startsWith(prefix)),
      }),
      lock: <T>(_: string, work: () => Promise<T>) => work(),
    },
  };
}

describe('the limit for fees', () => {
  it('is what the user names, else a multiple of what was shown, and little if no one saw it', () => {
    const ether = 10n ** 18n;
    expect(feeLimit(10n, true)).toBe(50n);
    expect(feeLimit(ether, true)).toBe(5n * ether);
    expect(feeLimit(10n, false)).toBe(50n);
    expect(feeLimit(ether, false)).toBe(ether / 100n);
    expect(feeLimit(ether, false, 2n * ether)).toBe(2n * ether);
    expect(feeLimit(ether, true, 0n)).toBe(0n);
  });

  it('is an option of the command and of the package', async () => {
    const path = join(folder, 'file');
    await writeFile(path, `content ${++files}`);
    const refused = await publish(path, '--max-cost', '1', '--max-fees', '0.000000001');
    expect([refused.code, JSON.parse(refused.stderr).details.payment]).toEqual([6, 'FEES']);
    expect((await publish(path, '--max-cost', '1', '--max-fees', 'much')).code).toBe(2);
    expect((await runCli(['publish', path, '--max-fees', '1'])).stderr).toContain(
      '--max-fees needs --network.',
    );
    const publisher = createPublisher({ sink: networkSink({ ...options(), maxFees: '0.000000001' }) });
    const publishing = publisher.publish(new File([`content ${++files}`], 'file'));
    await expect(publishing).rejects.toMatchObject({ cause: { details: { payment: 'FEES' } } });
    publisher.close();
    expect(() => networkSink({ ...options(), maxFees: 'much' })).toThrow(TypeError);
    expect((await publish(path, '--max-cost', '1', '--max-fees', '0.01')).code).toBe(0);
  });

  it('is little without a question, also if the endpoint shows high fees from the beginning', async () => {
    answerOf = (method) => (method === 'eth_gasPrice' ? '0x9184e72a000' : undefined);
    const path = join(folder, 'file');
    await writeFile(path, `content ${++files}`);
    const { code, stderr } = await publish(path, '--max-cost', '1');
    expect([code, JSON.parse(stderr).details.payment]).toEqual([6, 'FEES']);
    expect(asked).not.toContain('eth_sendRawTransaction');
  });
});
