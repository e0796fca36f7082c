/** Why a pin does not continue, and whether another try can help. */

import type { Address } from '../address.ts';
import type { StoreSummary, WriteOutcome } from '../chunks/store.ts';
import { AntwayError } from '../errors.ts';

const hopeless = new Set(['TOO_LARGE', 'DENIED', 'UNSUPPORTED']);

/**
 * Whether waiting alone will not help. A full disk is not hopeless: other programs may free space. An address that the
 * asked peers have blocked is not hopeless either: other peers may serve it.
 */
export function isHopeless({ code, details }: AntwayError): boolean {
  if (code === 'DENIED' && details.attempts) return false;
  return hopeless.has(code) && details.outcome !== ('quota' satisfies WriteOutcome);
}

/** Whether the other chunks of the pin could not be stored either. */
export function isForAll(error: AntwayError): boolean {
  return isHopeless(error) || error.details.outcome !== undefined;
}

/** The error for a chunk that was fetched but not stored. Its `details` have the outcome. */
export function unstored(
  { hex }: Address,
  outcome: Exclude<WriteOutcome, 'stored'>,
  { bytes, maxBytes }: StoreSummary,
): AntwayError {
  const details = { address: hex, outcome };
  switch (outcome) {
    case 'ceiling':
      return new AntwayError(
        'TOO_LARGE',
        `There is no room for the rest: ${bytes} of at most ${maxBytes} bytes are stored. Delete another site, or raise the limit.`,
        details,
      );
    case 'quota':
      return new AntwayError(
        'TOO_LARGE',
        `There is no room for the rest: ${bytes} bytes are stored, and the browser allows no more now. Delete another site, or free space on this device. The gateway tries again by itself.`,
        details,
      );
    case 'failed':
      return new AntwayError(
        'INTERNAL',
        'The rest could not be stored: the browser’s storage failed. The gateway tries again by itself.',
        details,
      );
  }
}

export function notPinned({ hex }: Address): AntwayError {
  return new AntwayError('NOT_FOUND', 'This address is not pinned.', { address: hex });
}
