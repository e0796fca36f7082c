import { expect } from 'vitest';
import { paymentProblemOf } from '../../src/payment/errors.ts';

/** @returns why the work failed. The test fails if the work does not. */
export async function problemOf(work: Promise<unknown>): Promise<string | undefined> {
  const error = await work.then(
    () => expect.fail('nothing failed'),
    (caught) => caught,
  );
  return paymentProblemOf(error);
}
