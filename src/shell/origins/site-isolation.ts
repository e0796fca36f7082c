import { Address } from '../../address.ts';
import { siteOrigin } from '../../gateway/origins/site-host.ts';
import { gateway } from '../gateway-api.ts';
import { isThisGateway } from './is-this-gateway.ts';

/**
 * Where sites run:
 *
 * - `own`: each site has an origin of its own.
 * - `shared`: sites run on this origin. The scripts of a site that the user trusts could then use the device key, try
 *   passphrases, and change the journal of payments.
 * - `unknown`: the host does not answer for this version. Keys are used as little as with `shared`.
 *
 * Security: only the worker's answer counts. Scripts of a site on this origin could write to the database in which the
 * worker remembers that names of sites worked.
 */
export type SiteIsolation = 'own' | 'shared' | 'unknown';

const answerMs = 5_000;

export async function siteIsolation(signal: AbortSignal): Promise<SiteIsolation> {
  const { isolation } = await gateway.config(signal);
  // Random: a script could write into the database that the site of a known address has moved to its own origin.
  const anySite = Address.fromBytes(crypto.getRandomValues(new Uint8Array(32)));
  const origin = siteOrigin(anySite, location.origin);
  if (isolation !== 'auto' || !origin) return 'shared';
  if ((await gateway.siteGrant(anySite.hex)).opensAt !== null) return 'own';
  if (!(await isHostAnswering(signal))) return 'unknown';
  // The worker remembers a failed probe for some seconds, also if the host is back.
  return (await isThisGateway(origin, signal)) ? 'unknown' : 'shared';
}

/** Whether the host answers, with the files of this version. */
async function isHostAnswering(signal: AbortSignal): Promise<boolean> {
  const registration = await navigator.serviceWorker.getRegistration();
  if (registration?.installing || registration?.waiting) return false;
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
    // The worker passes this request on. A host without such a file answers, too.
    const { status } = await fetch('/antway.json', { cache: 'no-store', credentials: 'omit', signal: limit });
    return status < 500;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
