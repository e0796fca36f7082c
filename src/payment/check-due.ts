import { formatAnt, formatEther } from './amounts.ts';
import { maxBatchAgeSeconds } from './batch-lifetime.ts';
import { isNetworkChain } from './chain.ts';
import { paymentError } from './errors.ts';
import { isPaidFor, nameOf, type PaymentJournal, type PendingTransaction } from './journal.ts';
import { gasOf, namesOf, type Payable, sumOf } from './payable.ts';
import type { PaymentParts } from './settle.ts';
import type { Vault } from './vault.ts';

/**
 * Checks payments before the first transaction.
 * @returns the names of the records that an old transaction may pay for.
 * @throws AntwayError `CHAIN`, `CHANGED`, `CLOCK`, `FUNDS`, `ACCOUNT`, `RPC`.
 */
export async function checkDue(
  payables: readonly Payable[],
  account: string,
  { vault, journal }: PaymentParts,
): Promise<Set<string>> {
  await vault.checkChain();
  const expiries = await formerExpiries(payables, journal);
  const tried = await triedBefore(payables, account, journal);
  checkAges(payables, tried);
  await checkTimes(payables, expiries, vault);
  await checkFunds(vault, account, payables);
  return tried;
}

/**
 * @returns when former payments for the same chunks expired, in seconds since 1970.
 * @throws AntwayError `CHANGED` if one of them is still good, so that the chunk would be paid for twice.
 */
async function formerExpiries(payables: readonly Payable[], journal: PaymentJournal): Promise<number[]> {
  const expiries: number[] = [];
  for (const name of payables.flatMap(namesOf)) {
    const entry = await journal.record(name);
    if (isPaidFor(entry)) {
      const message =
        'Another tab or command has paid for some of the records. Ask for the price again. Nothing was paid.';
      throw paymentError('CHANGED', message, { name });
    }
    if (entry && 'batch' in entry && entry.expiresAt !== undefined) expiries.push(entry.expiresAt);
  }
  return expiries;
}

/**
 * Makes sure that the user agreed to the prices not long ago. A single price that a wallet may still pay stays good: it
 * must not be paid twice.
 * @throws AntwayError `CHANGED`.
 */
function checkAges(payables: readonly Payable[], tried: ReadonlySet<string>): void {
  const oldest = Math.floor(Date.now() / 1000) - maxBatchAgeSeconds;
  const isOld = ({ timestamp }: { timestamp: number }) => timestamp < oldest;
  const hasOld = payables.some((payable) => {
    if ('batch' in payable) return isOld(payable.batch);
    return payable.offers.some((offer) => !tried.has(nameOf(offer)) && offer.plan.quotes.some(isOld));
  });
  if (!hasOld) return;
  const message =
    'The prices are older than a day. Forget a payment that waits in the wallet, and ask for the price again.';
  throw paymentError('CHANGED', message);
}

/**
 * Makes sure that nodes will accept the payment for a batch, and no former one: the clock of this machine may be wrong.
 * @throws AntwayError `CLOCK`.
 */
async function checkTimes(
  payables: readonly Payable[],
  expiries: readonly number[],
  vault: Vault,
): Promise<void> {
  const times = payables.flatMap((payable) => ('batch' in payable ? [payable.batch.timestamp] : []));
  if (times.length === 0 && expiries.length === 0) return;
  const chainSeconds = await vault.timeOf();
  // Nodes refuse a payment until its time has come. The time of a batch has a margin for clocks that differ a little.
  // A test chain without transactions makes no blocks, so its time stands still.
  const isAhead = isNetworkChain(vault.chain) && Math.max(...times) > chainSeconds;
  const isBehind = chainSeconds - Math.min(...times) > maxBatchAgeSeconds;
  if (!isAhead && !isBehind && chainSeconds > Math.max(...expiries)) return;
  const message =
    'The clock of this device is not the one of the chain. Nothing was paid. Set the clock, and ask for the price again.';
  throw paymentError('CLOCK', message, { chainSeconds });
}

async function checkFunds(vault: Vault, account: string, payables: readonly Payable[]): Promise<void> {
  const amount = sumOf(payables);
  const [balance, ether, fees] = await Promise.all([
    vault.balance(account),
    vault.ether(account),
    vault.feesOf(gasOf(payables)),
  ]);
  if (balance < amount) {
    const message = `The account ${account} has ${formatAnt(balance)}, and the upload costs ${formatAnt(amount)}. Nothing was paid.`;
    throw paymentError('FUNDS', message, { account, amount: `${amount}` });
  }
  if (ether < fees) {
    const message = `The account ${account} has ${formatEther(ether)}, and the fees are about ${formatEther(fees)}. Nothing was paid.`;
    throw paymentError('FUNDS', message, { account, fees: `${fees}` });
  }
}

/**
 * @returns the names of the records that an old transaction may pay for.
 * @throws AntwayError `ACCOUNT` if it is one of another account, which has its own allowance; `CHANGED` if it pays another
 *   offer, which would not be found.
 */
async function triedBefore(
  payables: readonly Payable[],
  account: string,
  journal: PaymentJournal,
): Promise<Set<string>> {
  const open = await journal.pendingFor(payables.flatMap(namesOf));
  const other = open.find((pending) => pending.account !== account);
  if (other) {
    const message = `An earlier payment by the account ${other.account} may still wait in the wallet. Pay with that account, or forget the earlier payment.`;
    throw paymentError('ACCOUNT', message, { account: other.account });
  }
  for (const pending of open) {
    for (const payable of payables) await checkSame(pending, payable, journal);
  }
  return new Set(open.flatMap(({ addresses }) => addresses));
}

async function checkSame(
  { addresses, batch }: PendingTransaction,
  payable: Payable,
  journal: PaymentJournal,
): Promise<void> {
  const tried = new Set(addresses);
  const name = namesOf(payable).find((name) => tried.has(name));
  if (name === undefined) return;
  let isSame = true;
  if ('batch' in payable) isSame = payable.batch.root === batch;
  else
    for (const offer of payable.offers.filter((offer) => tried.has(nameOf(offer)))) {
      const entry = await journal.record(nameOf(offer));
      isSame &&= !entry || ('offer' in entry && entry.offer.quoteHash === offer.quoteHash);
    }
  if (isSame) return;
  const message = 'Another tab or command has tried to pay with other prices. Ask for the price again.';
  throw paymentError('CHANGED', message, { name });
}
