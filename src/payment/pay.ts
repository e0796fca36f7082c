import { delay } from '../util/delay.ts';
import { raceAbort } from '../util/watchdog.ts';
import type { Account } from './account.ts';
import { formatAnt } from './amounts.ts';
import { checkDue } from './check-due.ts';
import { paymentError, paymentProblemOf } from './errors.ts';
import { checkFees } from './fee-limit.ts';
import {
  nameOf,
  type PaymentJournal,
  type PendingTransaction,
  type SentTransaction,
  unknownTransaction,
} from './journal.ts';
import {
  amountOf,
  callOf,
  type Due,
  gasOf,
  gasOfTransaction,
  namesOf,
  noteDue,
  type Payable,
  sumOf,
  unpaid,
} from './payable.ts';
import { outcomeFrom, type PaymentParts, settle } from './settle.ts';
import type { Call } from './vault.ts';

const approvalTimeoutMs = 30_000;
const approvalPollMs = 500;

/** The most that the user agreed to. */
export interface Limits {
  /** In atto. */
  amount: bigint;
  /** In wei, as of `feeLimit`. */
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

/** The parts of a payment, and what has to be true for it. */
export interface PayParts extends PaymentParts {
  /**
   * Called before each transaction, also between the permission and the payment: the user may take hours to agree to one.
   * @throws if the records must not be paid for any more.
   */
  check?: (() => Promise<void>) | undefined;
}

/** @throws AntwayError `OVER_LIMIT` if the unpaid records cost more than `maxAmount`, in atto. */
export function checkLimit(rest: readonly Payable[], maxAmount: bigint): void {
  const amount = sumOf(rest);
  if (amount <= maxAmount) return;
  const message = `It costs ${formatAnt(amount)}, more than the limit of ${formatAnt(maxAmount)}. Nothing was paid.`;
  throw paymentError('OVER_LIMIT', message, { amount: `${amount}`, limit: `${maxAmount}` });
}

/**
 * Pays a bill. Each payment is in the journal before this returns, also after an error.
 *
 * The vault may take exactly the amount of the next transaction. For a batch, it may take what the dearest pool costs. So if
 * a wallet sends an old transaction for the same records as well, the chain executes only one of the two, unless the user
 * has also confirmed an old permission between them.
 * @throws AntwayError `OVER_LIMIT`, `FEES`, `FUNDS`, `ACCOUNT`, `CHANGED`, `CLOCK`, `CHAIN`, `REJECTED`, `ALLOWANCE`,
 *   `REVERTED`, `PENDING`, `RPC`; as `parts.check`.
 */
export async function pay(
  { due }: { due: Due },
  account: Account,
  limits: Limits,
  parts: PayParts,
): Promise<Payment> {
  const { vault, journal, signal } = parts;
  const payment = { amount: 0n, fees: 0n, transactions: [] as string[] };
  let rest = await unpaid(due, journal);
  if (rest.length === 0) return payment;
  checkLimit(rest, limits.amount);
  const gas = gasOf(rest);
  checkFees(await vault.feesOf(gas), limits.fees);
  const feesFor = (payable: Payable | undefined) => (limits.fees * gasOfTransaction(payable)) / gas;
  const tried = await checkDue(rest, account.address, parts);

  let approval: Approval | undefined;
  for (let [next] = rest; next; [next] = rest) {
    const sum = amountOf(next);
    // Both are read at one block: an old transaction that is executed later takes the amount, and the new one fails.
    const block = await vault.newestBlock();
    const allowance = await vault.allowance(account.address, block);
    const isApproved = allowance === sum;
    if (!isApproved && approval?.amount !== sum) {
      await send(vault.approval(sum), undefined, account, feesFor(undefined), parts, payment);
      approval = { amount: sum, former: allowance, endMs: Date.now() + approvalTimeoutMs };
      continue;
    }
    const isPaid = await notePaid(next, tried, block, parts);
    if (!isPaid && !isApproved) {
      await waitForApproval(approval!, allowance, signal);
      continue;
    }
    if (!isPaid) await send(callOf(next, vault), next, account, feesFor(next), parts, payment);
    approval = undefined;
    rest = await unpaid(due, journal);
  }
  return payment;
}

/** Writes down what an old transaction has paid for up to a block. @returns whether there is one. */
async function notePaid(
  payable: Payable,
  tried: ReadonlySet<string>,
  block: string,
  { vault, journal }: PaymentParts,
): Promise<boolean> {
  if ('batch' in payable) {
    const { batch } = payable;
    if (!batch.chunks.some(({ address }) => tried.has(address))) return false;
    const paid = await vault.paidPool(batch, block);
    if (!paid) return false;
    await journal.putBatchPayment(batch, paid, unknownTransaction);
    return true;
  }
  let isOnePaid = false;
  for (const offer of payable.offers) {
    if (!tried.has(nameOf(offer)) || !(await vault.isPaid(offer, block))) continue;
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

/**
 * @param payable undefined for a permission.
 * @param maxFee its part of the limit. The cost of the others does not count: the endpoint that tells it may lie.
 */
async function send(
  call: Call,
  payable: Payable | undefined,
  account: Account,
  maxFee: bigint,
  parts: PayParts,
  payment: { amount: bigint; fees: bigint; transactions: string[] },
): Promise<void> {
  const { vault, journal, signal, check } = parts;
  signal.throwIfAborted();
  await check?.();
  checkFees(await vault.feesOf(gasOfTransaction(payable)), maxFee);
  const batch = payable && 'batch' in payable ? { batch: payable.batch.root } : {};
  let pending: PendingTransaction | undefined;
  const note = async (sent: SentTransaction) => {
    const isFirst = pending === undefined;
    if (isFirst) {
      if (payable) await noteDue(payable, journal, signal);
      signal.throwIfAborted();
    }
    pending = { ...sent, addresses: payable ? namesOf(payable) : [], ...batch };
    await journal.putPending(pending);
    if (isFirst && signal.aborted) {
      await journal.removePending(pending);
      throw signal.reason;
    }
  };
  const sending = account.send(call, note, maxFee).catch(async (error) => {
    if (pending && paymentProblemOf(error) === 'REJECTED') await journal.removePending(pending);
    throw error;
  });
  // The next command may start as soon as this throws. So it must find the transaction in the journal.
  const hash = await (account.asksUser ? raceAbort(sending, signal) : sending);
  const receipt = await vault.confirmed({ ...pending!, hash }, signal);
  payment.fees += receipt.fee;
  await settle(parts, pending!, outcomeFrom(receipt));
  if (receipt.isSuccess) {
    payment.transactions.push(hash);
    if (payable) payment.amount += await chargedFor(payable, journal);
    return;
  }
  // An old transaction may have paid instead.
  if (payable && (await isPartlyPaid(payable, journal))) return;
  const message = `The chain refused transaction ${hash}, or another one took its place. It paid for nothing, apart from the fee.`;
  throw paymentError('REVERTED', message, { transaction: hash });
}

/** In atto. */
async function chargedFor(payable: Payable, journal: PaymentJournal): Promise<bigint> {
  if ('offers' in payable) return amountOf(payable);
  return BigInt((await journal.batchPayment(payable.batch.root))!.amount);
}

async function isPartlyPaid(payable: Payable, journal: PaymentJournal): Promise<boolean> {
  if ('batch' in payable) return (await journal.batchPayment(payable.batch.root)) !== undefined;
  const rest = await unpaid({ batches: [], offers: payable.offers }, journal);
  return rest.flatMap(namesOf).length < payable.offers.length;
}
