import { type Batch, depthOf, mostOf } from './batch.ts';
import { isPaidFor, nameOf, type PaymentJournal } from './journal.ts';
import type { Offer } from './quotes.ts';
import { type Call, maxPaymentsPerTransaction, type Vault } from './vault.ts';

/** The subject of one transaction: a batch, or up to 256 single records. */
export type Payable = { batch: Batch } | { offers: readonly Offer[] };

/** All payments that a user agrees to. */
export interface Due {
  batches: readonly Batch[];
  offers: readonly Offer[];
}

/** Rough amounts of gas, measured on a test chain. Only for the estimate that the user sees. */
const gas = {
  approval: 50_000n,
  transaction: 65_000n,
  offer: 30_000n,
  batch: { base: 75_000n, node: 100_000n, pool: 20_000n },
};

/** The names of its records in the journal. */
export function namesOf(payable: Payable): string[] {
  if ('batch' in payable) return payable.batch.chunks.map(({ address }) => address);
  return payable.offers.map(nameOf);
}

/** The most that the vault takes, in atto. */
export function amountOf(payable: Payable): bigint {
  if ('batch' in payable) return mostOf(payable.batch);
  return payable.offers.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}

export const sumOf = (payables: readonly Payable[]) =>
  payables.reduce((sum, payable) => sum + amountOf(payable), 0n);

/** The probable gas of payments, with their permissions. */
export function gasOf(payables: readonly Payable[]): bigint {
  return payables.reduce((sum, payable) => sum + gas.approval + gasOfPayment(payable), 0n);
}

/** The probable gas of one transaction. @param payable undefined for a permission. */
export function gasOfTransaction(payable: Payable | undefined): bigint {
  return payable ? gasOfPayment(payable) : gas.approval;
}

function gasOfPayment(payable: Payable): bigint {
  if ('offers' in payable) return gas.transaction + BigInt(payable.offers.length) * gas.offer;
  const { base, node, pool } = gas.batch;
  return base + BigInt(depthOf(payable.batch)) * node + BigInt(payable.batch.pools.length) * pool;
}

export function callOf(payable: Payable, vault: Vault): Call {
  return 'batch' in payable ? vault.batchPayment(payable.batch) : vault.payment(payable.offers);
}

/** Writes down what is about to be paid. */
export async function noteDue(payable: Payable, journal: PaymentJournal, signal: AbortSignal): Promise<void> {
  if ('offers' in payable) {
    for (const offer of payable.offers) {
      signal.throwIfAborted();
      await journal.putRecord({ offer });
    }
    return;
  }
  const { batch } = payable;
  await journal.putBatch(batch);
  for (const { address } of batch.chunks) {
    signal.throwIfAborted();
    await journal.putRecord({ address, batch: batch.root });
  }
}

/** The payments that are due, without those that are written down. */
export async function unpaid({ batches, offers }: Due, journal: PaymentJournal): Promise<Payable[]> {
  const payables: Payable[] = [];
  for (const batch of batches) {
    if (await journal.batchPayment(batch.root)) continue;
    const paid = await paidNames(namesOf({ batch }), journal);
    if (paid.length < batch.chunks.length) payables.push({ batch });
  }
  const paid = new Set(await paidNames(offers.map(nameOf), journal));
  const rest = offers.filter((offer) => !paid.has(nameOf(offer)));
  for (let at = 0; at < rest.length; at += maxPaymentsPerTransaction)
    payables.push({ offers: rest.slice(at, at + maxPaymentsPerTransaction) });
  return payables;
}

/** Those of some records that need no further payment. */
async function paidNames(names: readonly string[], journal: PaymentJournal): Promise<string[]> {
  const entries = await Promise.all(names.map((name) => journal.record(name)));
  return names.filter((_, i) => isPaidFor(entries[i]));
}
