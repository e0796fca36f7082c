import { type Batch, checkStoredBatch } from './batch.ts';
import { paymentError } from './errors.ts';
import { isPaidFor, type PaymentJournal } from './journal.ts';
import { type Due, namesOf, sumOf, unpaid as unpaidOf } from './payable.ts';
import type { PaymentRoute, RecordQuote } from './payment-route.ts';
import { planBatches } from './plan-batches.ts';
import { checkStoredOffer, commonOffer, freshOffer, type Offer, type RecordToStore } from './quotes.ts';
import type { StoreParts } from './upload.ts';

/** The kind of the things whose prices are asked for. */
export type Priced = 'records' | 'pools';

/** The price of an upload. */
export interface Bill {
  /** All different records. */
  records: number;
  /** Records that the network has already. */
  stored: number;
  /** Records that were paid for before, and are not stored yet. */
  paid: number;
  /** Those of them whose payment the nodes did not see. `settlePending` finds out whether the chain has lost it. */
  unseen: number;
  /** The payments that it needs. */
  due: Due;
  /**
   * Nodes of the batches that only the first of two relays names, so that a dishonest one could have invented them. The chain
   * may choose them. With one relay, none is confirmed, and this is 0.
   */
  unconfirmedNodes: number;
  /** The number of records that this pays for. */
  dueRecords: number;
  /** The most that it costs, in atto. The vault chooses one of several amounts for each batch. */
  amount: bigint;
}

/**
 * Asks what it costs to store records. Records that were paid for before cost nothing. An offer that a wallet may
 * still pay stays the same, so that no record is paid for twice.
 * @param records all different.
 * @param onProgress called for the prices of records, and then for those of the pools of batches.
 * @throws AntwayError `QUOTE`, `RELAYS_DIFFER`, `SHORTFALL`, `CLOCK`.
 */
export async function prepareBill(
  records: readonly RecordToStore[],
  { relays, journal, signal }: StoreParts,
  onProgress: (asked: number, all: number, what: Priced) => void = () => undefined,
): Promise<Bill> {
  const [first, second] = relays;
  const tried = new Set((await journal.pending()).flatMap(({ addresses }) => addresses));
  const unpaid: RecordToStore[] = [];
  const triedOffers: Offer[] = [];
  const triedBatches = new Map<string, Batch>();
  const doubted = new Set(
    (await journal.settled()).flatMap(({ isUnseen, addresses }) => (isUnseen ? addresses : [])),
  );
  let [paid, stored, unseen] = [0, 0, 0];
  for (const record of records) {
    const name = record.stateId ?? record.address;
    const entry = await journal.record(name);
    if (!isPaidFor(entry)) {
      if (!entry || !tried.has(name)) unpaid.push(record);
      else if ('offer' in entry) triedOffers.push(checkStoredOffer(entry.offer, record));
      else if (!triedBatches.has(entry.batch))
        triedBatches.set(entry.batch, await storedBatch(entry.batch, journal));
    } else if (entry!.isStored) stored++;
    else {
      paid++;
      if (doubted.has(name)) unseen++;
    }
  }
  const [answers, others] = await Promise.all([
    first!.quotes(unpaid, signal, (asked) => onProgress(asked, unpaid.length, 'records')),
    second?.quotes(unpaid, signal),
  ]);
  const quoted = others ? agreed(answers, others, first!, second!) : answers;
  // An expired payment is of no use, and is needed no more. `confirmStored` undoes this if no node has the record.
  for (const [i, { address, stateId }] of unpaid.entries()) {
    const entry = quoted[i]!.status === 'stored' ? await journal.record(stateId ?? address) : undefined;
    if (entry?.transaction !== undefined) await journal.putRecord({ ...entry, isStored: true });
  }
  const offers = quoted.flatMap((answer) => (answer.status === 'quoted' ? [freshOffer(answer.offer)] : []));
  const planned = await planBatches(offers, relays, signal, (asked, all) => onProgress(asked, all, 'pools'));
  const due = {
    batches: [...triedBatches.values(), ...planned.batches],
    offers: [...triedOffers, ...planned.offers],
  };
  const payables = await unpaidOf(due, journal);
  return {
    records: records.length,
    stored: stored + unpaid.length - offers.length,
    paid,
    unseen,
    due,
    unconfirmedNodes: planned.unconfirmedNodes,
    dueRecords: payables.flatMap(namesOf).length,
    amount: sumOf(payables),
  };
}

/** @throws AntwayError `QUOTE` if it is damaged. */
async function storedBatch(root: string, journal: PaymentJournal): Promise<Batch> {
  const batch = await journal.batch(root);
  if (batch) return checkStoredBatch(batch);
  throw paymentError(
    'QUOTE',
    'A batch is not in the journal of payments. If you have a copy of the journal, put it back.',
    { root },
  );
}

/**
 * Makes sure that two relays name the same nodes, and agree on what is stored. So none of them can invent nodes of its
 * own, and none can leave a record out.
 * @returns the offers of the nodes that both name.
 */
function agreed(
  quoted: readonly RecordQuote[],
  others: readonly RecordQuote[],
  first: PaymentRoute,
  second: PaymentRoute,
): RecordQuote[] {
  return quoted.map((answer, i) => {
    const other = others[i]!;
    const isQuoted = answer.status === 'quoted' && other.status === 'quoted';
    if (isQuoted) {
      const offer = commonOffer(answer.offer, other.offer);
      if (offer) return { status: 'quoted', offer };
    } else if (answer.status === other.status) return answer;
    const message = isQuoted
      ? `${first.url} and ${second.url} name different nodes for a record. One of them may be dishonest. Nothing was paid.`
      : `Only one of ${first.url} and ${second.url} says that the network has a record. Try again later. Nothing was paid.`;
    throw paymentError('RELAYS_DIFFER', message, { relays: [first.url, second.url] });
  });
}
