import { AntwayError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { PeerUrl } from '../../peer-url.ts';
import type { TransportChoice } from '../../server-config.ts';
import type {
  AttemptObserver,
  AttemptOutcome,
  PeerAttempt,
  TransportName,
} from '../../stats/peer-attempt.ts';
import { CircuitBreaker } from '../selection/circuit-breaker.ts';
import { HttpTransport } from './http.ts';
import type { PeerInfo } from './protocol.ts';
import { isAnswer, type Transport } from './transport.ts';
import { WebTransportTransport } from './webtransport.ts';
import { webTransportEndpointOf } from './webtransport-endpoint.ts';

export class PeerTransports implements AttemptObserver {
  /** Undefined if the browser, the kind of peer or the choice does not allow it. */
  readonly http: HttpTransport | undefined;
  readonly webTransport: WebTransportTransport | undefined;
  /** Only HTTP serves pointers, so this is set even if chunks use WebTransport only. Undefined for AntTP and antd. */
  readonly pointers: HttpTransport | undefined;
  readonly #url: PeerUrl;
  readonly #choice: TransportChoice;
  /** While the circuit is open, HTTP serves and WebTransport is retried in the background. */
  readonly circuit = new CircuitBreaker(limits.webTransportCircuit);
  /** The transport of the last chunk. */
  last: TransportName | undefined;

  /**
   * @param choice with `'webtransport'`, HTTP may still be used to look up the WebTransport endpoint.
   * @param onBytes called with the number of bytes of every arriving piece.
   */
  constructor(url: PeerUrl, choice: TransportChoice, onBytes?: (length: number) => void) {
    this.#url = url;
    this.#choice = choice;
    // Only WebTransport lets a page accept a self-signed certificate.
    const http = url.certificateHashes.length === 0 ? new HttpTransport(url, onBytes) : undefined;
    if (choice !== 'webtransport') this.http = http;
    if (url.kind !== 'antway') return;
    this.pointers = http;
    if (choice !== 'http' && WebTransportTransport.isSupported) {
      this.webTransport = new WebTransportTransport(() => webTransportEndpointOf(url), onBytes);
    }
  }

  get hasSession(): boolean {
    return this.webTransport?.isConnected ?? false;
  }

  /** Whether an OPEN request would be answered in one round trip. */
  get canPrefetch(): boolean {
    return this.webTransport?.canPrefetch ?? false;
  }

  /**
   * The session that is being connected, if a request waits for it and OPEN may work then. Rejects if it fails, or takes too
   * long.
   */
  get connecting(): Promise<unknown> | undefined {
    // While WebTransport is tried again after a failure, requests go by HTTP.
    return this.http && this.circuit.state !== 'closed' ? undefined : this.webTransport?.connecting;
  }

  /** Best first. Without HTTP, WebTransport is used even if it failed recently. */
  inOrder(): Transport[] {
    if (!this.webTransport) return this.http ? [this.http] : [];
    if (!this.http) return [this.webTransport];
    if (this.webTransport.isConnected || this.circuit.state === 'closed') {
      return [this.webTransport, this.http];
    }
    this.connect();
    return [this.http];
  }

  /** Connects the session in the background, unless connecting failed recently. */
  connect(): void {
    if (!this.webTransport || this.circuit.state === 'open') return;
    const permit = this.circuit.started();
    this.webTransport.connect().then(
      () => this.circuit.succeeded(),
      () => this.circuit.failed(permit), // reported when a request fails
    );
  }

  /** @throws AntwayError as the transports' `info`. */
  async info(): Promise<PeerInfo> {
    const transport = this.http ?? this.webTransport;
    if (!transport) throw this.missing();
    return transport.info();
  }

  /** As `info`, but opens no session for it. @throws also if that is impossible, and for AntTP and antd. */
  async infoWithoutSession(signal: AbortSignal): Promise<PeerInfo> {
    const transport = this.pointers ?? (this.hasSession ? this.webTransport : undefined);
    if (!transport) throw this.missing();
    return transport.info(signal);
  }

  /**
   * Any answer of the peer, which shows that it runs. Connects a session only if there is no other way.
   * @returns null for AntTP and antd, which do not describe themselves. Undefined if it cannot be found out.
   * @throws AntwayError as the transports' `info`.
   */
  async signOfLife(signal: AbortSignal): Promise<PeerInfo | null | undefined> {
    const { pointers, webTransport, http } = this;
    if (pointers) return pointers.info(signal);
    if (webTransport) {
      if (!webTransport.isConnected) await webTransport.connect();
      return webTransport.info(signal);
    }
    if (!http) throw this.missing();
    return (await http.ping(signal)) && null;
  }

  /** The error if this browser supports none of the transports. */
  missing(): AntwayError {
    const limit = { auto: '', webtransport: ' by WebTransport alone', http: ' by HTTP alone' }[this.#choice];
    return new AntwayError('PEERS_UNREACHABLE', `This browser has no way to reach ${this.#url.id}${limit}.`);
  }

  chunkReceived({ request: { transport } }: PeerAttempt): void {
    this.last = transport;
    if (transport === 'webtransport') this.circuit.succeeded();
  }

  attemptEnded({ request: { transport } }: PeerAttempt, outcome: AttemptOutcome): void {
    if (transport === 'webtransport' && outcome instanceof AntwayError && !isAnswer(outcome)) {
      this.circuit.failed();
    }
  }

  close(): void {
    this.webTransport?.close();
  }
}
