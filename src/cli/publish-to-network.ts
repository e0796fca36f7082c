import { prepareBill } from '../payment/bill.ts';
import type { PaymentChain } from '../payment/chain.ts';
import type { PaymentJournal } from '../payment/journal.ts';
import type { Payment } from '../payment/pay.ts';
import type { RecordToStore } from '../payment/quotes.ts';
import { confirmStored, paidSink } from '../payment/upload.ts';
import type { Published } from '../publish/publish.ts';
import type { ChunkSink } from '../publish/upload.ts';
import { writeAtomically } from './atomic-file.ts';
import type { CommandContext } from './context.ts';
import { plural } from './format.ts';
import { type NetworkOptions, withNetwork } from './network-payment.ts';
import type { Output } from './output.ts';

/** Encrypts the publication into a sink. Each run gives the same chunks. */
type Encrypt = (sink: ChunkSink) => Promise<Published>;

/**
 * Pays for a publication and brings it to the network, or only estimates the cost. An interrupted run continues where it
 * ended, and nothing is paid twice.
 * @param relayUrls if no option names relays.
 * @returns undefined after an estimate.
 * @throws as `withNetwork`.
 */
export function publishToNetwork(
  encrypt: Encrypt,
  options: NetworkOptions,
  relayUrls: readonly string[],
  output: Output,
  context: CommandContext,
): Promise<Published | undefined> {
  return withNetwork(options, relayUrls, output, context, async ({ parts, chain, settle }) => {
    const records = new Map<string, RecordToStore>();
    const surveyed = await encrypt({
      async store({ address: { hex: address }, bytes }) {
        records.set(address, { address, size: bytes.length });
        return 'present';
      },
    });
    const all = [...records.values()];
    output.note(`Asking the network for prices of ${plural(all.length, 'record')} …`);
    const bill = await prepareBill(all, parts);
    const payment = await settle(bill, { address: surveyed.address.hex, size: surveyed.size });
    if (options.estimate) return undefined;
    if (options.receipt !== undefined) {
      const { journal } = parts;
      await writeReceipt(options.receipt, { chain, surveyed, payment, journal, records: all });
    }
    const published = await encrypt(paidSink(all, parts));
    await confirmStored(all, parts);
    return published;
  });
}

interface ReceiptContent {
  chain: PaymentChain;
  surveyed: Published;
  payment: Payment;
  journal: PaymentJournal;
  records: readonly RecordToStore[];
}

/** Writes the payments of all records, also those of earlier runs. */
async function writeReceipt(
  path: string,
  { chain, surveyed, payment, journal, records }: ReceiptContent,
): Promise<void> {
  const entries = await Promise.all(records.map(({ address }) => journal.record(address)));
  const paid = entries.flatMap((entry) => {
    if (entry?.transaction === undefined) return [];
    const { offer, transaction } = entry;
    const { plan, quoteHash, rewardsAddress, amount } = offer;
    return [{ address: plan.address, quoteHash, rewardsAddress, amount, transaction }];
  });
  const receipt = {
    antway: 'receipt',
    version: 1,
    address: surveyed.address.hex,
    chain,
    fees: `${payment.fees}`,
    payments: paid,
  };
  await writeAtomically(path, [new TextEncoder().encode(`${JSON.stringify(receipt, undefined, 2)}\n`)]);
}
