import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Option } from 'commander';
import { AntwayError } from '../errors.ts';
import type { Account } from '../payment/account.ts';
import { formatAnt, formatEther, parseAnt, parseEther } from '../payment/amounts.ts';
import type { Bill } from '../payment/bill.ts';
import { arbitrumOne, isNetworkChain, isTestChain, type PaymentChain, parseChain } from '../payment/chain.ts';
import { feeLimit } from '../payment/fee-limit.ts';
import { PaymentJournal } from '../payment/journal.ts';
import { KeyAccount } from '../payment/key-account.ts';
import { type Payment, pay } from '../payment/pay.ts';
import { gasOf, unpaid } from '../payment/payable.ts';
import { Relay } from '../payment/relay.ts';
import { rpcProvider } from '../payment/rpc.ts';
import { secureUrl } from '../payment/secure-url.ts';
import { type PaymentParts, settlePending } from '../payment/settle.ts';
import type { StoreParts } from '../payment/upload.ts';
import { Vault } from '../payment/vault.ts';
import type { CommandContext } from './context.ts';
import { fileError } from './disk-file.ts';
import { withFileLock } from './file-lock.ts';
import { plural } from './format.ts';
import { openKeystore } from './keystore.ts';
import { collect } from './options.ts';
import type { Output } from './output.ts';
import { confirms, readPassphrase } from './passphrase.ts';
import { journalFolder, openJournal } from './payment-files.ts';
import { UsageError } from './usage-error.ts';

/** The options of `--network`. */
export interface NetworkOptions {
  network?: true;
  relay?: string[];
  rpc?: string;
  keystore?: string;
  maxCost?: string;
  maxFees?: string;
  estimate?: true;
  resume?: true;
  receipt?: string;
  journal?: string;
  chain?: string;
}

/** The options for uploads that the user pays for. */
export const networkOptions: readonly Option[] = [
  new Option('--network', 'pay for storing in the Autonomi network, instead of storing at peers'),
  new Option(
    '--relay <url>',
    'with --network: a peer that brings records to the network; a second one checks the first (default: the peers)',
  ).argParser(collect),
  new Option('--rpc <url>', 'with --network: an RPC endpoint of the chain (default: ANTWAY_RPC)'),
  new Option(
    '--keystore <file>',
    'with --network: the key of the account, as wallets export it (default: the key in ANTWAY_PRIVATE_KEY)',
  ),
  new Option('--max-cost <ANT>', 'with --network: pay up to this amount without a question'),
  new Option(
    '--max-fees <ETH>',
    'with --network: pay no higher fees of the chain (default: five times the shown ones; with --max-cost, at most 0.01)',
  ),
  new Option('--estimate', 'with --network: only print what it costs'),
  new Option('--resume', 'with --network: only continue what was paid for, and pay for nothing more'),
  new Option('--receipt <file>', 'with --network: write what was paid for into this file'),
  new Option('--journal <folder>', 'with --network: where payments are written down'),
  new Option(
    '--chain <id,token,vault>',
    'with --network: another chain than the network’s, such as a test chain',
  ),
];

/** @throws UsageError for an option that needs `--network`. */
export function requireNetworkFor(options: NetworkOptions): void {
  const named = networkOptions.slice(1).map((option) => option.attributeName() as keyof NetworkOptions);
  const first = named.find((name) => options[name] !== undefined);
  if (first === undefined) return;
  const { long } = networkOptions.find((option) => option.attributeName() === first)!;
  throw new UsageError(`${long} needs --network.`);
}

/** Paid uploads with the user's options. */
export interface NetworkSession {
  parts: StoreParts & PaymentParts;
  chain: PaymentChain;
  /**
   * Shows a bill, asks the user unless there is a limit, and pays.
   * @param about members of the JSON line.
   * @param check called before each transaction. It throws if the records must not be paid for any more.
   * @throws UsageError if the user does not agree; AntwayError as `pay` and `check`.
   */
  settle(bill: Bill, about: Record<string, unknown>, check?: () => Promise<void>): Promise<Payment>;
}

/**
 * Runs work that uploads to the network with payments. Interrupted payments come to their end first. No other command
 * can pay at the same time.
 * @param relayUrls if no option names relays.
 * @throws UsageError; AntwayError as the functions of `payment/`, and of the work.
 */
