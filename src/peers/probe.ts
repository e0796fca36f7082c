import type { PeerConfig, TransportChoice } from '../config.ts';
import { asAntwayError } from '../errors.ts';
import type { Transport } from '../stats/stats.ts';
import { HttpFace } from './http.ts';
import { noWay, webTransportIn, webTransportOf } from './peer.ts';
import type { PeerInfo } from './protocol.ts';
import { WebTransportFace } from './webtransport.ts';

/** What a peer said when it was tried. */
export interface Probe {
  info: PeerInfo;
  /** The face that it would be asked by. */
  transport: Transport;
  /** From a request on an open connection to its answer's first byte, in milliseconds. */
  firstByteMs: number;
  /** Why WebTransport does not work, where it was to be tried; null when it does. */
  webTransportProblem: string | null;
}

/**
 * Tries a peer as it would be used: WebTransport, and HTTP where that does not work.
 * @throws AntwayError `UNSUPPORTED` for what is no peer of this protocol, `PEERS_UNREACHABLE`; the signal's reason.
 */
export async function probePeer(
  peer: PeerConfig,
  transport: TransportChoice,
  signal: AbortSignal,
): Promise<Probe> {
  const http =
    peer.certificateHashes.length === 0 && transport !== 'webtransport' ? new HttpFace(peer.url) : undefined;
  const mayWebTransport = transport !== 'http' && WebTransportFace.isSupported;
  if (!http && !mayWebTransport) throw noWay(peer.url, transport);
  // Asked twice, so that the second finds the connection open.
  const info = await http?.info(signal);
  let webTransportProblem: string | null = null;
  if (mayWebTransport) {
    try {
      return { ...(await probeWebTransport(peer, info, signal)), webTransportProblem };
    } catch (error) {
      signal.throwIfAborted();
      if (!http) throw error;
      webTransportProblem = asAntwayError(error).message;
    }
  }
  const answer = await timed((onFirstByte) => http!.info(signal, onFirstByte));
  return { ...answer, transport: 'http', webTransportProblem };
}

async function probeWebTransport(
  peer: PeerConfig,
  known: PeerInfo | undefined,
  signal: AbortSignal,
): Promise<Omit<Probe, 'webTransportProblem'>> {
  const face = new WebTransportFace(async () =>
    known ? webTransportIn(known, peer.url) : webTransportOf(peer),
  );
  try {
    await face.connect();
    const answer = await timed((onFirstByte) => face.info(signal, onFirstByte));
    return { ...answer, transport: 'webtransport' };
  } finally {
    face.close();
  }
}

async function timed(
  ask: (onFirstByte: () => void) => Promise<PeerInfo>,
): Promise<{ info: PeerInfo; firstByteMs: number }> {
  const startedAt = performance.now();
  let firstByteMs = 0;
  const info = await ask(() => {
    firstByteMs = performance.now() - startedAt;
  });
  return { info, firstByteMs: Math.round(firstByteMs * 10) / 10 };
}
