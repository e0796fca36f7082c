import { delay } from '../util/delay.ts';
import { raceAbort } from '../util/watchdog.ts';
import type { Account } from './account.ts';
import { formatAnt, formatEther } from './amounts.ts';
import type { Bill } from './bill.ts';
import { paymentError, paymentProblemOf } from './errors.ts';
import {
  nameOf,
  type PaymentJournal,
  type PendingTransaction,
  type SentTransaction,
  unknownTransaction,
} from './journal.ts';
import type { Offer } from './quotes.ts';
import { type Call, maxPaymentsPerTransaction, type Receipt, type Replaced, type Vault } from './vault.ts';

const approvalPatienceMs = 30_000;
const approvalPollMs = 500;

/** The parts of a payment. */
export interface PaymentParts {
  vault: Vault;
  journal: PaymentJournal;
  signal: AbortSignal;
}

/** The amounts that the chain charged. */
export interface Payment {
  /** In atto. */
  amount: bigint;
  /** In wei. */
  fees: bigint;
  transactions: readonly string[];
}

/** `open`: it may still come into a block. `block` is the one that shows that, or that it never will. */
type Outcome = { state: 'executed' } | { state: 'void' | 'open'; block?: string };

/**
 * Brings interrupted payments to their end: each signed transaction is sent again if the chain does not have it.
 * Run it before anything else. A transaction that a wallet may still send stays pending.
 * @param mayPay whether to send. Otherwise such a transaction stays in the journal.
 * @throws AntwayError as `Vault`.
 */
export async function settlePending({ vault, journal, signal }: PaymentParts, mayPay = true): Promise<void> {
  for (const pending of await journal.pending()) {
    await settle(vault, journal, pending, await outcomeOf(vault, pending, mayPay, signal));
  }
}

async function outcomeOf(
  vault: Vault,
  pending: PendingTransaction,
  mayPay: boolean,
  signal: AbortSignal,
): Promise<Outcome> {
  const { hash, raw, account, nonce } = pending;
  // Endpoints have many machines, and some are behind. Only answers about one block show together that nothing was paid.
  const block = await vault.newestBlock();
  if (hash === undefined) return { state: 'open', block };
  const isKnown = (await vault.receipt(hash)) !== undefined || (await vault.nonceOf(hash)) !== undefined;
  if (!isKnown) {
    // If the nonce was used by another transaction, this one is void.
    if (nonce !== undefined && (await vault.transactionCount(account, block)) > nonce)
      return { state: 'void', block };
    if (raw === undefined || !mayPay) return { state: 'open', block };
    await vault.request('eth_sendRawTransaction', raw);
  }
  return outcomeFrom(await vault.confirmed({ ...pending, hash }, signal));
}

function outcomeFrom(receipt: Receipt | Replaced): Outcome {
  if (receipt.isSuccess) return { state: 'executed' };
  return 'replacedAt' in receipt ? { state: 'void', block: receipt.replacedAt } : { state: 'void' };
}

/** Writes down what a transaction paid for, and forgets the transaction unless it may still be sent. */
async function settle(
  vault: Vault,
  journal: PaymentJournal,
  pending: PendingTransaction,
  outcome: Outcome,
): Promise<void> {
  let isOpen = false;
  for (const name of pending.addresses) {
    const entry = await journal.record(name);
    if (!entry || entry.transaction !== undefined) continue;
    if (outcome.state === 'executed') await journal.putRecord({ ...entry, transaction: pending.hash! });
    else if (await vault.isPaid(entry.offer, outcome.block)) {
      await journal.putRecord({ ...entry, transaction: unknownTransaction });
    } else isOpen = true;
  }
  if (outcome.state !== 'open' || !isOpen) await journal.removePending(pending);
}

