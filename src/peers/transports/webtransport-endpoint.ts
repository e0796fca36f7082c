import { AntwayError } from '../../errors.ts';
import type { PeerUrl } from '../../peer-url.ts';
import { HttpTransport } from './http.ts';
import { webTransportPath } from './protocol.ts';

export interface WebTransportEndpoint {
  /** `https://host:port/path`. */
  url: string;
  /** SHA-256 of acceptable certificates, hex; empty for a CA-signed certificate. */
  certificateHashes: readonly string[];
  /** Undefined if the peer was not asked. */
  operations?: readonly number[];
}

/**
 * The endpoint is in the configuration or in the peer's `/-/info`.
 * @throws AntwayError `UNSUPPORTED` if the peer has no usable WebTransport, or as `HttpTransport.info`.
 */
export async function webTransportEndpointOf(peer: PeerUrl): Promise<WebTransportEndpoint> {
  const { origin, certificateHashes } = peer;
  if (certificateHashes.length > 0) return { url: origin + webTransportPath, certificateHashes };
  const { webTransport, operations } = await new HttpTransport(peer).info();
  if (!webTransport) throw new AntwayError('UNSUPPORTED', `${origin} has no WebTransport.`);
  const { protocol, hostname } = new URL(origin);
  if (protocol === 'http:' && webTransport.certificateHashes.length === 0) {
    throw new AntwayError('UNSUPPORTED', `${origin} does not tell its WebTransport certificate.`);
  }
  // Loopback names may resolve to ::1 first, where a peer bound to 127.0.0.1 does not listen. QUIC gets no refusal from
  // there and would only time out.
  const ownHost = /(^|\.)localhost$/.test(hostname) ? '127.0.0.1' : hostname;
  const host = webTransport.host ?? ownHost;
  return {
    url: `https://${host}:${webTransport.port}${webTransport.path}`,
    certificateHashes: webTransport.certificateHashes,
    operations,
  };
}