export async function withNetwork<T>(
  options: NetworkOptions,
  relayUrls: readonly string[],
  output: Output,
  context: CommandContext,
  work: (session: NetworkSession) => Promise<T>,
  /** Whether the work may pay, so that it needs the account's key. */
  { pays = true } = {},
): Promise<T> {
  const { env, signal } = context;
  const chain = chainOf(options);
  const relays = relayUrlsOf(options, relayUrls).map((url) => new Relay(url));
  const vault = new Vault(chain, rpcProvider(rpcOf(options, env)));
  const maxCost = maxCostOf(options);
  const maxFees = maxFeesOf(options);
  const needsAccount = pays && !options.estimate && !options.resume;
  const account = needsAccount ? await accountOf(options, vault, context) : undefined;
  await vault.checkChain();
  for (const relay of relays) await relay.check(chain, signal);
  if (!isNetworkChain(chain)) output.note(aboutChain(chain));

  const folder = join(options.journal ?? journalFolder(env), await vault.fingerprint());
  const journal = new PaymentJournal(await openJournal(folder));
  const parts: StoreParts & PaymentParts = { relays, vault, journal, signal };
  return withFileLock(folder, async () => {
    await settlePending(parts, pays && !options.estimate);
    return work({
      parts,
      chain,
      async settle(bill, about, check) {
        const fees = await vault.feesOf(gasOf(await unpaid(bill.due, journal)));
        printBill(bill, fees, { ...about, chainId: chain.chainId }, output);
        const nothing = { amount: 0n, fees: 0n, transactions: [] };
        if (options.estimate) return nothing;
        if (options.resume && bill.dueRecords > 0) {
          throw new UsageError(
            `${plural(bill.dueRecords, 'record')} are not paid for. Run the command without --resume to pay for them.`,
          );
        }
        if (!account) return nothing;
        const limits = {
          amount: maxCost ?? (await agreedAmount(bill, fees, signal)),
          fees: feeLimit(fees, maxCost === undefined, maxFees),
        };
        const payment = await pay(bill, account, limits, { ...parts, check });
        printPayment(payment, output);
        return payment;
      },
    });
  });
}

/** The origins of the relays. @param others if no option names relays. @throws UsageError. */
export function relayUrlsOf({ relay }: NetworkOptions, others: readonly string[]): string[] {
  if (!relay) return [...new Set(others)];
  const origins = relay.map(originOf);
  const twice = origins.find((origin, i) => origins.indexOf(origin) !== i);
  if (twice === undefined) return origins;
  throw new UsageError(
    `${twice} is named twice. A second relay checks the first, so it must be another one.`,
  );
}

/** @param chain another one than the network's. */
export function aboutChain(chain: PaymentChain): string {
  if (isTestChain(chain)) return `Chain ${chain.chainId} is a test chain: payments there have no value.`;
  return `Chain ${chain.chainId} is not the chain of the Autonomi network. Payments there may have value, and the content is not in that network.`;
}

/** @throws UsageError. */
export function chainOf({ chain }: NetworkOptions): PaymentChain {
  if (chain === undefined) return arbitrumOne;
  const parsed = parseChain(chain);
  if (parsed) return parsed;
  throw new UsageError('--chain has the form id,token,vault, with the addresses of the two contracts.');
}

function originOf(text: string): string {
  const url = secureUrl(text);
  if (url && url.pathname === '/' && url.search === '' && url.hash === '') return url.origin;
  throw new UsageError(`“${text}” is no relay. A relay is https://host[:port], or http:// on loopback.`);
}

/** @throws UsageError. */
export function rpcOf({ rpc }: NetworkOptions, env: NodeJS.ProcessEnv): string {
  const text = rpc ?? env.ANTWAY_RPC;
  if (!text) throw new UsageError('--network needs an RPC endpoint of the chain: --rpc, or ANTWAY_RPC.');
  const url = secureUrl(text);
  // Security: `fetch` refuses them, with an error that has the password.
  if (url && !url.username && !url.password) return url.href;
  throw new UsageError(
    'The RPC endpoint must be an https:// URL without a user name and a password, or http:// on loopback.',
  );
}

