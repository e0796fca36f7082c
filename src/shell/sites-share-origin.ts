import { gateway } from './gateway-api.ts';

/** Any address: the worker answers for each in the same way. */
const anyAddress = '0'.repeat(64);

/**
 * Whether sites run on this origin. The scripts of a site that the user trusts could then use the device key, try
 * passphrases, and change the journal of payments.
 */
export async function sitesShareOrigin(): Promise<boolean> {
  return (await gateway.siteGrant(anyAddress)).opensAt === null;
}
