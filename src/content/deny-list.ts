import type { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';

/** @param denied addresses in hex. @throws AntwayError `DENIED` if the address is one of them. */
export function refuseDenied({ hex }: Address, denied: ReadonlySet<string>): void {
  if (!denied.has(hex)) return;
  throw new AntwayError('DENIED', 'This address is on the deny list of this gateway.', { address: hex });
}