function maxCostOf({ maxCost }: NetworkOptions): bigint | undefined {
  if (maxCost === undefined) return undefined;
  const amount = parseAnt(maxCost);
  if (amount !== undefined) return amount;
  throw new UsageError('--max-cost is an amount in ANT, such as 0.5.');
}

function maxFeesOf({ maxFees }: NetworkOptions): bigint | undefined {
  if (maxFees === undefined) return undefined;
  const fees = parseEther(maxFees);
  if (fees !== undefined) return fees;
  throw new UsageError('--max-fees is an amount in ETH, such as 0.001.');
}

async function accountOf(options: NetworkOptions, vault: Vault, context: CommandContext): Promise<Account> {
  const { keystore } = options;
  if (keystore !== undefined) {
    const text = await readFile(keystore, 'utf8').catch((error) => {
      throw fileError(error, keystore);
    });
    return keyAccount(openKeystore(text, await readPassphrase(context, false, 'keystore')), vault);
  }
  const hex = /^(?:0x)?([0-9a-fA-F]{64})$/.exec(context.env.ANTWAY_PRIVATE_KEY ?? '')?.[1];
  if (hex !== undefined) return keyAccount(Buffer.from(hex, 'hex'), vault);
  throw new UsageError(
    context.env.ANTWAY_PRIVATE_KEY
      ? 'ANTWAY_PRIVATE_KEY is not a key of 64 hex digits.'
      : '--network needs the key of an account: --keystore, or ANTWAY_PRIVATE_KEY.',
  );
}

function keyAccount(key: Uint8Array, vault: Vault): Account {
  try {
    return new KeyAccount(key, vault);
  } catch (cause) {
    throw new AntwayError('BAD_CONFIG', 'The key of the account is not valid.', {}, { cause });
  }
}

/** @throws UsageError if the user does not agree. */
async function agreedAmount(
  { dueRecords, amount }: Bill,
  fees: bigint,
  signal: AbortSignal,
): Promise<bigint> {
  if (dueRecords === 0) return 0n;
  const question = `Pay ${formatAnt(amount)} and fees of about ${formatEther(fees)}?`;
  if (await confirms(question, signal)) return amount;
  throw new UsageError('Nothing was paid. Agree at the terminal, or name a limit with --max-cost.');
}

/** @param bill with nodes that only one relay names. */
export function aboutUnconfirmed({ unconfirmedNodes, due }: Bill): string {
  const all = due.batches.flatMap(({ pools }) => pools.flat()).length;
  return `${unconfirmedNodes} of the ${all} nodes of which the chain chooses are named by the first relay only. If it is dishonest, it could get that share of the payment.`;
}

function printBill(bill: Bill, fees: bigint, about: Record<string, unknown>, output: Output): void {
  const { records, stored, paid, due, unconfirmedNodes, dueRecords, amount } = bill;
  output.json({
    event: 'price',
    ...about,
    records,
    stored,
    paid,
    due: dueRecords,
    batches: due.batches.map(({ chunks }) => chunks.length),
    unconfirmedNodes,
    amount: `${amount}`,
    fees: `${fees}`,
  });
  const known = [
    ...(stored > 0 ? [`${stored} stored already`] : []),
    ...(paid > 0 ? [`${paid} paid for before`] : []),
  ];
  const batched = due.batches.reduce((sum, { chunks }) => sum + chunks.length, 0);
  if (batched > 0)
    output.note(
      `${plural(due.batches.length, 'payment')} for ${plural(batched, 'record')} together, the others one by one. The chain chooses the nodes of such a payment, so it may cost less.`,
    );
  if (unconfirmedNodes > 0) output.note(aboutUnconfirmed(bill));
  const note = known.length > 0 ? ` (${known.join(', ')})` : '';
  output.line(
    `${plural(records, 'record')}${note}: ${formatAnt(amount)}, and fees of about ${formatEther(fees)}`,
  );
}

function printPayment({ amount, fees, transactions }: Payment, output: Output): void {
  if (transactions.length === 0) return;
  output.json({ event: 'paid', amount: `${amount}`, fees: `${fees}`, transactions });
  output.note(`Paid ${formatAnt(amount)}, and fees of ${formatEther(fees)}: ${transactions.join(' ')}`);
}
