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
const timeoutMs = 30_000;
const pollMs = 500;

/**
 * Brings interrupted payments to their end: each signed transaction is sent again if the chain does not have it, or has lost
 * it. Run it before anything else. A transaction that a wallet may still send stays pending. A transaction that pays for a
 * batch too late is not sent, and is void: the account's next transaction has the same number.
 * @param mayPay whether to send. Otherwise such a transaction stays in the journal.
 * @returns whether the chain has lost a payment, so that a bill of before leaves out what is due again.
 * @throws AntwayError as `Vault`.
 */
export async function settlePending(parts: PaymentParts, mayPay = true): Promise<boolean> {
  const { journal } = parts;
  const hasLost = await reviveLost(parts);
  for (const pending of await journal.pending()) {
    await settle(parts, pending, await outcomeOf(parts, pending, mayPay));
  }
  await forgetUnpaidBatches(journal);
  return hasLost;
}

/**
 * Forgets transactions that are not in the wallet any more, as its user says. The wallet may have sent one before that, so
 * this asks the chain once more.
 * @returns and @throws as `settlePending`.
 */
export async function forgetWaiting(
  waiting: readonly PendingTransaction[],
  parts: PaymentParts,
): Promise<boolean> {
  const hasLost = await settlePending(parts);
  for (const pending of waiting) await parts.journal.removePending(pending);
  await forgetUnpaidBatches(parts.journal);
  return hasLost;
}

/** Removes batches without a payment, also without a pending one. The nodes of a batch take megabytes. */
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
    const count = nonce === undefined ? undefined : await vault.transactionCount(account, block);
    // If the nonce was used by another transaction, this one is void.
    if (count !== undefined && count > nonce!) return { state: 'void', block };
    // The chain has lost the transaction before it, and would take this one only after another one.
    if (count !== undefined && count < nonce!) return { state: 'open', block };
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

/** The findings about a transaction. */
interface Findings {
  /** Whether it, or another one, has paid for something. */
  isPaid: boolean;
  /** Whether something is not paid for. */
  isOpen: boolean;
  /** Write it down. */
  notes: (() => Promise<void>)[];
}

/** Writes down what a transaction paid for, and forgets the transaction unless it may still be sent. */
export async function settle(
  parts: PaymentParts,
  pending: PendingTransaction,
  outcome: Outcome,
): Promise<void> {
  const { vault, journal } = parts;
  const hash = outcome.state === 'executed' ? pending.hash! : unknownTransaction;
  const found = await (pending.batch === undefined
    ? findRecords(parts, pending, outcome, hash)
    : findBatch(parts, pending.batch, outcome, hash));
  if (found.isPaid) {
    // A machine of the endpoint may be behind, and the clock of this machine may be wrong.
    const settledAt = Math.max(Date.now() / 1000, await vault.timeOf().catch(() => 0));
    await journal.putSettled({ ...pending, hash, settledAt });
  }
  for (const note of found.notes) await note();
  if (outcome.state !== 'open' || !found.isOpen) await journal.removePending(pending);
}

async function findRecords(
  { vault, journal }: PaymentParts,
  { addresses }: PendingTransaction,
  outcome: Outcome,
  transaction: string,
): Promise<Findings> {
  const found: Findings = { isPaid: false, isOpen: false, notes: [] };
  for (const name of addresses) {
    const entry = await journal.record(name);
    if (!entry || !('offer' in entry)) continue;
    const isNoted = entry.transaction !== undefined;
    if (isNoted || outcome.state === 'executed' || (await vault.isPaid(entry.offer, outcome.block))) {
      found.isPaid = true;
      if (!isNoted) found.notes.push(() => journal.putRecord({ ...entry, transaction }));
    } else found.isOpen = true;
  }
  return found;
}

async function findBatch(
  { vault, journal, signal }: PaymentParts,
  root: string,
  outcome: Outcome,
  transaction: string,
): Promise<Findings> {
  const batch = await journal.batch(root);
  if (!batch) return { isPaid: false, isOpen: false, notes: [] };
  if (await journal.batchPayment(root)) return { isPaid: true, isOpen: false, notes: [] };
  const find = (block?: string) => vault.paidPool(batch, block);
  const isExecuted = outcome.state === 'executed';
  const paid = isExecuted ? await awaitPool(find, transaction, signal) : await find(outcome.block);
  if (!paid) return { isPaid: false, isOpen: true, notes: [] };
  const note = () => journal.putBatchPayment(batch, paid, transaction);
  return { isPaid: true, isOpen: false, notes: [note] };
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
  for (const endMs = Date.now() + timeoutMs; ; await delay(pollMs, signal)) {
    const paid = await find();
    if (paid) return paid;
    if (Date.now() > endMs) {
      const message = `The chain confirmed transaction ${hash}, but does not show the payment. Continue later with the same files: nothing is paid twice.`;
      throw paymentError('RPC', message, { transaction: hash });
    }
  }
}
