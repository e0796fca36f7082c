import { Option } from 'commander';
import { formatAnt, formatEther } from '../payment/amounts.ts';
import { prepareBill } from '../payment/bill.ts';
import { isNetworkChain } from '../payment/chain.ts';
import { type JournalStore, PaymentJournal } from '../payment/journal.ts';
import { gasOf, unpaid } from '../payment/payable.ts';
import type { RecordToStore } from '../payment/quotes.ts';
import { Relay } from '../payment/relay.ts';
import { rpcProvider } from '../payment/rpc.ts';
import { Vault } from '../payment/vault.ts';
import type { CommandContext } from './context.ts';
import { plural } from './format.ts';
import { aboutChain, aboutUnconfirmed, chainOf, relayUrlsOf, rpcOf } from './network-payment.ts';
import { collect } from './options.ts';
import type { Output } from './output.ts';
import { UsageError } from './usage-error.ts';

export interface PriceOptions {
  network?: true;
  relay?: string[];
  rpc?: string;
  chain?: string;
}

export const priceOptions: readonly Option[] = [
  new Option(
    '--network',
    'ask for the price of storing in the Autonomi network, through the peers or --relay',
  ),
  new Option(
    '--relay <url>',
    'the same through this peer, which has to take paid uploads; a second one checks the first',
  ).argParser(collect),
  new Option(
    '--rpc <url>',
    'with a price: an RPC endpoint of the chain, to estimate its fees (default: ANTWAY_RPC)',
  ),
  new Option(
    '--chain <id,token,vault>',
    'with a price: another chain than the network’s, such as a test chain',
  ),
];

/** The price of an upload, and what it rests on. */
export interface NetworkPrice {
  /** Records to pay for, and their price in atto. */
  due: number;
  amount: string;
  /** Records that the network has already. */
  stored: number;
  /** An estimate in wei. Null without an RPC endpoint. */
  fees: string | null;
  chainId: number;
  /** Quotes of nodes, which have signed them. The command has checked the signatures. */
  quotes: number;
  /** Of these, the nodes that a second relay did not name. */
  unconfirmedNodes: number;
  relays: string[];
  /** When the first node and the last one signed, in ISO 8601. Null if nothing is due. */
  signed: [first: string, last: string] | null;
}

/** @throws UsageError for an option that needs a price. */
export function requireRelayFor({ rpc, chain }: PriceOptions): void {
  if (rpc === undefined && chain === undefined) return;
  throw new UsageError(`${rpc === undefined ? '--chain' : '--rpc'} needs --network or --relay.`);
}

/**
 * Prepares to ask relays what it costs to store records. Asking pays nothing and writes nothing down. Records that were paid
 * for before, and are not stored yet, count as due.
 * @param others the relays if no option names them.
 * @returns a function that asks, and throws AntwayError as `Relay.check` and `prepareBill`.
 * @throws UsageError.
 */
export function priceAsker(
  options: PriceOptions,
  others: readonly string[],
  output: Output,
  { env, signal }: CommandContext,
): (records: readonly RecordToStore[]) => Promise<NetworkPrice> {
  const chain = chainOf(options);
  const hasRpc = options.rpc !== undefined || Boolean(env.ANTWAY_RPC);
  const vault = hasRpc ? new Vault(chain, rpcProvider(rpcOf(options, env))) : undefined;
  const relays = relayUrlsOf(options, others).map((url) => new Relay(url));
  return async (records) => {
    await vault?.checkChain();
    for (const relay of relays) await relay.check(chain, signal);
    if (!isNetworkChain(chain)) output.note(aboutChain(chain));
    output.note(`Asking the network for prices of ${plural(records.length, 'record')} …`);
    const journal = new PaymentJournal(emptyStore);
    const bill = await prepareBill(records, { relays, journal, signal });
    const { due, dueRecords, amount, stored, unconfirmedNodes } = bill;
    if (unconfirmedNodes > 0) output.note(aboutUnconfirmed(bill));
    const quotes = [
      ...due.offers.flatMap(({ plan }) => plan.quotes),
      ...due.batches.flatMap(({ pools }) => pools.flat()),
    ];
    const times = quotes.map(({ timestamp }) => timestamp).sort((a, b) => a - b);
    return {
      due: dueRecords,
      amount: `${amount}`,
      stored,
      fees: vault ? `${await vault.feesOf(gasOf(await unpaid(due, journal)))}` : null,
      chainId: chain.chainId,
      quotes: quotes.length,
      unconfirmedNodes,
      relays: relays.map(({ url }) => url),
      signed: times.length > 0 ? [timeOf(times[0]!), timeOf(times.at(-1)!)] : null,
    };
  };
}

export function printPrice(price: NetworkPrice, output: Output): void {
  const { due, amount, stored, fees, quotes, unconfirmedNodes, relays, signed } = price;
  const known = stored > 0 ? ` (${stored} more are stored already)` : '';
  const chainFees =
    fees === null ? 'and the fees of the chain' : `and fees of about ${formatEther(BigInt(fees))}`;
  output.line(`In the network: ${plural(due, 'record')}${known}: ${formatAnt(BigInt(amount))}, ${chainFees}`);
  const [first, second] = relays;
  if (signed) {
    const checked = second
      ? `${second} named the same nodes${unconfirmedNodes > 0 ? `, except ${unconfirmedNodes}` : ''}.`
      : 'No second --relay has checked that these are the right nodes.';
    output.note(
      `The price rests on ${plural(quotes, 'quote')} that nodes have signed (${signed[0]} to ${signed[1]}), by ${first}. ${checked}`,
    );
  }
  if (stored > 0) {
    const who = second ? `${first} and ${second} say` : `Only ${first} says`;
    output.note(`${who} that the network has ${plural(stored, 'record')} already.`);
  }
  if (fees === null)
    output.note('With --rpc or ANTWAY_RPC, the command also estimates the fees of the chain.');
  output.note('Nothing was paid. The nodes may ask for other prices later.');
}

function timeOf(seconds: number): string {
  return new Date(1000 * seconds).toISOString().replace('.000', '');
}

/** Nothing was paid for. */
const emptyStore: JournalStore = {
  get: async () => undefined,
  put: async () => undefined,
  delete: async () => undefined,
  keys: async () => [],
};
