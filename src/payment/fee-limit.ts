import { formatEther } from './amounts.ts';
import { paymentError } from './errors.ts';

/** Fees may rise between the question and the payment. A transaction that a key signs allows twice the present fee. */
const shownFactor = 5n;
/** In wei. Of payments whose fees no user has seen. */
const mostUnseenFees = 10n ** 16n;

/**
 * The most that the chain may charge for a payment, in wei.
 * @param shown the estimate before the payment. The same endpoint makes it, so it limits nothing unless the user sees it.
 * @param isSeen whether the user has seen the estimate and agreed.
 * @param named the limit that the user has named.
 */
export function feeLimit(shown: bigint, isSeen: boolean, named?: bigint): bigint {
  if (named !== undefined) return named;
  const limit = shownFactor * shown;
  return isSeen || limit < mostUnseenFees ? limit : mostUnseenFees;
}

/** @param fees of the next transaction, or of all. @param limit for them. @throws AntwayError `FEES`. */
export function checkFees(fees: bigint, limit: bigint): void {
  if (fees <= limit) return;
  const message = `The fees of the chain may be ${formatEther(fees)}, and the limit for them is ${formatEther(limit)}. This transaction was not sent. Ask for the price again, or name a higher limit.`;
  throw paymentError('FEES', message, { fees: `${fees}`, limit: `${limit}` });
}
