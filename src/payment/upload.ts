import type { ChunkSink } from '../publish/upload.ts';
import { proofOf } from './batch.ts';
import { isOfOneRecord, paymentError, paymentProblemOf } from './errors.ts';
import type { PaymentJournal, RecordEntry } from './journal.ts';
import type { PaymentRoute, RecordPayment } from './payment-route.ts';
import type { RecordToStore } from './quotes.ts';

/** The parts of an upload that was paid for. */
export interface StoreParts {
  /** At least one. The first one is asked first; a second one checks it. */
  relays: readonly PaymentRoute[];
  journal: PaymentJournal;
  signal: AbortSignal;
}

/**
 * A sink that brings records to the network that were paid for. An upload continues without a record that has trouble of its
 * own, so that the next one has less to do.
 * @param billed the addresses of all records of the bill.
 * @throws AntwayError as `storePaid`; `CHANGED` for a record that is not on the bill.
 */
export function paidSink(
  billed: ReadonlySet<string>,
  { relays, journal }: Omit<StoreParts, 'signal'>,
): ChunkSink {
  return {
    async store({ address, bytes }, signal) {
      if (!billed.has(address.hex)) {
        const message = 'The files have changed since the price was asked for. Ask for the price again.';
        throw paymentError('CHANGED', message, { address: address.hex });
      }
      return storePaid({ address: address.hex, size: bytes.length }, bytes, { relays, journal, signal });
    },
    mayContinue: isOfOneRecord,
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
  { relays, journal, signal }: StoreParts,
): Promise<'stored' | 'present'> {
  const entry = await journal.record(stateId ?? address);
  if (entry?.transaction === undefined || entry.isStored) return 'present';
  const payment = await paymentOf(entry, journal);
  try {
    await storeAtOne(relays, payment, bytes, signal);
  } catch (error) {
    if (paymentProblemOf(error) === 'UNPAID') await journal.setUnseen(stateId ?? address);
    throw error;
  }
  await journal.putRecord({ ...entry, isStored: true });
  return 'stored';
}

async function paymentOf(entry: RecordEntry, journal: PaymentJournal): Promise<RecordPayment> {
  if ('offer' in entry) return { plan: entry.offer.plan, transaction: entry.transaction! };
  const { address, batch: root } = entry;
  const [batch, payment] = await Promise.all([journal.batch(root), journal.batchPayment(root)]);
  const proof = batch && payment && proofOf(batch, payment.pool, address);
  if (proof) return { merkle: proof };
  const message = `The proof of payment for ${address} is not in the journal of payments. If you have a copy of the journal, put it back.`;
  throw paymentError('UNPAID', message, { address, root });
}

async function storeAtOne(
  relays: readonly PaymentRoute[],
  payment: RecordPayment,
  bytes: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<void> {
  let failure: unknown;
  for (const relay of relays) {
    try {
      return await relay.store(payment, bytes, signal);
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
  { relays, journal, signal }: StoreParts,
): Promise<void> {
  const relay = relays.at(-1)!;
  const answers = await relay.quotes(records, signal);
  const missing = records.filter((_, i) => answers[i]!.status !== 'stored');
  if (missing.length === 0) return;
  for (const { address, stateId } of missing) await journal.setMissing(stateId ?? address);
  const message = `${relay.url} does not find ${missing.length} of ${records.length} records in the network. The payment is saved: publish the same files again, with another relay.`;
  throw paymentError('NOT_STORED', message, { relay: relay.url, missing: missing.length });
}
