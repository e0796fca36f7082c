import { gateway } from '../gateway-api.ts';

/** Nothing waits for the probe. A busy machine may take seconds to answer it. */
const probeMs = 10_000;
const formerHosts = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Finds `http://antway.localhost` with the same port, where each site of this gateway has its own origin.
 * @returns null if this page is not on a loopback address, or if that name does not lead to the same build.
 */
export async function findOtherAddress(signal: AbortSignal): Promise<string | null> {
  const { protocol, hostname, port } = location;
  if (protocol !== 'http:' || !formerHosts.has(hostname)) return null;
  const { build } = await gateway.health(signal);
  const origin = `http://antway.localhost${port && `:${port}`}`;
  return build && (await isAnswered(origin, build, signal)) ? origin : null;
}

/** Uses the same probe as `SiteNames` in the worker: only a host of this build has this file. */
async function isAnswered(origin: string, build: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/-/probe-${build}.json`, {
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(probeMs)]),
    });
    return response.ok && (await response.json()).antway === build;
  } catch {
    return false; // no such name, or an answer of another host
  }
}
