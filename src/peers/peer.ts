import type { Address } from '../address.ts';
import { type PeerConfig, type PeerKind, splitPeerUrl, type TransportChoice } from '../config.ts';
import { AntwayError, type Attempt, asAntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Stats, TransportName } from '../stats/stats.ts';
import { Watchdog } from '../util/watchdog.ts';
import { CircuitBreaker, type Permit } from './selection/circuit-breaker.ts';
import { PeerHealth } from './selection/health.ts';
import { lostHedge } from './selection/hedge.ts';
import { HttpTransport } from './transports/http.ts';
import { type PeerInfo, type PrefetchRange, webTransportPath } from './transports/protocol.ts';
import type { Transport } from './transports/transport.ts';
import { type WebTransportEndpoint, WebTransportTransport } from './transports/webtransport.ts';

export type PeerState = 'idle' | 'webtransport' | 'http' | 'unreachable' | 'banned';

export interface AskOptions<T> {
  signal: AbortSignal;
  /** How large the chunk should be, where that is known. */
  expectedBytes: number | undefined;
  /** Turns received bytes into what the caller wants, or throws `CORRUPT`. */
  verify(received: Uint8Array<ArrayBuffer>): T;
  onFirstByte(): void;
  /** Told of every transport that failed. */
  report(attempt: Attempt): void;
}

