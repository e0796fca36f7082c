import type { ChunkSink } from '../publish/upload.ts';
import type { Account } from './account.ts';
import { paymentError } from './errors.ts';
import { nameOf, type PaymentJournal, type PendingTransaction } from './journal.ts';
import { haveSameNodes, type Offer, type RecordToStore } from './quotes.ts';
import type { Quoted, Relay } from './relay.ts';
import { maxPaymentsPerTransaction, type Vault } from './vault.ts';

/** The parts of a paid upload. */
export interface PaidUploadParts {
  /** At least one. The first one is asked first; a second one checks it. */
  relays: readonly Relay[];
  vault: Vault;
  journal: PaymentJournal;
  signal: AbortSignal;
}

/** The price of an upload. */
export interface Bill {
  /** All different records. */
  records: number;
  /** Records that the network has already. */
  stored: number;
  /** Records that were paid for before, and are not stored yet. */
  paid: number;
  /** Records to pay for. */
  due: readonly Offer[];
  /** The sum of `due`, in atto. */
  amount: bigint;
  /** The probable fees, in wei. */
  fees: bigint;
}

/** The amounts that the chain charged. */
export interface Payment {
  /** In atto. */
  amount: bigint;
  /** In wei. */
  fees: bigint;
  transactions: readonly string[];
}

/**
 * Brings interrupted payments to their end: each transaction that was signed is sent again if the chain does not have it.
 * Run it before anything else. @throws AntwayError as `Vault`.
 */
export async function settlePending({ vault, journal, signal }: PaidUploadParts): Promise<void> {
  for (const pending of await journal.pending()) {
    const isExecuted = await completed(vault, pending, signal);
    await settle(vault, journal, pending, isExecuted);
  }
}

/** @returns whether the chain executed a transaction. It never will after `false`. */
async function completed(vault: Vault, pending: PendingTransaction, signal: AbortSignal): Promise<boolean> {
  const { hash, raw, account, nonce } = pending;
  const isKnown = async () =>
    (await vault.receipt(hash)) !== undefined ||
    (await vault.request('eth_getTransactionByHash', hash)) !== null;
  if (!(await isKnown())) {
    // If the nonce was used by another transaction, this one is void.
    if ((await vault.transactionCount(account)) > nonce) return false;
    await vault.request('eth_sendRawTransaction', raw);
  }
  return (await vault.confirmed(hash, signal)).isSuccess;
}

/** Writes down what a transaction paid for, and forgets the transaction. */
async function settle(
  vault: Vault,
  journal: PaymentJournal,
  pending: PendingTransaction,
  isExecuted: boolean,
): Promise<void> {
  for (const name of pending.addresses) {
    const entry = await journal.record(name);
    if (!entry || entry.transaction !== undefined) continue;
    const isPaid = isExecuted || (await vault.isPaid(entry.offer));
    if (isPaid) await journal.putRecord({ ...entry, transaction: pending.hash });
  }
  await journal.removePending(pending);
}

/**
 * Asks what it costs to store records. Records that were paid for before cost nothing.
 * @param records all different.
 * @throws AntwayError `QUOTE`, `RELAYS_DIFFER`, `SHORTFALL`, `RPC`.
 */
export async function prepareBill(
  records: readonly RecordToStore[],
  { relays, vault, journal, signal }: PaidUploadParts,
  onProgress: (asked: number, all: number) => void = () => undefined,
): Promise<Bill> {
  const [first, second] = relays;
  const unpaid: RecordToStore[] = [];
  let [paid, stored] = [0, 0];
  for (const record of records) {
    const entry = await journal.record(record.stateId ?? record.address);
    if (entry?.transaction === undefined) unpaid.push(record);
    else if (entry.isStored) stored++;
    else paid++;
  }
  const [quoted, others] = await Promise.all([
    first!.quotes(unpaid, signal, (asked) => onProgress(asked, unpaid.length)),
    second?.quotes(unpaid, signal),
  ]);
  if (others) compare(quoted, others, first!, second!);
  const due = quoted.flatMap((answer) => (answer.status === 'quoted' ? [answer.offer] : []));
  return {
    records: records.length,
    stored: stored + unpaid.length - due.length,
    paid,
    due,
    amount: due.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
    fees: await vault.estimateFees(due.length),
  };
}