/**
 * Pays a bill. Each payment is in the journal before this returns, also after an error.
 *
 * The vault may take exactly the amount of the next transaction. So if a wallet sends an old transaction for the same
 * records as well, the chain executes only one of the two, unless the user has also confirmed an old permission between them.
 * @param maxAmount the most that the user agreed to, in atto.
 * @throws AntwayError `OVER_LIMIT`, `FUNDS`, `ACCOUNT`, `CHANGED`, `CHAIN`, `REJECTED`, `ALLOWANCE`, `REVERTED`, `PENDING`,
 *   `RPC`.
 */
export async function pay(
  { due }: Bill,
  account: Account,
  maxAmount: bigint,
  parts: PaymentParts,
): Promise<Payment> {
  const { vault, journal, signal } = parts;
  const payment = { amount: 0n, fees: 0n, transactions: [] as string[] };
  let rest = await unpaid(due, journal);
  if (rest.length === 0) return payment;
  const amount = sumOf(rest);
  if (amount > maxAmount) {
    const message = `It costs ${formatAnt(amount)}, more than the limit of ${formatAnt(maxAmount)}. Nothing was paid.`;
    throw paymentError('OVER_LIMIT', message, { amount: `${amount}`, limit: `${maxAmount}` });
  }
  await vault.checkChain();
  await checkFunds(vault, account.address, amount, rest.length);
  const tried = await triedBefore(rest, account.address, journal);

  let approval: Approval | undefined;
  while (rest.length > 0) {
    const offers = rest.slice(0, maxPaymentsPerTransaction);
    const sum = sumOf(offers);
    // Both are read at one block: an old transaction that is executed later takes the amount, and the new one fails.
    const block = await vault.newestBlock();
    const allowance = await vault.allowance(account.address, block);
    const isApproved = allowance === sum;
    if (!isApproved && approval?.amount !== sum) {
      await send(vault.approval(sum), [], account, parts, payment);
      approval = { amount: sum, former: allowance, endMs: Date.now() + approvalPatienceMs };
      continue;
    }
    const isPaid = await notePaid(
      offers.filter((offer) => tried.has(nameOf(offer))),
      block,
      parts,
    );
    if (!isPaid && !isApproved) {
      await waitForApproval(approval!, allowance, signal);
      continue;
    }
    if (!isPaid) await send(vault.payment(offers), offers, account, parts, payment);
    approval = undefined;
    rest = await unpaid(rest, journal);
  }
  return payment;
}

/** In atto. */
export const sumOf = (offers: readonly Offer[]) =>
  offers.reduce((sum, { amount }) => sum + BigInt(amount), 0n);

/** The offers that no payment is written down for. */
export async function unpaid(offers: readonly Offer[], journal: PaymentJournal): Promise<Offer[]> {
  const entries = await Promise.all(offers.map((offer) => journal.record(nameOf(offer))));
  return offers.filter((_, i) => entries[i]?.transaction === undefined);
}

async function checkFunds(vault: Vault, account: string, amount: bigint, payments: number): Promise<void> {
  const [balance, ether, fees] = await Promise.all([
    vault.balance(account),
    vault.ether(account),
    vault.estimateFees(payments),
  ]);
  if (balance < amount) {
    const message = `The account ${account} has ${formatAnt(balance)}, and the upload costs ${formatAnt(amount)}. Nothing was paid.`;
    throw paymentError('FUNDS', message, { account, amount: `${amount}` });
  }
  if (ether < fees) {
    const message = `The account ${account} has ${formatEther(ether)}, and the fees are about ${formatEther(fees)}. Nothing was paid.`;
    throw paymentError('FUNDS', message, { account, fees: `${fees}` });
  }
}

/**
 * @returns the names of the records that an old transaction may pay for.
 * @throws AntwayError `ACCOUNT` if it is one of another account, which has its own allowance; `CHANGED` if it pays another
 *   offer, which would not be found.
 */
