import { delay } from '../util/delay.ts';
import { batchLifetimeSeconds } from './batch-lifetime.ts';
import { paymentError } from './errors.ts';
import { type PaymentJournal, type PendingTransaction, unknownTransaction } from './journal.ts';
import { reviveLost } from './lost-payments.ts';
import type { PaidPool, Receipt, Replaced, Vault } from './vault.ts';

/** The parts of a payment. */
export interface PaymentParts {
  vault: Vault;
  journal: PaymentJournal;
  signal: AbortSignal;
}

/** `open`: it may still come into a block. `block` is the one that shows that, or that it never will. */
export type Outcome = { state: 'executed' } | { state: 'void' | 'open'; block?: string };

/** The upload of a batch needs some of the time in which nodes accept the payment. */
const maxResendAgeSeconds = batchLifetimeSeconds - 24 * 60 * 60;
const patienceMs = 30_000;
const pollMs = 500;

/**
 * Brings interrupted payments to their end: each signed transaction is sent again if the chain does not have it, or has lost
 * it. Run it before anything else. A transaction that a wallet may still send stays pending. A transaction that pays for a
 * batch too late is not sent, and is void: the account's next transaction has the same number.
 * @param mayPay whether to send. Otherwise such a transaction stays in the journal.
 * @throws AntwayError as `Vault`.
 */
export async function settlePending(parts: PaymentParts, mayPay = true): Promise<void> {
  const { journal } = parts;
  await reviveLost(parts);
  for (const pending of await journal.pending()) {
    await settle(parts, pending, await outcomeOf(parts, pending, mayPay));
  }
  await forgetUnpaidBatches(journal);
}

/** The nodes of a batch have megabytes. Those of one that nothing pays for any more are of no use. */
async function forgetUnpaidBatches(journal: PaymentJournal): Promise<void> {
  const tried = new Set((await journal.pending()).map(({ batch }) => batch));
  for (const root of await journal.batches()) {
    if (!tried.has(root) && !(await journal.batchPayment(root))) await journal.removeBatch(root);
  }
}

async function outcomeOf(
  parts: PaymentParts,
  pending: PendingTransaction,
  mayPay: boolean,
): Promise<Outcome> {
  const { vault, signal } = parts;
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
    if (await isTooLate(pending, parts)) return { state: 'void', block };
    await vault.request('eth_sendRawTransaction', raw);
  }
  return outcomeFrom(await vault.confirmed({ ...pending, hash }, signal));
}

/** Whether nodes would accept the payment for a batch only for a short time, or not at all. */
async function isTooLate(
  { batch: root }: PendingTransaction,
  { vault, journal }: PaymentParts,
): Promise<boolean> {
  const batch = root === undefined ? undefined : await journal.batch(root);
  if (!batch) return root !== undefined;
  // The clock of this machine may be wrong, and the chain of a test stands still without transactions.
  const nowSeconds = Math.max(Date.now() / 1000, await vault.timeOf());
  return nowSeconds - batch.timestamp > maxResendAgeSeconds;
}

export function outcomeFrom(receipt: Receipt | Replaced): Outcome {
  if (receipt.isSuccess) return { state: 'executed' };
  return 'replacedAt' in receipt ? { state: 'void', block: receipt.replacedAt } : { state: 'void' };
}

/** Writes down what a transaction paid for, and forgets the transaction unless it may still be sent. */
export async function settle(
  parts: PaymentParts,
  pending: PendingTransaction,
  outcome: Outcome,
): Promise<void> {
  const isOpen = await (pending.batch === undefined
    ? settleRecords(parts, pending, outcome)
    : settleBatch(parts, pending, pending.batch, outcome));
  if (outcome.state === 'executed' && pending.addresses.length > 0) {
    const settledAt = await parts.vault.timeOf();
    await parts.journal.putSettled({ ...pending, hash: pending.hash!, settledAt });
  }
  if (outcome.state !== 'open' || !isOpen) await parts.journal.removePending(pending);
}

/** @returns whether something is not paid for. */
async function settleRecords(
  { vault, journal }: PaymentParts,
  { addresses, hash }: PendingTransaction,
  outcome: Outcome,
): Promise<boolean> {
  let isOpen = false;
  for (const name of addresses) {
    const entry = await journal.record(name);
    if (!entry || !('offer' in entry) || entry.transaction !== undefined) continue;
    if (outcome.state === 'executed') await journal.putRecord({ ...entry, transaction: hash! });
    else if (await vault.isPaid(entry.offer, outcome.block)) {
      await journal.putRecord({ ...entry, transaction: unknownTransaction });
    } else isOpen = true;
  }
  return isOpen;
}

async function settleBatch(
  { vault, journal, signal }: PaymentParts,
  { hash }: PendingTransaction,
  root: string,
  outcome: Outcome,
): Promise<boolean> {
  const batch = await journal.batch(root);
  if (!batch || (await journal.batchPayment(root))) return false;
  const find = (block?: string) => vault.paidPool(batch, block);
  const isExecuted = outcome.state === 'executed';
  const paid = isExecuted ? await awaitPool(find, hash!, signal) : await find(outcome.block);
  if (!paid) return true;
  await journal.putBatchPayment(batch, paid, isExecuted ? hash! : unknownTransaction);
  return false;
}

/**
 * Endpoints have many machines, and some are behind.
 * @throws AntwayError `RPC` when the time is over. The transaction stays in the journal.
 */
async function awaitPool(
  find: () => Promise<PaidPool | undefined>,
  hash: string,
  signal: AbortSignal,
): Promise<PaidPool> {
  for (const endMs = Date.now() + patienceMs; ; await delay(pollMs, signal)) {
    const paid = await find();
    if (paid) return paid;
    if (Date.now() > endMs) {
      const message = `The chain confirmed transaction ${hash}, but does not show the payment. Continue later with the same files: nothing is paid twice.`;
      throw paymentError('RPC', message, { transaction: hash });
    }
  }
}
