import { Address } from '../../address.ts';
import { siteOrigin } from '../../gateway/origins/site-host.ts';
import { fetchFromHost } from '../../gateway/state/fetch-from-host.ts';
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
 * Security: only live answers of the host count. Scripts of a site on this origin could write to the database in which the
 * worker stores the host's configuration, and remembers that names of sites worked.
 */
export type SiteIsolation = 'own' | 'shared' | 'unknown';

const answerMs = 5_000;

export async function siteIsolation(signal: AbortSignal): Promise<SiteIsolation> {
  const { isolation } = await gateway.config(signal);
  // Random: a script could write into the database that the site of a known address has moved to its own origin.
  const anySite = Address.fromBytes(crypto.getRandomValues(new Uint8Array(32)));
  const origin = siteOrigin(anySite, location.origin);
  if (isolation === 'path' || !origin) return 'shared';
  // The worker shows no content on this origin then, and need not know whether the names of sites work.
  if (isolation === 'subdomain') return (await hostIsolation(signal)) === 'subdomain' ? 'own' : 'unknown';
  if ((await gateway.siteGrant(anySite.hex)).opensAt !== null) return 'own';
  if (!(await isHostAnswering(signal))) return 'unknown';
  // The worker remembers a failed probe for some seconds, also if the host is back.
  return (await isThisGateway(origin, signal)) ? 'unknown' : 'shared';
}

/** The `isolation` of the configuration that the host has now. Undefined if it does not answer, or does not tell. */
async function hostIsolation(signal: AbortSignal): Promise<unknown> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
    // The worker passes this request on.
    const response = await fetchFromHost('/antway.json', { cache: 'no-store', signal: limit });
    return response?.ok ? (await response.json())?.isolation : undefined;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
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
