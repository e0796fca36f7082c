import { Address } from '../address.ts';
import { asAntwayError } from '../errors.ts';
import type { PeerUrl } from '../peer-url.ts';
import type { TransportChoice } from '../server-config.ts';
import type { TransportName } from '../stats/peer-attempt.ts';
import type { HttpTransport } from './transports/http.ts';
import { PeerTransports } from './transports/peer-transports.ts';
import type { PeerInfo } from './transports/protocol.ts';

export interface Probe {
  /** Null for AntTP and antd. */
  info: PeerInfo | null;
  transport: TransportName;
  /** From a request on an open connection to its answer's first byte, in milliseconds. */
  firstByteMs: number;
  /** Null if WebTransport works or was not tried. */
  webTransportProblem: string | null;
}

/**
 * Probes a peer as the gateway would use it: by WebTransport, or by HTTP if WebTransport does not work.
 * @throws AntwayError `UNSUPPORTED` if the server is no peer, `PEERS_UNREACHABLE`; the signal's reason.
 */
export async function probePeer(peer: PeerUrl, choice: TransportChoice, signal: AbortSignal): Promise<Probe> {
  const transports = new PeerTransports(peer, choice);
  const { http, webTransport } = transports;
  if (!http && !webTransport) throw transports.missing();
  if (peer.kind !== 'antway') return probeChunks(http!, signal);
  // `info` is requested twice over HTTP, so that the second request measures an open connection.
  await http?.info(signal);
  let webTransportProblem: string | null = null;
  if (webTransport) {
    try {
      await webTransport.connect();
      const answer = await timed((onFirstByte) => webTransport.info(signal, onFirstByte));
      return { ...answer, transport: 'webtransport', webTransportProblem };
    } catch (error) {
      signal.throwIfAborted();
      if (!http) throw error;
      webTransportProblem = asAntwayError(error).message;
    } finally {
      transports.close();
    }
  }
  const answer = await timed((onFirstByte) => http!.info(signal, onFirstByte));
  return { ...answer, transport: 'http', webTransportProblem };
}

/** AntTP and antd have no `/-/info`: NOT_FOUND is their only sign of life. Other servers that answer 404 pass too. */
async function probeChunks(http: HttpTransport, signal: AbortSignal): Promise<Probe> {
  const startedAt = performance.now();
  await http.fetch(Address.fromBytes(new Uint8Array(32)), signal).catch((error) => {
    if (asAntwayError(error).code !== 'NOT_FOUND') throw error;
  });
  const firstByteMs = roundedSince(startedAt);
  return { info: null, transport: 'http', firstByteMs, webTransportProblem: null };
}

async function timed(
  ask: (onFirstByte: () => void) => Promise<PeerInfo>,
): Promise<{ info: PeerInfo; firstByteMs: number }> {
  const startedAt = performance.now();
  let firstByteMs = 0;
  const info = await ask(() => {
    firstByteMs = roundedSince(startedAt);
  });
  return { info, firstByteMs };
}

/** Milliseconds since `startedAt`, rounded to a tenth. */
function roundedSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 10) / 10;
}
