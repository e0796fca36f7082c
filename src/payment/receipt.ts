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
  const payments = entries.flatMap((entry) => {
    if (entry?.transaction === undefined) return [];
    const { plan, quoteHash, rewardsAddress, amount } = entry.offer;
    const transaction = entry.transaction === unknownTransaction ? null : entry.transaction;
    return [{ address: plan.address, quoteHash, rewardsAddress, amount, transaction }];
  });
  const receipt = { antway: 'receipt', version: 1, address, chain, fees: `${fees}`, payments };
  return `${JSON.stringify(receipt, undefined, 2)}\n`;
}
