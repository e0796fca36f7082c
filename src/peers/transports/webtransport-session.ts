import { AntwayError } from '../../errors.ts';
import { limits } from '../../limits.ts';
import { raceAbort } from '../../util/watchdog.ts';
import type { WebTransportEndpoint } from './webtransport-endpoint.ts';

/** One session with a peer, which connects when it is first needed and again after it closed. */
export class WebTransportSession {
  readonly #endpoint: () => Promise<WebTransportEndpoint>;
  #connecting: Promise<WebTransport> | undefined;
  #connected: WebTransport | undefined;
  /** As `performance.now()`. */
  #startedAt = 0;
  /** The operations that the peer of the current session lists; undefined if it was not asked. */
  #operations: readonly number[] | undefined;
  readonly #refused = new Set<number>();

  /** @param endpoint called before each new connection, so that a rotated certificate is found. */
  constructor(endpoint: () => Promise<WebTransportEndpoint>) {
    this.#endpoint = endpoint;
  }

  get isConnected(): boolean {
    return this.#connected !== undefined;
  }

  get isConnecting(): boolean {
    return this.#connecting !== undefined && !this.#connected;
  }

  /** Whether a session is connected and its peer may know an operation. */
  supports(operation: number): boolean {
    return this.isConnected && this.mayKnow(operation);
  }

  /** Whether the peer of this session, or of the one before while this one is being connected, may know an operation. */
  mayKnow(operation: number): boolean {
    return this.#operations?.includes(operation) !== false && !this.#refused.has(operation);
  }

  refused(operation: number): void {
    this.#refused.add(operation);
  }

  /** Connects if necessary. @throws AntwayError `PEERS_UNREACHABLE`, `UNSUPPORTED`. */
  connect(): Promise<WebTransport> {
    if (!this.#connecting) {
      const connecting = this.#establish();
      this.#connecting = connecting;
      this.#startedAt = performance.now();
      const forget = () => {
        if (this.#connecting === connecting) this.#forget();
      };
      connecting.then((session) => {
        if (this.#connecting === connecting) this.#connected = session;
        session.closed.then(forget, forget);
      }, forget);
    }
    return this.#connecting;
  }

  /** Waits for the grace time at most. Then the caller uses HTTP, and connecting continues for later requests. */
  async connectInTime(): Promise<WebTransport> {
    const connecting = this.connect();
    if (this.#connected) return connecting;
    // The grace time starts when connecting starts: only the first request waits.
    const leftMs = Math.max(this.#startedAt + limits.connectGraceMs - performance.now(), 0);
    const grace = AbortSignal.timeout(leftMs);
    try {
      return await raceAbort(connecting, grace);
    } catch (error) {
      if (!grace.aborted) throw error;
      throw new AntwayError('PEERS_UNREACHABLE', 'The WebTransport session is not up yet.');
    }
  }

  close(): void {
    void this.#connecting?.then(
      (session) => session.close(),
      () => undefined,
    );
    this.#forget();
  }

  /** If a newer session has replaced the dead one, the newer one stays open. */
  drop(session: WebTransport | undefined): void {
    if (session && this.#connected === session) this.#forget();
    session?.close();
  }

  #forget(): void {
    this.#connecting = undefined;
    this.#connected = undefined;
  }

  async #establish(): Promise<WebTransport> {
    const { url, certificateHashes, operations } = await this.#endpoint();
    this.#operations = operations;
    this.#refused.clear();
    let session: WebTransport | undefined;
    try {
      session = new WebTransport(url, {
        congestionControl: 'throughput',
        serverCertificateHashes: certificateHashes.map((hex) => ({
          algorithm: 'sha-256',
          value: fromHex(hex),
        })),
      });
      session.closed.catch(() => undefined); // reported through `ready` and the streams
      await raceAbort(session.ready, AbortSignal.timeout(limits.connectTimeoutMs));
      return session;
    } catch (cause) {
      session?.close();
      throw new AntwayError('PEERS_UNREACHABLE', `No WebTransport session with ${url}.`, {}, { cause });
    }
  }
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  );
}
