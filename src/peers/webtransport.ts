import type { Address } from '../address.ts';
import { AntwayError } from '../errors.ts';
import { limits } from '../limits.ts';
import { ByteReader } from './byte-reader.ts';
import type { Face } from './face.ts';
import { checkAnswer, encodeAddressRequest, operations } from './protocol.ts';
import { raceAbort, Watchdog } from './watchdog.ts';

/** Where a peer's WebTransport face listens. */
export interface WebTransportEndpoint {
  /** `https://host:port/path`. */
  url: string;
  /** SHA-256 of the certificates it may show, hex; empty for a CA-signed one. */
  certificateHashes: readonly string[];
}

/** A peer's WebTransport face: one session, opened when first needed and again after it closed. */
export class WebTransportFace implements Face {
  readonly transport = 'webtransport';
  readonly #endpoint: () => Promise<WebTransportEndpoint>;
  #session: Promise<WebTransport> | undefined;
  #connected = false;

  /** @param endpoint asked before each new session, so that a rotated certificate is learnt. */
  constructor(endpoint: () => Promise<WebTransportEndpoint>) {
    this.#endpoint = endpoint;
  }

  static get isSupported(): boolean {
    return typeof WebTransport === 'function';
  }

  get isConnected(): boolean {
    return this.#connected;
  }

  async fetch(address: Address, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const watchdog = new Watchdog(limits.stallMs, signal);
    let reader: ByteReader | undefined;
    let writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
    try {
      const session = await watchdog.race(this.#sessionInTime());
      const stream = await watchdog.race(session.createBidirectionalStream());
      writer = stream.writable.getWriter();
      reader = new ByteReader(stream.readable, () => watchdog.touch());
      const request = encodeAddressRequest(operations.get, [address]);
      // Not awaited apart: a peer that resets the stream makes the write fail, and the read says why.
      const written = writer.write(request).then(() => writer?.close());
      const answer = readAnswer(reader);
      return await watchdog.race(Promise.all([answer, written]).then(([bytes]) => bytes));
    } catch (error) {
      // A reset in both directions: the peer stops sending at once.
      void reader?.cancel();
      writer?.abort().catch(() => undefined);
      if (watchdog.signal.aborted) {
        if (!signal.aborted) this.close(); // a session on which nothing moves is not worth keeping
        throw watchdog.signal.reason;
      }
      if (error instanceof AntwayError) throw error;
      throw new AntwayError('PEERS_UNREACHABLE', 'The WebTransport stream broke.', {}, { cause: error });
    } finally {
      watchdog.stop();
    }
  }

  close(): void {
    void this.#session?.then(
      (session) => session.close(),
      () => undefined,
    );
    this.#session = undefined;
    this.#connected = false;
  }

  /**
   * The session, if it is up within the grace time. Connecting goes on in the background after that, so that
   * a later request finds it: meanwhile the caller is better served by HTTP.
   */
  async #sessionInTime(): Promise<WebTransport> {
    const grace = AbortSignal.timeout(limits.connectGraceMs);
    try {
      return await raceAbort(this.#open(), grace);
    } catch (error) {
      if (!grace.aborted) throw error;
      throw new AntwayError('PEERS_UNREACHABLE', 'The WebTransport session is not up yet.');
    }
  }

  #open(): Promise<WebTransport> {
    if (!this.#session) {
      const opening = this.#connect();
      this.#session = opening;
      const forget = () => {
        if (this.#session === opening) {
          this.#session = undefined;
          this.#connected = false;
        }
      };
      opening.then((session) => {
        this.#connected = true;
        session.closed.then(forget, forget);
      }, forget);
    }
    return this.#session;
  }

  async #connect(): Promise<WebTransport> {
    const { url, certificateHashes } = await this.#endpoint();
    let session: WebTransport | undefined;
    try {
      session = new WebTransport(url, {
        congestionControl: 'throughput',
        serverCertificateHashes: certificateHashes.map((hex) => ({
          algorithm: 'sha-256',
          value: fromHex(hex),
        })),
      });
      session.closed.catch(() => undefined); // reported where it matters: through `ready` and the streams
      await raceAbort(session.ready, AbortSignal.timeout(limits.connectTimeoutMs));
      return session;
    } catch (cause) {
      session?.close();
      throw new AntwayError('PEERS_UNREACHABLE', `No WebTransport session with ${url}.`, {}, { cause });
    }
  }
}

async function readAnswer(reader: ByteReader): Promise<Uint8Array<ArrayBuffer>> {
  const head = await reader.read(5);
  const length = new DataView(head.buffer).getUint32(1);
  checkAnswer(head[0]!, length);
  return reader.read(length);
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) =>
    Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16),
  );
}
