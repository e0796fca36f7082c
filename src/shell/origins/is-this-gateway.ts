import { gateway } from '../gateway-api.ts';

/** A busy machine may take seconds to answer. */
const probeMs = 5_000;

/** Whether a host of exactly this build answers at an origin. Uses the same probe as `WildcardHosts` in the worker. */
export async function isThisGateway(origin: string, signal: AbortSignal): Promise<boolean> {
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