export interface PrefetchOptions {
  signal: AbortSignal;
  /** Takes each record as it arrives. @throws `CORRUPT` for one that is not what its address says. */
  onRecord(address: Address, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

export interface PeerOptions {
  stats: Stats;
  /** The transports to use; WebTransport may be found by the HTTP transport even if that is not one of them. */
  transport: TransportChoice;
  /** The URL of the peer that it is known from; null for a configured one. */
  namedBy: string | null;
  /** Called whenever something arrives, with how much. */
  onBytes(length: number): void;
}

/** One peer: its transports, and what is known of it from using it. */
export class Peer {
  readonly url: string;
  readonly kind: PeerKind;
  /** The URL of the peer that it is known from; null for a configured one. */
  readonly namedBy: string | null;
  readonly health = new PeerHealth();
  readonly #stats: Stats;
  readonly #transport: TransportChoice;
  readonly #http: HttpTransport | undefined;
  /** Only HTTP has pointers, so they are asked for by it even where chunks are not. */
  readonly #pointers: HttpTransport | undefined;
  readonly #webTransport: WebTransportTransport | undefined;
  /** Whether WebTransport is worth waiting for. It heals in the background, while HTTP serves. */
  readonly #webTransportCircuit = new CircuitBreaker(limits.webTransportCircuit);
  #lastTransport: TransportName | undefined;
  #lastUsed = 0;

  constructor({ url, certificateHashes }: PeerConfig, options: PeerOptions) {
    const { stats, transport, namedBy, onBytes } = options;
    this.url = url;
    this.kind = splitPeerUrl(url).kind;
    this.namedBy = namedBy;
    this.#stats = stats;
    this.#transport = transport;
    // Only WebTransport lets a page accept a self-signed certificate.
    const http = certificateHashes.length === 0 ? new HttpTransport(url, onBytes) : undefined;
    if (transport !== 'webtransport') this.#http = http;
    if (this.kind !== 'antway') return;
    this.#pointers = http;
    if (transport !== 'http' && WebTransportTransport.isSupported) {
      const endpoint = () => webTransportEndpointOf({ url, certificateHashes });
      this.#webTransport = new WebTransportTransport(endpoint, onBytes);
    }
  }

  /**
   * Asks its transports one after the other, best first.
   * @throws AntwayError the last failure, each reported before; the signal's reason when aborted.
   */
  async ask<T>(address: Address, options: AskOptions<T>): Promise<T> {
    const { signal, expectedBytes, verify, onFirstByte, report } = options;
    const request = this.health.started();
    this.#lastUsed = Date.now();
    let last: AntwayError | undefined;
    for (const transport of this.#transports()) {
      const startedAt = performance.now();
      const elapsed = () => performance.now() - startedAt;
      let firstByteMs: number | undefined;
      let stage: Attempt['stage'] = 'receive';
      try {
        const began = () => {
          firstByteMs = elapsed();
          onFirstByte();
        };
        const received = await transport.fetch(address, signal, began, expectedBytes);
        const totalMs = elapsed();
        stage = 'verify';
        const value = verify(received);
        this.#succeeded(transport, firstByteMs ?? totalMs, totalMs, received.length);
        return value;
      } catch (error) {
        if (signal.aborted) {
          if (signal.reason === lostHedge)
            this.health.lostHedge(elapsed(), firstByteMs !== undefined, request);
          else this.health.abandoned(request);
          throw signal.reason;
        }
        last = asAntwayError(error);
        const { code, message, details } = last;
        report({
          peer: this.url,
          transport: transport.name,
          stage,
          code,
          message,
          milliseconds: Math.round(elapsed()),
          ...(details.answered ? { answered: true } : {}),
        });
        this.#stats.peerFailed(this.url, transport.name, code);
        if (!this.#isWorthAnotherTransport(transport, last, request)) throw last;
      }
    }
    this.health.unreachable(request);
    throw last ?? noTransport(this.url, this.#transport);
  }

  get givesPointers(): boolean {
    return this.#pointers !== undefined;
  }

  /** Asks for a pointer record, for a short while. @throws as `HttpTransport.pointer`, or what `verify` throws. */
  async pointer<T>(
    address: Address,
    signal: AbortSignal,
    verify: (received: Uint8Array<ArrayBuffer>) => T,
  ): Promise<T> {
    if (!this.#pointers) throw noTransport(this.url, this.#transport);
    const totalMs = limits.pointerMs.answer;
    const watchdog = new Watchdog({ stallMs: totalMs, totalMs, signal });
    try {
      return verify(await this.#pointers.pointer(address, limits.pointerBytes, watchdog.signal));
    } catch (error) {
      const { code } = asAntwayError(error);
      // Not that there is none: most addresses are no pointers. Nor is it a ban: peers cannot check signatures.
      if (!signal.aborted && code !== 'NOT_FOUND') this.#stats.peerFailed(this.url, 'http', code);
      throw error;
    } finally {
      watchdog.stop();
    }
  }

  /** What it says of itself. @throws AntwayError as the transports' `info`. */
  async info(): Promise<PeerInfo> {
    if (this.#http) return this.#http.info();
    if (!this.#webTransport) throw noTransport(this.url, this.#transport);
    return this.#webTransport.info();
  }

  /** Whether a request by OPEN would be answered in one round trip. */
  get canPrefetch(): boolean {
    return this.#webTransport?.canPrefetch ?? false;
  }

  /**
   * Asks for all that a range of a file needs. A hint: it ends early, or brings nothing, without an error, unless
   * what it brings is wrong.
   */
  async prefetch(
    address: Address,
    range: PrefetchRange,
    { signal, onRecord }: PrefetchOptions,
  ): Promise<void> {
    this.#lastUsed = Date.now();
    const startedAt = performance.now();
    /** When what is received now began to be waited for. */
    let since = startedAt;
    const onFirstByte = () => {
      since = performance.now();
      this.health.began(since - startedAt);
      this.#stats.prefetchBegan(this.url, since - startedAt);
    };
    try {
      await this.#webTransport?.prefetch(address, range, signal, onFirstByte, async (of, bytes) => {
        const receivedMs = performance.now() - since;
        await onRecord(of, bytes);
        this.health.received(receivedMs, bytes.length);
        this.#lastTransport = 'webtransport';
        this.#stats.prefetched(this.url, bytes.length);
        since = performance.now();
      });
      this.#stats.prefetchEnded(this.url, performance.now() - startedAt);
    } catch (error) {
      if (signal.aborted) return;
      const { code } = asAntwayError(error);
      if (code === 'CORRUPT') this.#ban();
      this.#stats.peerFailed(this.url, 'webtransport', code);
    }
  }

  get state(): PeerState {
    if (this.health.isBanned) return 'banned';
    if (this.health.circuit !== 'closed') return 'unreachable';
    return this.#lastTransport ?? 'idle';
  }

  get hasSession(): boolean {
    return this.#webTransport?.isConnected ?? false;
  }

  /** Milliseconds since 1970; 0 when it was never asked. */
  get lastUsed(): number {
    return this.#lastUsed;
  }

  /** Opens the session ahead of the first request, unless that failed lately. */
  warm(): void {
    if (this.#webTransport && this.#webTransportCircuit.state !== 'open') void this.#connect();
  }

  /** There is a network again: what failed without one says nothing of this peer. A ban stays. */
  wake(): void {
    this.health.wake();
    this.#webTransportCircuit.reset();
  }

  close(): void {
    this.#webTransport?.close();
  }

  /** The transports to try now, best first. With nothing to fall back on, a WebTransport that fails is still the way. */
  #transports(): Transport[] {
    if (!this.#webTransport) return this.#http ? [this.#http] : [];
    if (!this.#http) return [this.#webTransport];
    if (this.#webTransport.isConnected || this.#webTransportCircuit.state === 'closed') {
      return [this.#webTransport, this.#http];
    }
    if (this.#webTransportCircuit.state === 'half-open') void this.#connect();
    return [this.#http];
  }

  async #connect(): Promise<void> {
    const attempt = this.#webTransportCircuit.started();
    try {
      await this.#webTransport?.connect();
      this.#webTransportCircuit.succeeded();
    } catch {
      this.#webTransportCircuit.failed(attempt); // said again, to whom it matters, when a request fails
    }
  }

  #ban(request?: Permit): void {
    this.health.ban(request);
    this.#stats.peerBanned(this.url);
  }

  #succeeded(transport: Transport, firstByteMs: number, totalMs: number, bytes: number): void {
    this.#lastTransport = transport.name;
    if (transport === this.#webTransport) this.#webTransportCircuit.succeeded();
    this.health.succeeded(firstByteMs, totalMs, bytes);
    this.#stats.fromPeer(this.url, transport.name, bytes, { firstByteMs, totalMs });
  }

  #isWorthAnotherTransport(transport: Transport, { code, details }: AntwayError, request: Permit): boolean {
    if (code === 'CORRUPT') {
      this.#ban(request);
      return false;
    }
    if (code === 'NOT_FOUND') {
      this.health.answered();
      return false;
    }
    // It is there but cannot serve now: its other transport would say the same.
    if (details.answered) {
      this.health.failed(request);
      return false;
    }
    if (transport === this.#webTransport) this.#webTransportCircuit.failed();
    return true;
  }
}

/** The error for a peer that has none of the transports that this browser may use. */
export function noTransport(url: string, transport: TransportChoice): AntwayError {
  const limit = { auto: '', webtransport: ' by WebTransport alone', http: ' by HTTP alone' }[transport];
  return new AntwayError('PEERS_UNREACHABLE', `This browser has no way to reach ${url}${limit}.`);
}

/**
 * Where a peer's WebTransport listens, and which certificates it shows: as configured, or asked of its HTTP transport.
 * @throws AntwayError `UNSUPPORTED` for a peer that has none, or as `HttpTransport.info`.
 */
export async function webTransportEndpointOf({
  url,
  certificateHashes,
}: PeerConfig): Promise<WebTransportEndpoint> {
  if (certificateHashes.length > 0) return { url: url + webTransportPath, certificateHashes };
  return webTransportEndpointIn(await new HttpTransport(url).info(), url);
}

/** @throws AntwayError `UNSUPPORTED` when the peer at `url` says that it has no WebTransport. */
export function webTransportEndpointIn(
  { webTransport, operations }: PeerInfo,
  url: string,
): WebTransportEndpoint {
  if (!webTransport) throw new AntwayError('UNSUPPORTED', `${url} has no WebTransport.`);
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && webTransport.certificateHashes.length === 0) {
    throw new AntwayError('UNSUPPORTED', `${url} does not tell its WebTransport certificate.`);
  }
  // Loopback names may resolve to ::1 first, where a peer bound to 127.0.0.1 does not listen; QUIC gets no
  // refusal from there, so it would only time out.
  const host = /(^|\.)localhost$/.test(hostname) ? '127.0.0.1' : hostname;
  return {
    url: `https://${host}:${webTransport.port}${webTransport.path}`,
    certificateHashes: webTransport.certificateHashes,
    operations,
  };
}
