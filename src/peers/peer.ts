import type { PeerConfig } from '../config.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Transport } from '../stats/stats.ts';
import type { Face } from './face.ts';
import { HttpFace } from './http.ts';
import { webTransportPath } from './protocol.ts';
import { type WebTransportEndpoint, WebTransportFace } from './webtransport.ts';

export type PeerState = 'idle' | 'webtransport' | 'http' | 'unreachable' | 'banned';

/** One configured peer: its faces, and what is remembered of its recent behaviour. */
export class Peer {
  readonly url: string;
  readonly #webTransport: WebTransportFace | undefined;
  readonly #http: HttpFace | undefined;
  #bannedUntil = 0;
  #unreachableUntil = 0;
  #webTransportOffUntil = 0;
  #lastTransport: Transport | undefined;

  constructor({ url, certificateHashes }: PeerConfig) {
    this.url = url;
    if (certificateHashes.length > 0) {
      // Only WebTransport lets a page accept a self-signed certificate.
      const endpoint = { url: url + webTransportPath, certificateHashes };
      this.#webTransport = WebTransportFace.isSupported
        ? new WebTransportFace(async () => endpoint)
        : undefined;
    } else {
      this.#http = new HttpFace(url);
      this.#webTransport = WebTransportFace.isSupported
        ? new WebTransportFace(() => discover(this.#http!))
        : undefined;
    }
  }

  /** The faces to try now, best first. Empty when this platform cannot reach the peer at all. */
  faces(): Face[] {
    const isWorthATry = this.#webTransport?.isConnected || Date.now() >= this.#webTransportOffUntil;
    const webTransport = isWorthATry ? this.#webTransport : undefined;
    const faces = [webTransport, this.#http].filter((face) => face !== undefined);
    // With nothing to fall back on, a WebTransport that failed lately is still the only way.
    return faces.length > 0 ? faces : [this.#webTransport].filter((face) => face !== undefined);
  }

  get isBanned(): boolean {
    return Date.now() < this.#bannedUntil;
  }

  /** Whether it could not be reached a moment ago: ask the others first. */
  get isUnreachable(): boolean {
    return Date.now() < this.#unreachableUntil;
  }

  get state(): PeerState {
    if (this.isBanned) return 'banned';
    if (this.isUnreachable) return 'unreachable';
    return this.#lastTransport ?? 'idle';
  }

  succeeded(transport: Transport): void {
    this.#lastTransport = transport;
    this.#unreachableUntil = 0;
  }

  /** It sent bytes that do not match their address: leave it out for a while. */
  ban(): void {
    this.#bannedUntil = Date.now() + limits.wrongChunkBanMs;
  }

  /** One face failed; the next one is tried. */
  faceFailed(face: Face): void {
    if (face === this.#webTransport) this.#webTransportOffUntil = Date.now() + limits.transportRetryMs;
  }

  /** Every face failed. */
  unreachable(): void {
    this.#unreachableUntil = Date.now() + limits.unreachableBackOffMs;
    this.#webTransportOffUntil = 0;
  }

  close(): void {
    this.#webTransport?.close();
  }
}

/** Asks a peer's HTTP face where its WebTransport listens, and which certificates it shows now and next. */
async function discover(http: HttpFace): Promise<WebTransportEndpoint> {
  const { webTransport } = await http.info();
  if (!webTransport) throw new AntwayError('UNSUPPORTED', `${http.url} has no WebTransport.`);
  const { protocol, hostname } = new URL(http.url);
  if (protocol === 'http:' && webTransport.certificateHashes.length === 0) {
    throw new AntwayError('UNSUPPORTED', `${http.url} does not tell its WebTransport certificate.`);
  }
  // Loopback names may resolve to ::1 first, where a peer bound to 127.0.0.1 does not listen; QUIC gets no
  // refusal from there, so it would only time out.
  const host = /(^|\.)localhost$/.test(hostname) ? '127.0.0.1' : hostname;
  return {
    url: `https://${host}:${webTransport.port}${webTransport.path}`,
    certificateHashes: webTransport.certificateHashes,
  };
}
