import type { Address } from '../address.ts';
import type { TransportChoice } from '../config.ts';
import { type AntwayError, type Attempt, asAntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { PeerUrl } from '../peer-url.ts';
import type { Stats, TransportName } from '../stats/stats.ts';
import { Watchdog } from '../util/watchdog.ts';
import { CircuitBreaker, type Permit } from './selection/circuit-breaker.ts';
import { PeerHealth } from './selection/health.ts';
import { lostHedge } from './selection/hedge.ts';
import { HttpTransport } from './transports/http.ts';
import type { PeerInfo, PrefetchRange } from './transports/protocol.ts';
import { noTransport, type Transport } from './transports/transport.ts';
import { WebTransportTransport } from './transports/webtransport.ts';
import { webTransportEndpointOf } from './transports/webtransport-endpoint.ts';

export type PeerState = 'idle' | 'webtransport' | 'http' | 'unreachable' | 'banned';

export interface AskOptions<T> {
  signal: AbortSignal;
  /** Expected size of the chunk in bytes, if known. */
  expectedBytes: number | undefined;
  /** Converts received bytes to the caller's value, or throws `CORRUPT`. */
  verify(received: Uint8Array<ArrayBuffer>): T;
  onFirstByte(): void;
  /** Called for every transport that failed. */
  report(attempt: Attempt): void;
}

export interface PrefetchOptions {
  signal: AbortSignal;
  /** Called with each record as it arrives. @throws `CORRUPT` if the bytes do not match the address. */
  onRecord(address: Address, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

export interface PeerOptions {
  stats: Stats;
  /**
   * The transports to use. With `'webtransport'`, the HTTP transport may still be used to look up the WebTransport
   * endpoint.
   */
  transport: TransportChoice;
  /** The URL of the peer that named this peer; null for a configured peer. */
  namedBy: string | null;
  /** Called with the number of bytes of every arriving piece. */
  onBytes(length: number): void;
}

/** One peer: its transports, and its health as measured by its answers. */
export class Peer {
  readonly url: PeerUrl;
  /** The URL of the peer that named this peer; null for a configured peer. */
  readonly namedBy: string | null;
  readonly health = new PeerHealth();
  readonly #stats: Stats;
  readonly #transport: TransportChoice;
  readonly #http: HttpTransport | undefined;
  /** Used for pointers. Only HTTP serves pointers, so this is set even if chunks use WebTransport only. */
  readonly #pointers: HttpTransport | undefined;
  readonly #webTransport: WebTransportTransport | undefined;
  /**
   * Whether WebTransport is worth waiting for. While the circuit is open, HTTP serves and WebTransport is retried in
   * the background.
   */
  readonly #webTransportCircuit = new CircuitBreaker(limits.webTransportCircuit);
  #lastTransport: TransportName | undefined;
  #lastUsed = 0;

  constructor(url: PeerUrl, options: PeerOptions) {
    const { stats, transport, namedBy, onBytes } = options;
    this.url = url;
    this.namedBy = namedBy;
    this.#stats = stats;
    this.#transport = transport;
    // Only WebTransport lets a page accept a self-signed certificate.
    const http = url.certificateHashes.length === 0 ? new HttpTransport(url, onBytes) : undefined;
    if (transport !== 'webtransport') this.#http = http;
    if (url.kind !== 'antway') return;
    this.#pointers = http;
    if (transport !== 'http' && WebTransportTransport.isSupported) {
      this.#webTransport = new WebTransportTransport(() => webTransportEndpointOf(url), onBytes);
    }
  }

  /**
   * Asks the transports one after the other, best first.
   * @throws AntwayError the last failure. Each failure was passed to `report` before. The signal's reason when aborted.
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
          peer: this.id,
          transport: transport.name,
          stage,
          code,
          message,
          milliseconds: Math.round(elapsed()),
          ...(details.answered ? { answered: true } : {}),
        });
        this.#stats.peerFailed(this.id, transport.name, code);
        if (!this.#isWorthAnotherTransport(transport, last, request)) throw last;
      }
    }
    this.health.unreachable(request);
    throw last ?? noTransport(this.url, this.#transport);
  }

  /** Identifies the peer in rankings, counters and errors. */
  get id(): string {
    return this.url.id;
  }

  get givesPointers(): boolean {
    return this.#pointers !== undefined;
  }

  /** Asks for a pointer record, within a time limit. @throws as `HttpTransport.pointer`, or the error of `verify`. */
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
      // NOT_FOUND is not counted as a failure: most addresses are no pointers. A wrong pointer does not ban the peer,
      // because peers cannot check signatures.
      if (!signal.aborted && code !== 'NOT_FOUND') this.#stats.peerFailed(this.id, 'http', code);
      throw error;
    } finally {
      watchdog.stop();
    }
  }

  /** Requests the peer's description. @throws AntwayError as the transports' `info`. */
  async info(): Promise<PeerInfo> {
    if (this.#http) return this.#http.info();
    if (!this.#webTransport) throw noTransport(this.url, this.#transport);
    return this.#webTransport.info();
  }

  /** Whether an OPEN request would be answered in one round trip. */
  get canPrefetch(): boolean {
    return this.#webTransport?.canPrefetch ?? false;
  }

  /**
   * Requests everything that a range of a file needs (OPEN). This is a hint: the answer may end early or be empty
   * without an error. Wrong bytes ban the peer.
   */
  async prefetch(
    address: Address,
    range: PrefetchRange,
    { signal, onRecord }: PrefetchOptions,
  ): Promise<void> {
    this.#lastUsed = Date.now();
    const startedAt = performance.now();
    /** When the wait for the next record began, as `performance.now()`. */
    let since = startedAt;
    const onFirstByte = () => {
      since = performance.now();
      this.health.began(since - startedAt);
      this.#stats.prefetchBegan(this.id, since - startedAt);
    };
    try {
      await this.#webTransport?.prefetch(address, range, signal, onFirstByte, async (of, bytes) => {
        const receivedMs = performance.now() - since;
        await onRecord(of, bytes);
        this.health.received(receivedMs, bytes.length);
        this.#lastTransport = 'webtransport';
        this.#stats.prefetched(this.id, bytes.length);
        since = performance.now();
      });
      this.#stats.prefetchEnded(this.id, performance.now() - startedAt);
    } catch (error) {
      if (signal.aborted) return;
      const { code } = asAntwayError(error);
      if (code === 'CORRUPT') this.#ban();
      this.#stats.peerFailed(this.id, 'webtransport', code);
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

  /** Milliseconds since 1970; 0 if the peer was never asked. */
  get lastUsed(): number {
    return this.#lastUsed;
  }

  /** Connects the session before the first request, unless connecting failed recently. */
  warm(): void {
    if (this.#webTransport && this.#webTransportCircuit.state !== 'open') void this.#connect();
  }

  /** Call this when the network is back: failures without a network say nothing about this peer. A ban stays. */
  wake(): void {
    this.health.wake();
    this.#webTransportCircuit.reset();
  }

  close(): void {
    this.#webTransport?.close();
  }

  /** Returns the transports to try now, best first. Without HTTP, WebTransport is used even if it failed recently. */
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
      this.#webTransportCircuit.failed(attempt); // reported when a request fails
    }
  }

  #ban(request?: Permit): void {
    this.health.ban(request);
    this.#stats.peerBanned(this.id);
  }

  #succeeded(transport: Transport, firstByteMs: number, totalMs: number, bytes: number): void {
    this.#lastTransport = transport.name;
    if (transport === this.#webTransport) this.#webTransportCircuit.succeeded();
    this.health.succeeded(firstByteMs, totalMs, bytes);
    this.#stats.fromPeer(this.id, transport.name, bytes, { firstByteMs, totalMs });
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
    // The peer is reachable but cannot serve now. The other transport would give the same answer.
    if (details.answered) {
      this.health.failed(request);
      return false;
    }
    if (transport === this.#webTransport) this.#webTransportCircuit.failed();
    return true;
  }
}
