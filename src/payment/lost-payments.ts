import { maxBatchAgeSeconds } from './batch-lifetime.ts';
import {
  type PaymentJournal,
  type SettledTransaction,
  type SingleEntry,
  unknownTransaction,
} from './journal.ts';
import type { PaymentParts } from './settle.ts';
import type { Vault } from './vault.ts';

/**
 * A chain may replace its newest blocks. After this many seconds, it does not replace a block any more. A payment is lost
 * only if it is missing from a block that is so much newer: an endpoint that is behind may not know the payment yet.
 */
const lastingSeconds = 600;

/** `final`: the chain keeps the payment. `open`: it is too early to tell. */
type Fate = 'final' | 'open' | 'lost';

/**
 * Looks for payments that the chain confirmed and then lost with a block. They are pending again: at the same prices, so
 * that one of two transactions for them fails if the first one comes back. Forgets transactions that are final, or whose
 * records are stored.
 * @returns whether a payment is lost.
 * @throws AntwayError as `Vault`.
 */
export async function reviveLost({ vault, journal }: Omit<PaymentParts, 'signal'>): Promise<boolean> {
  let hasLost = false;
  for (const settled of await journal.settled()) {
    const names = await unstoredOf(settled, journal);
    const fate = names.length === 0 ? 'final' : await fateOf(settled, names, vault, journal);
    if (fate === 'lost') await revive(settled, names, journal);
    if (fate !== 'open') await journal.removeSettled(settled);
    hasLost ||= fate === 'lost';
  }
  return hasLost;
}

/** The names of the records that the transaction has paid for, and that are not stored. */
async function unstoredOf({ addresses, hash, batch }: SettledTransaction, journal: PaymentJournal) {
  const entries = await Promise.all(addresses.map((name) => journal.record(name)));
  return addresses.filter((_, i) => {
    const entry = entries[i];
    if (!entry || entry.isStored || ('batch' in entry ? entry.batch : undefined) !== batch) return false;
    return entry.transaction === hash || entry.transaction === unknownTransaction;
  });
}

async function fateOf(
  { hash, batch: root, settledAt }: SettledTransaction,
  names: readonly string[],
  vault: Vault,
  journal: PaymentJournal,
): Promise<Fate> {
  if (hash !== unknownTransaction) {
    const receipt = await vault.receipt(hash);
    if (receipt?.isSuccess) return Date.now() / 1000 - settledAt < lastingSeconds ? 'open' : 'final';
    if (!receipt && (await vault.nonceOf(hash)) !== undefined) return 'open';
  }
  // Answers about one block show together that the payment is not in it, and not only unknown to a machine.
  const block = await vault.newestBlock();
  if ((await vault.timeOf(block)) - settledAt < lastingSeconds) return 'open';
  if (root !== undefined) {
    const batch = await journal.batch(root);
    return batch && !(await vault.paidPool(batch, block)) ? 'lost' : 'final';
  }
  for (const name of names) {
    const { offer } = (await journal.record(name)) as SingleEntry;
    if (await vault.isPaid(offer, block)) return 'final';
  }
  return 'lost';
}

/**
 * The pending transaction comes first: without it, other prices would be asked for, and both could be paid. The signed
 * transaction is not sent again, because the chain may have lost the permission before it, too.
 */
async function revive(settled: SettledTransaction, names: readonly string[], journal: PaymentJournal) {
  const { settledAt: _, isUnseen: __, raw: ___, hash, ...rest } = settled;
  const pending = hash === unknownTransaction ? rest : { ...rest, hash };
  const { batch: root } = settled;
  if (root === undefined) {
    await journal.putPending(pending);
    for (const name of names) {
      const { transaction: ____, ...entry } = (await journal.record(name)) as SingleEntry;
      await journal.putRecord(entry);
    }
    return;
  }
  const { timestamp } = (await journal.batchPayment(root))!;
  // Nodes would take an older batch only for a short time, so it is not paid again.
  if (Date.now() / 1000 - timestamp < maxBatchAgeSeconds) await journal.putPending(pending);
  await journal.removeBatchPayment(root);
}