async function triedBefore(
  offers: readonly Offer[],
  account: string,
  journal: PaymentJournal,
): Promise<Set<string>> {
  const names = new Set(offers.map(nameOf));
  const open = (await journal.pending()).filter(({ addresses }) => addresses.some((name) => names.has(name)));
  const other = open.find((pending) => pending.account !== account);
  if (other) {
    const message = `An earlier payment by the account ${other.account} may still wait in the wallet. Pay with that account, or forget the earlier payment.`;
    throw paymentError('ACCOUNT', message, { account: other.account });
  }
  const tried = new Set(open.flatMap(({ addresses }) => addresses));
  for (const offer of offers) {
    const entry = tried.has(nameOf(offer)) ? await journal.record(nameOf(offer)) : undefined;
    if (entry && entry.offer.quoteHash !== offer.quoteHash) {
      const message = 'Another tab or command has tried to pay with other prices. Ask for the price again.';
      throw paymentError('CHANGED', message, { address: offer.plan.address });
    }
  }
  return tried;
}

/** Writes down which records an old transaction has paid for up to a block. @returns whether there is one. */
async function notePaid(
  offers: readonly Offer[],
  block: string,
  { vault, journal }: PaymentParts,
): Promise<boolean> {
  let isOnePaid = false;
  for (const offer of offers) {
    if (!(await vault.isPaid(offer, block))) continue;
    await journal.putRecord({ offer, transaction: unknownTransaction });
    isOnePaid = true;
  }
  return isOnePaid;
}

/** A permission that the chain has confirmed. Amounts are in atto. */
interface Approval {
  amount: bigint;
  /** The amount that the vault could take before. */
  former: bigint;
  endMs: number;
}

/**
 * Endpoints have many machines, and some are behind.
 * @param allowance what the vault can take, as the endpoint says.
 * @throws AntwayError `ALLOWANCE` or `RPC` when the time is over.
 */
async function waitForApproval(
  { amount, former, endMs }: Approval,
  allowance: bigint,
  signal: AbortSignal,
): Promise<void> {
  if (Date.now() < endMs) return delay(approvalPollMs, signal);
  // Wallets let the user change the amount.
  if (allowance !== former) {
    const message = `The wallet lets the vault take ${formatAnt(allowance)} instead of ${formatAnt(amount)}. Nothing was paid. Pay again, and leave the amount in the wallet as it is.`;
    throw paymentError('ALLOWANCE', message, { allowance: `${allowance}`, amount: `${amount}` });
  }
  const message = 'The chain confirmed the permission to take the amount, but does not show it.';
  throw paymentError('RPC', message, { amount: `${amount}` });
}

async function send(
  call: Call,
  offers: readonly Offer[],
  account: Account,
  { vault, journal, signal }: PaymentParts,
  payment: { amount: bigint; fees: bigint; transactions: string[] },
): Promise<void> {
  signal.throwIfAborted();
  let pending: PendingTransaction | undefined;
  const note = async (sent: SentTransaction) => {
    const isFirst = pending === undefined;
    if (isFirst) {
      for (const offer of offers) {
        signal.throwIfAborted();
        await journal.putRecord({ offer });
      }
      signal.throwIfAborted();
    }
    pending = { ...sent, addresses: offers.map(nameOf) };
    await journal.putPending(pending);
    if (isFirst && signal.aborted) {
      await journal.removePending(pending);
      throw signal.reason;
    }
  };
  const sending = account.send(call, note).catch(async (error) => {
    if (pending && paymentProblemOf(error) === 'REJECTED') await journal.removePending(pending);
    throw error;
  });
  // The next command may start as soon as this throws. So it must find the transaction in the journal.
  const hash = await (account.asksUser ? raceAbort(sending, signal) : sending);
  const receipt = await vault.confirmed({ ...pending!, hash }, signal);
  await settle(vault, journal, pending!, outcomeFrom(receipt));
  payment.fees += receipt.fee;
  if (receipt.isSuccess) {
    payment.transactions.push(hash);
    payment.amount += sumOf(offers);
    return;
  }
  // An old transaction may have paid instead.
  if (offers.length > 0 && (await unpaid(offers, journal)).length < offers.length) return;
  const message = `The chain refused transaction ${hash}, or another one took its place. It paid for nothing, apart from the fee.`;
  throw paymentError('REVERTED', message, { transaction: hash });
}
