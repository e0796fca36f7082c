import { prepareBill } from '../payment/bill.ts';
import type { RecordToStore } from '../payment/quotes.ts';
import { receiptOf } from '../payment/receipt.ts';
import { confirmStored, paidSink } from '../payment/upload.ts';
import type { Published } from '../publish/publish.ts';
import type { ChunkSink } from '../publish/upload.ts';
import { requireWritable, writeAtomically } from './atomic-file.ts';
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
 * @throws as `withNetwork`; AntwayError as `requireWritable`, before anything is paid.
 */
export async function publishToNetwork(
  encrypt: Encrypt,
  options: NetworkOptions,
  relayUrls: readonly string[],
  output: Output,
  context: CommandContext,
): Promise<Published | undefined> {
  if (options.receipt !== undefined) await requireWritable(options.receipt);
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
      const { fees } = payment;
      const text = await receiptOf(surveyed.address.hex, [...records.keys()], { chain, journal, fees });
      await writeAtomically(options.receipt, [new TextEncoder().encode(text)]);
    }
    const published = await encrypt(paidSink(new Set(records.keys()), parts));
    await confirmStored(all, parts);
    return published;
  });
}
