import { parseServerConfig } from '../config.ts';
import { isAbort } from '../errors.ts';
import { ByteReader } from '../peers/transports/byte-reader.ts';
import type { ServerConfig } from '../server-config.ts';
import { reportLate, silentMs } from './silent-peers.ts';

const timeoutMs = 10_000;
const maxBytes = 1024 * 1024;

/**
 * The configuration of the gateway at an origin, which any host may have written. Reports a late host.
 * @returns null if the host answers without a valid configuration; undefined if it does not answer in time.
 * @throws the signal's reason when aborted.
 */
export async function gatewayConfig(
  origin: string,
  isSilent: boolean,
  signal: AbortSignal,
): Promise<ServerConfig | null | undefined> {
  let response: Response;
  const either = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const late = setTimeout(() => isSilent || reportLate(origin), silentMs);
  try {
    response = await fetch(new URL('/antway.json', origin), { signal: either, redirect: 'error' });
  } catch (error) {
    if (signal.aborted && isAbort(error, signal)) throw error;
    return undefined;
  } finally {
    clearTimeout(late);
  }
  try {
    const reader = new ByteReader(response.body ?? new Response('').body!, () => undefined);
    const bytes = response.ok ? await reader.readToEnd(maxBytes) : undefined;
    if (!bytes) await reader.cancel();
    if (!bytes) return null;
    return parseServerConfig(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    signal.throwIfAborted();
    return null; // a server without this file may answer anything
  }
}
