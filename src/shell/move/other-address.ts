import { delay } from '../../util/delay.ts';
import { gateway } from '../gateway-api.ts';

/** Nothing waits for the probe. A busy machine may take seconds to answer it, and may miss one. */
const probeMs = 5_000;
const probes = 3;
const pauseMs = 1_000;
const formerHosts = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Finds `http://antway.localhost` with the same port, where each site of this gateway has its own origin.
 * @returns null if this page is not on a loopback address, or if that name does not lead to the same build.
 */
export async function findOtherAddress(signal: AbortSignal): Promise<string | null> {
  const { protocol, hostname, port } = location;
  if (protocol !== 'http:' || !formerHosts.has(hostname)) return null;
  const origin = `http://antway.localhost${port && `:${port}`}`;
  for (let probe = 1; !(await isThisGateway(origin, signal)); probe++) {
    if (probe === probes) return null;
    await delay(pauseMs, signal);
  }
  return origin;
}

/** Uses the same probe as `SiteNames` in the worker: only a host of this build has this file. */
async function isThisGateway(origin: string, signal: AbortSignal): Promise<boolean> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(probeMs)]);
    const { build } = await gateway.health(limit);
    if (!build) return false;
    const response = await fetch(`${origin}/-/probe-${build}.json`, {
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal: limit,
    });
    return response.ok && (await response.json()).antway === build;
  } catch {
    signal.throwIfAborted();
    return false; // no such name, no answer, or an answer of another host
  }
}