/**
 * Makes sure that two relays name the same nodes, and agree on what is stored. So none of them can invent nodes of its
 * own, and none can leave a record out.
 */
function compare(quoted: readonly Quoted[], others: readonly Quoted[], first: Relay, second: Relay): void {
  for (const [i, answer] of quoted.entries()) {
    const other = others[i]!;
    const isQuoted = answer.status === 'quoted' && other.status === 'quoted';
    if (isQuoted && haveSameNodes(answer.offer.plan, other.offer.plan)) continue;
    if (!isQuoted && answer.status === other.status) continue;
    const message = isQuoted
      ? `${first.url} and ${second.url} name different nodes for a record. One of them may be dishonest. Nothing was paid.`
      : `Only one of ${first.url} and ${second.url} says that the network has a record. Try again later. Nothing was paid.`;
    throw paymentError('RELAYS_DIFFER', message, { relays: [first.url, second.url] });
  }
}

/**
 * Pays a bill. Each payment is in the journal before this returns, also after an error.
 * @param maxAmount the most that the user agreed to, in atto.
 * @throws AntwayError `OVER_LIMIT`, `FUNDS`, `CHAIN`, `REVERTED`, `PENDING`, `RPC`.
 */
export async function pay(
  { due, amount, fees }: Bill,
  account: Account,
  maxAmount: bigint,
  { vault, journal, signal }: PaidUploadParts,
): Promise<Payment> {
  if (due.length === 0) return { amount: 0n, fees: 0n, transactions: [] };
  if (amount > maxAmount) {
    const message = `It costs ${formatAnt(amount)}, more than the limit of ${formatAnt(maxAmount)}. Nothing was paid.`;
    throw paymentError('OVER_LIMIT', message, { amount: `${amount}`, limit: `${maxAmount}` });
  }
  await vault.checkChain();
  const [balance, ether, allowance] = await Promise.all([
    vault.balance(account.address),
    vault.ether(account.address),
    vault.allowance(account.address),
  ]);
  if (balance < amount) {
    const message = `The account ${account.address} has ${formatAnt(balance)}, and the upload costs ${formatAnt(amount)}. Nothing was paid.`;
    throw paymentError('FUNDS', message, { account: account.address, amount: `${amount}` });
  }
  if (ether < fees) {
    const message = `The account ${account.address} has ${formatEther(ether)}, and the fees are about ${formatEther(fees)}. Nothing was paid.`;
    throw paymentError('FUNDS', message, { account: account.address, fees: `${fees}` });
  }
  const payment = { amount: 0n, fees: 0n, transactions: [] as string[] };
  const send = async (call: Parameters<Account['sign']>[0], offers: readonly Offer[]) => {
    signal.throwIfAborted();
    const signed = await account.sign(call);
    const pending = { ...signed, addresses: offers.map(nameOf) };
    for (const offer of offers) await journal.putRecord({ offer });
    await journal.putPending(pending);
    await vault.request('eth_sendRawTransaction', signed.raw);
    const receipt = await vault.confirmed(signed.hash, signal);
    await settle(vault, journal, pending, receipt.isSuccess);
    payment.fees += receipt.fee;
    if (!receipt.isSuccess) {
      const message = `The chain refused transaction ${signed.hash}. It paid for nothing, apart from the fee.`;
      throw paymentError('REVERTED', message, { transaction: signed.hash });
    }
    payment.transactions.push(signed.hash);
  };
  if (allowance < amount) await send(vault.approval(amount), []);
  for (let at = 0; at < due.length; at += maxPaymentsPerTransaction) {
    const offers = due.slice(at, at + maxPaymentsPerTransaction);
    await send(vault.payment(offers), offers);
    payment.amount += offers.reduce((sum, offer) => sum + BigInt(offer.amount), 0n);
  }
  return payment;
}

