import type { PaymentJournal, SettledTransaction, SingleEntry } from './journal.ts';
import type { PaymentParts } from './settle.ts';
import type { Vault } from './vault.ts';

/**
 * A chain may take other blocks in place of its newest ones. It does not do so this long afterwards, in seconds. A block of
 * an endpoint that is behind is not that new.
 */
const lastingSeconds = 600;

/**
 * Looks for payments that the chain confirmed and then lost with a block. They are pending again: at the same prices, so
 * that one of two transactions for them fails if the first one comes back. Forgets transactions whose records are stored.
 * @throws AntwayError as `Vault`.
 */
export async function reviveLost({ vault, journal }: Omit<PaymentParts, 'signal'>): Promise<void> {
  for (const settled of await journal.settled()) {
    const names = await unstoredOf(settled, journal);
    if (names.length === 0) await journal.removeSettled(settled);
    else if (await isLost(settled, names, vault, journal)) await revive(settled, names, journal);
  }
}

/** The names of the records that the transaction has paid for, and that are not stored. */
async function unstoredOf({ addresses, hash }: SettledTransaction, journal: PaymentJournal) {
  const entries = await Promise.all(addresses.map((name) => journal.record(name)));
  return addresses.filter((_, i) => entries[i]?.transaction === hash && !entries[i]!.isStored);
}

async function isLost(
  { hash, batch: root, settledAt }: SettledTransaction,
  names: readonly string[],
  vault: Vault,
  journal: PaymentJournal,
): Promise<boolean> {
  const block = await vault.newestBlock();
  if ((await vault.timeOf(block)) - settledAt < lastingSeconds) return false;
  if ((await vault.receipt(hash)) || (await vault.nonceOf(hash)) !== undefined) return false;
  if (root !== undefined) {
    const batch = await journal.batch(root);
    return batch !== undefined && (await vault.paidPool(batch, block)) === undefined;
  }
  for (const name of names) {
    const { offer } = (await journal.record(name)) as SingleEntry;
    if (await vault.isPaid(offer, block)) return false;
  }
  return true;
}

/**
 * The pending transaction comes first: without it, other prices would be asked for, and both could be paid. The signed
 * transaction is not sent again, because the chain may have lost the permission before it, too.
 */
async function revive(settled: SettledTransaction, names: readonly string[], journal: PaymentJournal) {
  const { settledAt: _, raw: __, ...pending } = settled;
  await journal.putPending(pending);
  if (settled.batch !== undefined) await journal.removeBatchPayment(settled.batch);
  for (const name of settled.batch === undefined ? names : []) {
    const { transaction: ___, ...entry } = (await journal.record(name)) as SingleEntry;
    await journal.putRecord(entry);
  }
  await journal.removeSettled(settled);
}
