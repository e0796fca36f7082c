import type { Limits } from '../../src/payment/pay.ts';

/** A limit for the price, in atto, and one for the fees that no test chain reaches. */
export const upTo = (amount: bigint): Limits => ({ amount, fees: 10n ** 18n });