/**
 * A sink that brings records to the network that were paid for.
 * @param records of the bill.
 * @throws AntwayError as `storePaid`; `CHANGED` for a record that is not on the bill.
 */
export function paidSink(
  records: readonly RecordToStore[],
  { relays, journal }: Pick<PaidUploadParts, 'relays' | 'journal'>,
): ChunkSink {
  const billed = new Set(records.map(({ address }) => address));
  return {
    async store({ address, bytes }, signal) {
      if (!billed.has(address.hex)) {
        const message = 'The files have changed since the price was asked for. Run the command again.';
        throw paymentError('CHANGED', message, { address: address.hex });
      }
      return storePaid({ address: address.hex, size: bytes.length }, bytes, { relays, journal, signal });
    },
  };
}

/**
 * Brings one record to the network that was paid for. If a relay fails, the next one is asked.
 * @returns `present` for a record that the network had before, so that nothing was paid for it.
 * @throws AntwayError `UNPAID`, `QUOTE_EXPIRED`, `OUTDATED`, `SHORTFALL`.
 */
export async function storePaid(
  { address, stateId }: RecordToStore,
  bytes: Uint8Array<ArrayBuffer>,
  { relays, journal, signal }: Pick<PaidUploadParts, 'relays' | 'journal' | 'signal'>,
): Promise<'stored' | 'present'> {
  const entry = await journal.record(stateId ?? address);
  if (entry?.transaction === undefined || entry.isStored) return 'present';
  await storeAtOne(relays, entry.offer, entry.transaction, bytes, signal);
  await journal.putRecord({ ...entry, isStored: true });
  return 'stored';
}

async function storeAtOne(
  relays: readonly Relay[],
  { plan }: Offer,
  transaction: string,
  bytes: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<void> {
  let failure: unknown;
  for (const relay of relays) {
    try {
      return await relay.store(plan, transaction, bytes, signal);
    } catch (error) {
      signal.throwIfAborted();
      failure ??= error;
    }
  }
  throw failure;
}

/**
 * Asks the last relay whether the network has all records. With a second relay, the first one cannot take a payment
 * without storing.
 * @throws AntwayError `NOT_STORED`. The next upload sends the missing records again, for no further payment.
 */
export async function confirmStored(
  records: readonly RecordToStore[],
  { relays, journal, signal }: PaidUploadParts,
): Promise<void> {
  const relay = relays.at(-1)!;
  const answers = await relay.quotes(records, signal);
  const missing = records.filter((_, i) => answers[i]!.status !== 'stored');
  if (missing.length === 0) return;
  for (const { address, stateId } of missing) {
    const entry = await journal.record(stateId ?? address);
    if (entry?.isStored) await journal.putRecord({ ...entry, isStored: false });
  }
  const message = `${relay.url} does not find ${missing.length} of ${records.length} records in the network. The payment is kept: run the same command again, with another relay.`;
  throw paymentError('NOT_STORED', message, { relay: relay.url, missing: missing.length });
}

const decimals = 18;

/** @param atto an amount of the token. */
export function formatAnt(atto: bigint): string {
  return `${formatUnits(atto)} ANT`;
}

/** @param wei an amount of ether. */
export function formatEther(wei: bigint): string {
  return `${formatUnits(wei)} ETH`;
}

function formatUnits(value: bigint): string {
  const digits = value.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return digits.slice(0, -decimals) + (fraction && `.${fraction}`);
}

/** @param text a decimal number such as `1.5`. @returns atto, or undefined if it is not a number with at most 18 decimals. */
export function parseAnt(text: string): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,18}))?$/.exec(text) ?? [];
  return whole === undefined ? undefined : BigInt(whole + fraction.padEnd(decimals, '0'));
}
