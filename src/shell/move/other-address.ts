import { delay } from '../../util/delay.ts';
import { antwayLocalhost } from '../origins/antway-localhost.ts';
import { isThisGateway } from '../origins/is-this-gateway.ts';

/** Nothing waits for the probe, and a busy machine may miss one. */
const probes = 3;
const pauseMs = 1_000;

/** @returns `antwayLocalhost`. Null also if that name does not lead to the same build. */
export async function findOtherAddress(signal: AbortSignal): Promise<string | null> {
  const origin = antwayLocalhost(location);
  if (origin === null) return null;
  for (let probe = 1; !(await isThisGateway(origin, signal)); probe++) {
    if (probe === probes) return null;
    await delay(pauseMs, signal);
  }
  return origin;
}
