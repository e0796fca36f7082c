import type { PaymentChain } from './chain.ts';
import { type PaymentJournal, unknownTransaction } from './journal.ts';

/**
 * The text of a receipt file: the payments for all records, also those of earlier runs.
 * @param names of the records in the journal.
 * @param fees of this run, in wei.
 */
export async function receiptOf(
  address: string,
  names: readonly string[],
  { chain, journal, fees }: { chain: PaymentChain; journal: PaymentJournal; fees: bigint },
): Promise<string> {
  const entries = await Promise.all(names.map((name) => journal.record(name)));
  const payments = [];
  const batches = new Map<string, string[]>();
  for (const entry of entries) {
    if (entry?.transaction === undefined) continue;
    if ('offer' in entry) {
      const { plan, quoteHash, rewardsAddress, amount } = entry.offer;
      const transaction = toldOf(entry.transaction);
      // A pointer has one address for all of its states.
      const state = plan.stateId === undefined ? {} : { stateId: plan.stateId };
      payments.push({ address: plan.address, ...state, quoteHash, rewardsAddress, amount, transaction });
    } else batches.set(entry.batch, [...(batches.get(entry.batch) ?? []), entry.address]);
  }
  const batchPayments = await Promise.all(
    [...batches].map(async ([root, addresses]) => {
      const { transaction, amount } = (await journal.batchPayment(root))!;
      return { root, amount, transaction: toldOf(transaction), addresses };
    }),
  );
  const receipt = {
    antway: 'receipt',
    version: 1,
    address,
    chain,
    fees: `${fees}`,
    payments,
    batches: batchPayments,
  };
  return `${JSON.stringify(receipt, undefined, 2)}\n`;
}

const toldOf = (transaction: string) => (transaction === unknownTransaction ? null : transaction);
